"""diff --objects: what recorded objects prove, and that they prove nothing that is not so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, array, both, crd, diff, only, recorded_count, root, string, version, write
from helpers import obj as schema
from msgspec.structs import replace

import crdcompat
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem, Skipped
from crdcompat.findings.recorded_evidence import with_evidence
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Evidence, Finding
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.schema.structural import RULES
from crdcompat.vocabulary import Severity

# -- small cases -----------------------------------------------------------------------------------------------


def _widget(name: str, **parts: Any) -> Json:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"},
        **parts,
    }


@pytest.fixture
def sides(tmp_path: Path) -> tuple[CrdSet, CrdSet]:
    """NEW has another color, another mode in a list, a field of its own and a default of its own."""
    old = root(
        spec=schema(color=string("red"), plain=string()),
        status=schema(modes=array(string("a")), mode=string("a", "b")),
    )
    new = root(
        spec=schema(color=string("red", "blue", "green"), plain=string(), extra=string(), kept=string(default="x")),
        status=schema(modes=array(string("a", "b")), mode=string("a")),
    )
    paths = both(tmp_path, old, new)
    return crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")


def _with(sides: tuple[CrdSet, CrdSet], *objects: Any) -> DiffReport:
    items = [item if isinstance(item, Problem | Skipped) else Recorded(item, "dump.json") for item in objects]
    return with_evidence(crdcompat.diff(*sides), *sides, [items])


def _found(report: DiffReport, path: str, direction: str = "rollback") -> Finding:
    (found,) = (item for item in report.findings if item.path == path and item.direction == direction)
    return found


def test_objects_raise_what_they_meet(sides: tuple[CrdSet, CrdSet]) -> None:
    before = crdcompat.diff(*sides)
    assert _found(before, "spec.color").severity == "warning"
    assert _found(before, "spec.extra").severity == "info"
    report = _with(sides, _widget("a", spec={"color": "blue", "extra": "e"}))
    assert _found(report, "spec.color").severity == "error"
    assert _found(report, "spec.extra").severity == "warning"
    assert _found(report, "spec.color").evidence == Evidence(1, ("Widget/default/a in dump.json",), ("default",))
    # An error stays one; what nothing meets stays as it was.
    assert _found(report, "status.modes[*]").severity == _found(before, "status.modes[*]").severity == "error"
    assert recorded_count(_found(report, "status.modes[*]")) == 0
    assert not report.unexplained


def test_an_object_of_another_release_proves_nothing(sides: tuple[CrdSet, CrdSet]) -> None:
    """NEW would have dropped the unknown field, so NEW has not written this object."""
    report = _with(sides, _widget("a", spec={"color": "blue", "strange": "s"}))
    assert report.findings == crdcompat.diff(*sides).findings
    assert report.unexplained == ()


def test_objects_are_counted_once_and_examples_are_few(sides: tuple[CrdSet, CrdSet]) -> None:
    objects = [_widget(f"w{number}", spec={"color": "blue"}) for number in range(5)]
    report = _with(sides, *objects, *objects)
    evidence = _found(report, "spec.color").evidence
    assert evidence.recorded_objects == 5
    assert evidence.examples == tuple(f"Widget/default/w{number} in dump.json" for number in range(3))


def test_two_bad_values_in_one_object_are_one_object(sides: tuple[CrdSet, CrdSet]) -> None:
    report = _with(sides, _widget("a", status={"modes": ["b", "a", "b"]}))
    assert recorded_count(_found(report, "status.modes[*]")) == 1


def test_clean_objects_prove_nothing(sides: tuple[CrdSet, CrdSet]) -> None:
    report = _with(sides, _widget("a", spec={"color": "red", "plain": "p"}, status={"modes": ["a"]}))
    # The default of NEW is written into it, and lost again: that is all.
    assert {item.path for item in report.findings if recorded_count(item)} == {"spec.kept"}
    assert report.findings and not report.unexplained


def test_each_direction_has_its_own_objects(sides: tuple[CrdSet, CrdSet]) -> None:
    """Objects that the writing release itself rejects are no evidence about the other one."""
    report = _with(sides, _widget("old", status={"mode": "b"}), _widget("new", spec={"color": "green"}))
    assert recorded_count(_found(report, "status.mode", "upgrade")) == 1
    assert recorded_count(_found(report, "spec.color", "rollback")) == 1
    assert not report.unexplained
    broken = _with(sides, _widget("both", spec={"color": "purple"}))
    assert not any(recorded_count(item) for item in broken.findings if item.effect == "write-rejected")
    assert not broken.unexplained


def _counted(report: DiffReport) -> dict[tuple[str, str], int]:
    """The recorded objects of each finding of the rollback, by rule and path."""
    return {(item.rule, item.path): recorded_count(item) for item in report.findings if item.direction == "rollback"}


_FREE = {"x-kubernetes-preserve-unknown-fields": True}
_ASKING = {"rule": "has(self.a)", "reason": "FieldValueRequired"}


@pytest.mark.parametrize(
    ("old", "new", "spec", "found"),
    [
        pytest.param(
            schema(tags=array(string(), **{"x-kubernetes-list-type": "set"})),
            schema(tags=array(string())),
            {"tags": ["a", "a"]},
            ("list-type-loosened", "spec.tags"),
            id="an item that is twice in a list is an error of the list",
        ),
        pytest.param(
            {**schema(must=string()), "required": ["must"]},
            schema(must=string()),
            {},
            ("required-removed", "spec.must"),
            id="a member that is missing has the path of the member",
        ),
        pytest.param(
            {"type": "object", "additionalProperties": string(), "required": ["must"]},
            {"type": "object", "additionalProperties": string()},
            {},
            ("required-removed", "spec.must"),
            id="a key of a map that is missing",
        ),
        pytest.param(
            schema(items=array({**schema(a=string()), RULES: [_ASKING]})),
            schema(items=array(schema(a=string()))),
            {"items": [{}]},
            ("cel-rule-removed", "spec.items[*]"),
            id="a rule that asks for a member has the path of the rule",
        ),
    ],
)
def test_the_place_of_an_error(tmp_path: Path, old: Json, new: Json, spec: Json, found: tuple[str, str]) -> None:
    paths = both(tmp_path, root(spec=old), root(spec=new))
    report = _with((crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")), _widget("a", spec=spec))
    met = [(item.rule, item.path, recorded_count(item)) for item in report.findings if item.direction == "rollback"]
    assert met == [(*found, 1)]
    assert report.unexplained == ()


@pytest.mark.parametrize(
    ("old", "new", "spec", "path"),
    [
        pytest.param(schema(a=string()), {**schema(a=string()), **_FREE}, {"any": 1}, "spec", id="a member"),
        pytest.param(
            schema(items=array(schema(a=string()))),
            schema(items=array(schema(a=string()), **_FREE)),
            {"items": [{"any": 1}]},
            "spec.items",
            id="a member of an item",
        ),
    ],
)
def test_a_loss_below_the_place_of_a_finding(tmp_path: Path, old: Json, new: Json, spec: Json, path: str) -> None:
    paths = both(tmp_path, root(spec=old), root(spec=new))
    report = _with((crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")), _widget("a", spec=spec))
    assert _counted(report) == {("preserve-unknown-added", path): 1}


def test_a_loss_below_the_root(tmp_path: Path) -> None:
    paths = both(tmp_path, root(), {**root(), **_FREE})
    report = _with((crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")), _widget("a", top={"x": 1}))
    assert _counted(report) == {("preserve-unknown-added", ""): 1}


def test_that_rules_were_skipped_is_no_rejection_of_its_own(tmp_path: Path) -> None:
    """The server adds an error without a cause, because it evaluates no rules of an object that lacks a member."""
    rules: Json = {RULES: [{"rule": "!has(self.a) || self.a != 'x'"}]}
    new = {**schema(must=string(), a=string()), **rules}
    paths = both(tmp_path, root(spec={**new, "required": ["must"]}), root(spec=new))
    report = _with((crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")), _widget("a", spec={}))
    assert _counted(report) == {("required-removed", "spec.must"): 1}
    assert report.unexplained == ()


def test_an_error_is_evidence_only_for_findings_about_its_keyword(tmp_path: Path) -> None:
    """The rule that OLD has accepts the value; the pattern beside it does not."""
    old = string(pattern="^[a-z]+$", **{RULES: [{"rule": "self != 'bad'"}]})
    paths = both(tmp_path, root(spec=schema(v=old)), root(spec=schema(v=string())))
    sides = crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")
    counted = _counted(_with(sides, _widget("a", spec={"v": "BIG"})))
    assert counted == {("cel-rule-removed", "spec.v"): 0, ("pattern-widened", "spec.v"): 1}
    counted = _counted(_with(sides, _widget("a", spec={"v": "bad"})))
    assert counted == {("cel-rule-removed", "spec.v"): 1, ("pattern-widened", "spec.v"): 0}


_AT_MEMBER = {"rule": "self.a != 'x'", "fieldPath": ".a"}
_RULE = {"rule": "self.a != 'x'"}
_TRANSITION = {"rule": "self.a == oldSelf.a"}
_A = {**schema(a=string()), "required": ["a"]}


@pytest.mark.parametrize(
    ("rules", "inner", "found"),
    [
        pytest.param([_AT_MEMBER], [], {("cel-rule-removed", "spec.v"): 1}, id="its error is at a member"),
        pytest.param(
            [_RULE, _TRANSITION],
            [],
            {("cel-rule-removed", "spec.v"): 1, ("cel-transition-rule-removed", "spec.v"): 0},
            id="another rule of the node",
        ),
        pytest.param(
            [_RULE],
            [_RULE],
            {("cel-rule-removed", "spec.v"): 1, ("cel-rule-removed", "spec.v.inner"): 0},
            id="the same rule of a member",
        ),
        pytest.param(
            [],
            [_RULE],
            {("cel-rule-removed", "spec.v.inner"): 0},
            id="no rule of this node",
        ),
    ],
)
def test_the_rule_that_an_object_breaks(
    tmp_path: Path, rules: list[Json], inner: list[Json], found: dict[tuple[str, str], int]
) -> None:
    def made(*of: list[Json]) -> Json:
        outer, below = ({RULES: each} if each else {} for each in of)
        node = {**_A, "properties": {**_A["properties"], "inner": {**_A, **below}}}
        return root(spec=schema(v={**node, **outer}))

    paths = both(tmp_path, made(rules, inner), made([], []))
    sides = crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")
    report = _with(sides, _widget("a", spec={"v": {"a": "x", "inner": {"a": "y"}}}))
    assert _counted(report) == found
    report = _with(sides, _widget("a", spec={"v": {"a": "y", "inner": {"a": "x"}}}))
    assert {path for (_, path), count in _counted(report).items() if count} == ({"spec.v.inner"} if inner else set())


def test_a_finding_about_a_map_explains_the_errors_of_its_values(tmp_path: Path) -> None:
    paths = both(
        tmp_path,
        root(spec=schema(m={"type": "object", "additionalProperties": string("a")})),
        root(spec=schema(m={"type": "object", **_FREE})),
    )
    sides = crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")
    report = _with(sides, _widget("a", spec={"m": {"k": "b"}}))
    assert {at: count for at, count in _counted(report).items() if count} == {
        ("map-dropped", "spec.m"): 1,
        ("preserve-unknown-added", "spec.m"): 1,
    }
    assert report.unexplained == ()


def test_a_stored_object_is_no_evidence_for_a_rule_about_updates(tmp_path: Path) -> None:
    """With optionalOldSelf the rule refuses a first value. The stored one was there before the upgrade."""
    node = schema(revision=string())
    rule = {"rule": "oldSelf.hasValue() || !has(self.revision)", "optionalOldSelf": True}
    paths = both(tmp_path, root(spec=schema(v=node)), root(spec=schema(v={**node, RULES: [rule]})))
    sides = crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")
    report = _with(sides, _widget("a", spec={"v": {"revision": "1"}}))
    (finding,) = (item for item in report.findings if item.direction == "upgrade")
    assert (finding.rule, finding.severity, recorded_count(finding)) == ("cel-transition-rule-added", "warning", 0)
    assert report.unexplained == ()


def test_a_loss_is_no_evidence_of_a_rejection(tmp_path: Path) -> None:
    """The object loses a field below the rule that OLD has, and satisfies the rule."""
    rules: Json = {RULES: [{"rule": "!has(self.a) || self.a == 'x'"}]}
    paths = both(tmp_path, root(spec={**schema(a=string()), **rules}), root(spec=schema(a=string(), extra=string())))
    sides = crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")
    report = _with(sides, _widget("a", spec={"a": "x", "extra": "e"}))
    assert recorded_count(_found(report, "spec.extra")) == 1
    assert recorded_count(_found(report, "spec")) == 0


def test_a_default_is_evidence_though_the_object_is_refused(tmp_path: Path) -> None:
    def made(*modes: str, **more: Json) -> Json:
        return root(spec=schema(items=array(schema(a=string(), **more))), status=schema(mode=string(*modes)))

    paths = both(tmp_path, made("a", "b", kept=string()), made("a", kept=string(default="x")))
    sides = crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")
    report = _with(sides, _widget("a", spec={"items": [{"a": "y"}]}, status={"mode": "b"}))
    met = {(item.rule, item.path): recorded_count(item) for item in report.findings if item.direction == "upgrade"}
    assert met == {("default-added", "spec.items[*].kept"): 1, ("enum-value-removed", "status.mode"): 1}


@pytest.mark.parametrize(
    ("old_has", "new_has", "expected"),
    [
        (False, True, {"rollback": 1, "upgrade": 0}),
        (True, False, {"rollback": 0, "upgrade": 1}),
        (True, True, {}),
    ],
)
def test_an_object_that_loses_its_status_endpoint(
    tmp_path: Path, old_has: bool, new_has: bool, expected: dict[str, int]
) -> None:
    """Writes of /status fail where the writer has the endpoint and the reader has not."""
    plain = root(spec=schema(a=string()), status=schema(mode=string()))
    endpoints = ({} if has else {"subresources": {}} for has in (old_has, new_has))
    old, new = (crd(versions=[version(plain, **more)]) for more in endpoints)
    paths = both(tmp_path, old, new)
    sides = crdcompat.load(f"path:{paths[0]}"), crdcompat.load(f"path:{paths[1]}")
    report = _with(sides, _widget("a", spec={"a": "x"}, status={"mode": "y"}))
    assert {str(each.direction): recorded_count(each) for each in report.findings} == expected
    assert report.unexplained == ()


def test_an_object_in_two_recordings_counts_once(sides: tuple[CrdSet, CrdSet]) -> None:
    widget = _widget("a", spec={"color": "blue"})
    report = with_evidence(crdcompat.diff(*sides), *sides, [[Recorded(widget, "a.json")], [Recorded(widget, "b.json")]])
    assert _found(report, "spec.color").evidence == Evidence(1, ("Widget/default/a in a.json",), ("default",))


def test_evidence_lowers_no_severity(sides: tuple[CrdSet, CrdSet]) -> None:
    """The configuration can make an error of a loss."""
    report = crdcompat.diff(*sides)
    severe = replace(report, findings=tuple(replace(each, severity=Severity.ERROR) for each in report.findings))
    met = with_evidence(severe, *sides, [[Recorded(_widget("a", spec={"extra": "e"}), "dump.json")]])
    assert _found(met, "spec.extra").severity == "error"


def test_what_is_not_comparable_is_no_evidence(sides: tuple[CrdSet, CrdSet]) -> None:
    nameless = _widget("a", spec={"color": "blue"})
    del nameless["metadata"]["name"]
    other = {**_widget("b", spec={"color": "blue"}), "kind": "Gadget"}
    report = _with(sides, nameless, other, 5, [], None, {"apiVersion": "example.com/v9", "kind": "Widget"})
    assert not any(recorded_count(item) for item in report.findings)
    assert not report.unexplained


def test_unreadable_recordings_are_reported(sides: tuple[CrdSet, CrdSet]) -> None:
    problem, skipped = Problem("x.json", 1, "not JSON", "objects"), Skipped("y.json", "empty", "objects")
    report = _with(sides, problem, skipped, _widget("a", spec={"color": "blue"}))
    assert problem in report.problems
    assert skipped in report.skipped
    assert recorded_count(_found(report, "spec.color")) == 1


def test_on_the_command_line(tmp_path: Path) -> None:
    paths = both(tmp_path, root(spec=schema(color=string("red"))), root(spec=schema(color=string("red", "blue"))))
    dump = write(
        tmp_path / "dump.json", {"kind": "List", "apiVersion": "v1", "items": [_widget("a", spec={"color": "blue"})]}
    )
    report = diff(*paths, "--objects", dump)
    finding = only(report, path="spec.color", direction="rollback")
    assert finding["severity"] == "error"
    assert finding["evidence"]["recorded_objects"] == 1
    assert report["unexplained"] == []


def test_objects_of_an_insights_archive_have_the_type_of_their_path(tmp_path: Path) -> None:
    """Half of the files of the insights operator have neither apiVersion nor kind."""
    sides = [
        crd(root(spec=schema(profile=string(*modes))), kind="APIServer", group="config.openshift.io", scope="Cluster")
        for modes in (("Old",), ("Old", "New"))
    ]
    recorded = {"metadata": {"name": "cluster", "uid": "1"}, "spec": {"profile": "New"}}
    archive = write(tmp_path / "archive/config/apiserver.json", recorded).parent.parent
    finding = only(diff(*both(tmp_path, *sides), "--objects", archive), direction="rollback")
    assert (finding["severity"], finding["evidence"]["recorded_objects"]) == ("error", 1)
    assert finding["evidence"]["examples"] == ["APIServer/cluster in config/apiserver.json"]


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(("--crd", "widgets.example.com"), id="another CRD"),
        pytest.param(("--owner", "status"), id="another owner"),
        pytest.param(("--ignore", "enum-value-added"), id="another rule"),
        pytest.param(("--direction", "upgrade"), id="another direction"),
    ],
)
def test_a_rejection_that_was_not_asked_for_is_not_unexplained(tmp_path: Path, options: tuple[str, ...]) -> None:
    for side, modes in (("old", "A"), ("new", "AB")):
        for kind in ("Widget", "Gadget"):
            write(tmp_path / side / f"{kind}.yaml", crd(root(spec=schema(mode=string(*modes))), kind=kind))
    gadget = {**_widget("a", spec={"mode": "B"}), "kind": "Gadget"}
    report = diff(tmp_path / "old", tmp_path / "new", "--objects", write(tmp_path / "o.json", gadget), *options)
    assert [
        finding["evidence"]["recorded_objects"] for finding in report["findings"] if finding["kind"] == "Gadget"
    ] == []
    assert report["unexplained"] == []
