"""CEL rules that are nothing but a list of values are enums in other words, and are compared as such."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, both, git, obj, root, run, string

import crdcompat
from crdcompat.schema.listed import listed_values, with_values


@pytest.mark.parametrize(
    ("text", "kind", "values"),
    [
        ("self in ['A', \"B\"]", "string", ("A", "B")),
        (" self  in [ 'A' ,] ", "string", ("A",)),
        ("self == 'A' || 'B' == self||self=='C'", "string", ("A", "B", "C")),
        ("self in [1, -2]", "integer", (1, -2)),
        ("self == 'a || b'", "string", ("a || b",)),
        ("self in ['A', 1]", "string", None),
        ("self in [1]", "string", None),
        ("self in ['A'] || self == ''", "string", ("A", "")),
        ("(self in ['A', // a\n 'B'])", "string", ("A", "B")),
        ("!(self in ['A'])", "string", None),
        ("self != 'A'", "string", None),
        ("self == 'A' && self == 'B'", "string", None),
        ("self in ['\\\\x41', '\\x41', r'\\x41']", "string", ("\\x41", "A", "\\x41")),
        ("self in []", "string", None),
        ("self in self.list", "string", None),
        ("self.a in ['A']", "string", None),
        ("oldSelf in ['A']", "string", None),
        ("self in ['A']", "", None),
        (5, "string", None),
    ],
)
def test_what_is_a_list(text: Any, kind: str, values: tuple[Any, ...] | None) -> None:
    assert listed_values({"rule": text}, kind) == values


@pytest.mark.parametrize(
    ("text", "wider"),
    [
        ("self in ['A', 'B']", "self in ['A', 'B', 'C']"),
        ("self in ['A', ]", "self in ['A', 'C']"),
        ("self == 'A'", "self == 'A' || self == 'C'"),
    ],
)
def test_more_values(text: str, wider: str) -> None:
    assert with_values(text, ("C",)) == wider
    assert with_values(text, ("it's", "a\\n")).endswith(('"it\'s", "a\\\\n"]', 'self == "a\\\\n"'))
    assert listed_values({"rule": wider}, "string") is not None


def ruled(*rules: str, **more: Any) -> Json:
    return string(**{"x-kubernetes-validations": [{"rule": rule, "message": "not this one"} for rule in rules]}, **more)


CASES: dict[str, tuple[Json, Json, set[tuple[str, ...]]]] = {
    "a value more": (
        ruled("self in ['A', 'B']"),
        ruled("self in ['A', 'B', 'C']"),
        {("rollback", "enum-value-added", "error", "C")},
    ),
    "one more, one less, in another form": (
        ruled("self == 'A' || self == 'B'"),
        ruled("self in ['A', 'C']"),
        {("rollback", "enum-value-added", "error", "C"), ("upgrade", "enum-value-removed", "error", "B")},
    ),
    "an enum said as a rule": (string(enum=["A", "B"]), ruled("self in ['B', 'A']"), set()),
    "a pattern said as a rule": (string(pattern="^(A|B)$"), ruled("self in ['B', 'A']"), set()),
    "a rule where nothing was": (string(), ruled("self in ['A']"), {("upgrade", "enum-introduced", "warning", "")}),
    "a rule is gone": (ruled("self in ['A']"), string(), {("rollback", "enum-dropped", "warning", "")}),
    "an enum as narrow beside it": (
        string(enum=["A"]),
        ruled("self in ['A']", enum=["A", "B"]),
        set(),
    ),
    "another message": (
        ruled("self in ['A']"),
        string(**{"x-kubernetes-validations": [{"rule": "self in ['A']"}]}),
        set(),
    ),
    "another reason than invalid": (
        string(**{"x-kubernetes-validations": [{"rule": "self in ['A']", "reason": "FieldValueDuplicate"}]}),
        ruled("self in ['A', 'B']"),
        {("rollback", "enum-value-added", "error", "B")},
    ),
    "a message like the schema's": (
        string(**{"x-kubernetes-validations": [{"rule": "self in ['A']", "message": "the value in body is wrong"}]}),
        ruled("self in ['A', 'B']"),
        {("rollback", "enum-value-added", "error", "B")},
    ),
    "the same beside a null that goes": (
        ruled("self in ['A', 'B']", nullable=True),
        ruled("self in ['A', 'B']"),
        {("upgrade", "nullable-removed", "info", "")},
    ),
    "beside a rule of another kind": (
        ruled("self in ['A', 'BB']", "self.size() < 2"),
        ruled("self in ['A', 'BB']"),
        {("rollback", "cel-rule-removed", "error", "")},
    ),
}


def pair(tmp_path: Path, old: Json, new: Json) -> tuple[Path, Path]:
    return both(tmp_path, *(root(status=obj(v=side)) for side in (old, new)))


@pytest.mark.parametrize("case", CASES)
def test_compared_as_enums(tmp_path: Path, case: str) -> None:
    old, new, expected = CASES[case]
    report = crdcompat.diff(*(crdcompat.load(f"path:{path}") for path in pair(tmp_path, old, new)))
    found = set()
    for finding in report.findings:
        moved = finding.added or finding.removed
        value = ",".join(map(str, moved)) if finding.rule.startswith("enum") else ""
        found.add((finding.direction, finding.rule, finding.severity, value))
        assert finding.path == "status.v"
        assert finding.witness.object is not None
        assert all(location.line for location in finding.locations)
    assert found == expected
    assert not report.undecided


def test_null_is_never_asked(tmp_path: Path) -> None:
    """A rule lets a null pass that an enum without it rejects: on a nullable field the two are not the same."""
    report = crdcompat.diff(
        *(
            crdcompat.load(f"path:{path}")
            for path in pair(tmp_path, string(enum=["A"], nullable=True), ruled("self in ['A']", nullable=True))
        )
    )
    (finding,) = report.findings
    assert (finding.direction, finding.rule) == ("rollback", "enum-dropped")
    assert finding.witness.object is not None
    assert finding.witness.object["status"] == {"v": None}


@pytest.mark.parametrize("rule", ["self in ['A', 'B']", "self == 'A' || self == 'B'"])
@pytest.mark.parametrize("newer", [ruled("self in ['A', 'B', 'C']"), string()])
def test_the_patch_widens_the_rule(tmp_path: Path, rule: str, newer: Json) -> None:
    old, new = pair(tmp_path, ruled(rule), newer)
    patch = run("diff", f"path:{old}", f"path:{new}", "--suggest-patch", cwd=tmp_path).out
    assert patch
    (tmp_path / "p.patch").write_text(patch)
    git(tmp_path, "apply", "--directory=old", "p.patch")
    findings = crdcompat.diff(*(crdcompat.load(f"path:{path}") for path in (old, new))).findings
    assert [finding for finding in findings if finding.direction == "rollback"] == []
