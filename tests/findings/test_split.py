"""A finding in two parts: each has its values, id and message, and an example object that holds one of the values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from helpers import Json, crd, obj, root, string, version
from msgspec.structs import replace
from variants import SET, tree

from crdcompat import diff, load_crds
from crdcompat.crds.reader import CrdSet
from crdcompat.findings.split import FindingSplitter
from crdcompat.models.finding import Finding
from crdcompat.schema.structural import RULES


def _spec(*values: str, **more: Json) -> Json:
    return crd(root(spec={**obj(x=string(*values), other=string("A", "B", "C")), **more}))


def _found(top: Path, old: Mapping[str, Json], new: Mapping[str, Json]) -> tuple[list[Finding], FindingSplitter]:
    """The findings of two trees of CRDs by file, and their splitter."""
    sides = [load_crds(f"path:{tree(top / name, **files)}") for name, files in (("old", old), ("new", new))]
    return list(diff(*sides).findings), FindingSplitter(*sides)


def _one(top: Path, old: Json, new: Json) -> tuple[Finding, FindingSplitter]:
    ((finding,), splitter) = _found(top, {"w": old}, {"w": new})
    return finding, splitter


def _parts(finding: Finding, splitter: FindingSplitter, *inside: str) -> tuple[Finding, Finding]:
    mine, rest = splitter.split(finding, inside)
    assert mine is not None and rest is not None
    return mine, rest


def _x(finding: Finding) -> str | None:
    """The value in the example object."""
    made = finding.witness.object
    return None if made is None else made["spec"]["x"]


def test_each_part_has_its_values_id_message_and_example(tmp_path: Path) -> None:
    finding, splitter = _one(tmp_path, _spec("A"), _spec("A", "B", "C", "D"))
    mine, rest = _parts(finding, splitter, "C", "elsewhere")
    assert [(part.added, part.removed, _x(part)) for part in (mine, rest)] == [
        (("C",), (), "C"),
        (("B", "D"), (), "B"),
    ]
    assert len({finding.id, mine.id, rest.id}) == 3
    assert ['gained "C":' in mine.message, 'gained "B", "D":' in rest.message] == [True, True]
    assert mine.witness.errors[0].startswith('spec.x: Unsupported value: "C"')
    assert rest.witness is finding.witness, "it holds one of the values"


@pytest.mark.parametrize(
    ("inside", "found"), [(("B", "C"), (True, False)), (("D",), (False, True)), ((), (False, True))]
)
def test_a_finding_whose_values_are_all_in_one_part_stays_whole(
    tmp_path: Path, inside: tuple[str, ...], found: tuple[bool, bool]
) -> None:
    finding, splitter = _one(tmp_path, _spec("A"), _spec("A", "B", "C"))
    mine, rest = splitter.split(finding, inside)
    assert (mine is finding, rest is finding) == found
    assert (mine is None, rest is None) == (found[1], found[0])


def test_values_that_are_removed(tmp_path: Path) -> None:
    finding, splitter = _one(tmp_path, _spec("A", "B", "C"), _spec("A"))
    mine, rest = _parts(finding, splitter, "C")
    assert [(part.direction, part.added, part.removed, _x(part)) for part in (mine, rest)] == [
        ("upgrade", (), ("C",), "C"),
        ("upgrade", (), ("B",), "B"),
    ]
    lines = (tmp_path / "old" / "w.yaml").read_text().splitlines()
    for part, value in ((mine, "C"), (rest, "B")):
        (line,) = (place.line for place in part.locations if place.side == "old" and place.line is not None)
        assert lines[line - 1].strip() == f"- {value}"


def test_the_error_of_another_place_proves_nothing(tmp_path: Path) -> None:
    """OLD knows the value A, but refuses it by a rule beside it."""
    rule: Json = {RULES: [{"rule": "!has(self.x) || self.x != 'A' || has(self.other)"}]}
    findings, splitter = _found(tmp_path, {"w": _spec("A", **rule)}, {"w": _spec("A", "B")})
    (finding,) = (each for each in findings if each.rule == "enum-value-added")
    mine, _ = _parts(replace(finding, added=("B", "A")), splitter, "A")
    assert mine.witness.object is None
    assert mine.witness.reason == "no object was found that holds one of these values alone"


def test_the_place_of_the_effect_is_kept(tmp_path: Path) -> None:
    finding, splitter = _one(tmp_path, _spec("A"), _spec("A", "B", "C"))
    finding = replace(finding, witness=replace(finding.witness, at=("spec", "x")))
    assert [part.witness.at for part in _parts(finding, splitter, "C")] == [("spec", "x")] * 2


def test_a_copy_elsewhere_that_holds_the_value_proves_nothing(tmp_path: Path) -> None:
    def made(*values: str) -> Json:
        return crd(root(spec=obj(a=obj(x=string(*values)), b=obj(x=string(*values)))))

    finding, splitter = _one(tmp_path, made("A"), made("A", "B", "C"))
    assert (finding.path, finding.places) == ("spec.a.x", ("spec.b.x",))
    both = {**(finding.witness.object or {}), "spec": {"a": {"x": "B"}, "b": {"x": "C"}}}
    mine, _ = _parts(replace(finding, witness=replace(finding.witness, object=both)), splitter, "C")
    assert mine.witness.object is not None
    assert mine.witness.object["spec"]["a"] == {"x": "C"}


def test_a_value_written_as_another_version_is_not_judged_again(tmp_path: Path) -> None:
    def versions(*served: tuple[str, tuple[str, ...]]) -> Json:
        made = [version(root(spec=obj(x=string(*values))), name, storage=name == "v1") for name, values in served]
        return crd(versions=made)

    old = versions(("v1", ("A",)))
    new = versions(("v1", ("A",)), ("v2", ("A", "B", "C")))
    findings, splitter = _found(tmp_path, {"w": old}, {"w": new})
    (finding,) = (each for each in findings if each.rule == "enum-value-added")
    assert (finding.versions, finding.version) == ("v2 v1", "v1")
    mine, rest = _parts(finding, splitter, "C")
    reason = "written as another version: not judged again for a part of the values"
    assert [part.witness.reason for part in (mine, rest)] == [reason, reason]


def test_a_finding_without_an_example_stays_without(tmp_path: Path) -> None:
    finding, splitter = _one(tmp_path, _spec("A"), _spec("A", "B", "C"))
    unproved = replace(finding, witness=replace(finding.witness, object=None, reason="none"))
    assert [part.witness for part in _parts(unproved, splitter, "C")] == [unproved.witness] * 2


# -- contexts ---------------------------------------------


def _variants(top: Path, **needs: int) -> tuple[list[Finding], FindingSplitter]:
    """Three values in the contexts ``needs``; in each, C needs a number in ``other``, which is at most the limit."""

    def side(*values: str) -> dict[str, Json]:
        return {name: _variant(name, least, values) for name, least in needs.items()}

    return _found(top, side("A"), side("A", "B", "C"))


def _variant(name: str, least: int, values: tuple[str, ...]) -> Json:
    rule = f"!has(self.x) || self.x.lowerAscii() != 'c' || {least} == 0"  # nothing proves that for all values
    spec = {**obj(x=string(*values)), RULES: [{"rule": rule}]}
    return crd(root(spec=spec), annotations={SET: name})


def test_a_part_is_judged_in_the_contexts_of_the_finding(tmp_path: Path) -> None:
    """C is possible in DevPreview alone: it has an example there, and none where Default has the finding, too."""
    findings, splitter = _variants(tmp_path, Default=1, DevPreviewNoUpgrade=0)
    (finding,) = findings
    there = replace(finding, contexts=("DevPreviewNoUpgrade/default",))
    assert [_x(_parts(each, splitter, "C")[0]) for each in (there, finding)] == ["C", None]


def test_a_part_in_a_forced_pair_of_contexts(tmp_path: Path) -> None:
    sides: list[CrdSet] = [
        load_crds(f"path:{tree(tmp_path / name, **{context: _variant(context, 0, values)})}")
        for name, context, values in (("old", "Default", ("A",)), ("new", "DevPreviewNoUpgrade", ("A", "B", "C")))
    ]
    (finding,) = diff(*sides, contexts=["Default/default=DevPreviewNoUpgrade/default"]).findings
    assert _x(_parts(finding, FindingSplitter(*sides), "C")[0]) == "C"


@pytest.mark.parametrize("lacking", [{"old", "new"}, {"old"}, {"new"}], ids=sorted)
def test_a_part_of_a_finding_without_its_crd_has_no_example(tmp_path: Path, lacking: set[str]) -> None:
    finding, _ = _one(tmp_path, _spec("A"), _spec("A", "B", "C"))
    other = load_crds(f"path:{tree(tmp_path / 'other', w=crd(root(), kind='Other'))}")
    sides = [other if side in lacking else load_crds(f"path:{tmp_path / side}") for side in ("old", "new")]
    mine, rest = _parts(finding, FindingSplitter(*sides), "C")
    assert [(part.added, part.witness.object, part.witness.reason) for part in (mine, rest)] == [
        (values, None, "its CRD could not be judged again") for values in (("C",), ("B",))
    ]
