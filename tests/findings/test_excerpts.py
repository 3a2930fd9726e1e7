"""The lines of both sides around a change: which are shown, which are marked, and how much at most."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Json, crd, obj, root, string, write

import crdcompat
from crdcompat.findings import excerpts
from crdcompat.findings.excerpts import with_excerpts
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Excerpt
from crdcompat.vocabulary import Severity


def compared(
    top: Path, old: str | Json, new: str | Json, *, least: Severity = Severity.INFO, name: str = "w.yaml"
) -> DiffReport:
    """The diff of two files, with excerpts."""
    sets = []
    for side, data in (("old", old), ("new", new)):
        write(top / side / name, data)
        sets.append(crdcompat.load(f"path:{top / side}"))
    return with_excerpts(crdcompat.diff(*sets), *sets, least)


def shown(excerpt: Excerpt) -> list[str]:
    """Each line, ``>`` before the place and ``*`` before what is marked."""
    return [
        f"{'>' if number == excerpt.line else ' '}{'*' if number in excerpt.changed else ' '}{line.strip()}"
        for number, line in enumerate(excerpt.lines, excerpt.first)
    ]


def marked(report: DiffReport, path: str) -> list[list[str]]:
    """What is marked of the finding at a path, on each side."""
    finding = next(each for each in report.findings if each.path == path)
    return [[line[2:] for line in shown(each) if line[1] == "*"] for each in finding.excerpts]


HEAD = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status:
            type: object
            properties:
"""


def status(*lines: str) -> str:
    return HEAD + "".join(f"              {line}\n" for line in lines)


ENUM = ("phase:", "  type: string", "  enum:", "  - A", "  - B")


def test_added_values_are_marked_and_both_sides_shown(tmp_path: Path) -> None:
    report = compared(tmp_path, status(*ENUM), status("zero:", "  type: string", *ENUM, "  - C", "  - D"))
    old, new = next(each for each in report.findings if each.path == "status.phase").excerpts
    assert (old.side, old.file, old.line, new.line) == ("old", "w.yaml", 22, 27)
    assert [line.strip() for line in old.lines] == [
        "type: object", "properties:", "phase:", "type: string", "enum:", "- A", "- B",
    ]  # fmt: skip
    assert shown(new) == ["  type: string", "  enum:", "  - A", "  - B", ">*- C", " *- D"]


def test_indentation_is_no_change(tmp_path: Path) -> None:
    indented = ("phase:", "    type: string", "    enum:", "      - A", "      - B", "      - C")
    report = compared(tmp_path, status(*ENUM), status(*indented))
    assert marked(report, "status.phase") == [[], ["- C"]]


def test_lines_beside_the_place_are_marked_if_only_one_side_has_them(tmp_path: Path) -> None:
    sides = [status(*ENUM[:2], f"  description: {text}", *ENUM[2:]) for text in ("one", "two")]
    report = compared(tmp_path, sides[0], sides[1] + "                - C\n")
    assert marked(report, "status.phase") == [["description: one"], ["description: two", "- C"]]


def test_the_first_line_of_a_file_is_beside_a_place_below_it(tmp_path: Path) -> None:
    """Two of the three lines around the place differ: the sides have little in common."""
    sides = [
        f"# {text}\n{json.dumps(crd(root(status=obj(p=string(*values)))))}\n# end"
        for text, values in (("one", "A"), ("two", "AB"))
    ]
    assert [len(lines) for lines in marked(compared(tmp_path, *sides), "status.p")] == [1, 1]


def test_values_that_are_no_text_have_excerpts(tmp_path: Path) -> None:
    known = obj(a={"type": "integer"})
    sides = (crd(root(status=obj(p={**known, "enum": members}))) for members in ([{}], [{}, {"a": 1}]))
    report = compared(tmp_path, *sides)
    assert marked(report, "status.p") == [[], ["- a: 1"]]


def test_where_the_sides_have_little_in_common_only_what_the_finding_is_about_is_marked(tmp_path: Path) -> None:
    others = [f"{letter}: {{type: string, description: other {letter}}}" for letter in "abcdefghijklmnop"]
    new = ("properties:", "new:", "  type: object", "  properties:", "    x:", "      type: string")
    report = compared(
        tmp_path, status(*ENUM), status(*others, *new[1:], "phase:", "  enum:", "  - C", "  - B", "  - A")
    )
    assert marked(report, "status.new") == [[], [line.strip() for line in new[1:]]]
    assert marked(report, "status.phase") == [[], ["- C"]]


def test_json_on_one_long_line_is_cut_around_the_place(tmp_path: Path) -> None:
    more = string(description="x" * 5_000)
    sides = [json.dumps(crd(root(status=obj(p=string(*values), q=more)))) for values in ("A", "AB")]
    report = compared(tmp_path, *sides, name="w.json")
    (finding,) = (each for each in report.findings if each.direction == "rollback")
    old, new = finding.excerpts
    assert '"B"' in new.lines[0]
    assert all(len(each.lines) == 1 and len(each.lines[0]) <= 122 for each in (old, new))


def test_a_long_line_is_cut_at_its_end_if_the_place_is_at_its_start(tmp_path: Path) -> None:
    line = f"phase: {{type: string, enum: [A], description: {'x' * 200}}}"
    report = compared(tmp_path, status(line), status(line.replace("[A]", "[A, B]")))
    old, _ = next(each for each in report.findings if each.path == "status.phase").excerpts
    assert old.lines[-1] == (" " * 14 + line)[:120] + "…"


def test_what_ends_a_line_for_yaml_counts(tmp_path: Path) -> None:
    odd = status('odd: {type: string, description: "a\u2028 b\x0c"}'.replace("\x0c", "\\f"), *ENUM)
    report = compared(tmp_path, odd, odd + "                - C\n")
    finding = next(each for each in report.findings if each.direction == "rollback")
    assert finding.excerpts[1].lines[finding.excerpts[1].line - finding.excerpts[1].first].strip() == "- C"


def test_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [f"  - V{number}" for number in range(200)]
    report = compared(tmp_path, status(*ENUM), status(*ENUM, *many))
    assert all(len(each.lines) <= 25 for finding in report.findings for each in finding.excerpts)
    monkeypatch.setattr(excerpts, "_MAX_CHARACTERS", 10)
    old, new = status(*ENUM), status(*ENUM, "  - C", "other:", "  type: string")
    report = compared(tmp_path / "2", old, new)
    assert [bool(finding.excerpts) for finding in report.findings] == [True, False]


def test_brief(tmp_path: Path) -> None:
    old, new = status(*ENUM), status(*ENUM, "  - C", "other:", "  type: string")
    report = compared(tmp_path, old, new, least=Severity.WARNING)
    assert {finding.severity: len(finding.excerpts) for finding in report.findings} == {"error": 2, "info": 0}


def test_a_file_that_went_away_costs_no_finding(tmp_path: Path) -> None:
    for side, values in (("old", "A"), ("new", "AB")):
        write(tmp_path / side / "w.yaml", crd(root(status=obj(p=string(*values)))))
    sets = [crdcompat.load(f"path:{tmp_path / side}") for side in ("old", "new")]
    report = crdcompat.diff(*sets)
    (tmp_path / "new" / "w.yaml").unlink()
    reported = with_excerpts(report, *sets, Severity.INFO)
    assert [[each.side for each in finding.excerpts] for finding in reported.findings] == [["old"]]
    assert len(reported.findings) == len(report.findings) == 1


#: Two versions as controller-gen writes them: the name stands behind the columns.
_VERSIONS = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
"""


def _version(name: str, column: str, *, storage: bool) -> str:
    return f"""\
  - additionalPrinterColumns:
    - description: {column}
      jsonPath: .spec.{column}
      name: {column}
      type: string
    name: {name}
    schema:
      openAPIV3Schema:
        description: {column}
        type: object
    served: true
    storage: {str(storage).lower()}
"""


@pytest.mark.parametrize("stored", [False, True])
def test_a_version_of_one_side_is_marked_and_no_other_version(tmp_path: Path, *, stored: bool) -> None:
    one = _VERSIONS + _version("v1", "age", storage=True)
    both = _VERSIONS + _version("v0", "state", storage=stored) + _version("v1", "age", storage=not stored)
    gone = next(each for each in compared(tmp_path / "gone", both, one).findings if each.version == "v0")
    assert [
        (place.line, [line[2:] for line in shown(each) if line[1] == "*"])
        for place, each in zip(gone.locations, gone.excerpts, strict=True)
    ] == [(14, ["name: v0"]), (8, [])]
    came = next(each for each in compared(tmp_path / "came", one, both).findings if each.version == "v0")
    wanted = (20, ["storage: true"]) if stored else (14, ["name: v0"])
    assert [
        (place.line, [line[2:] for line in shown(each) if line[1] == "*"])
        for place, each in zip(came.locations, came.excerpts, strict=True)
    ] == [(8, []), wanted]
