"""Versions that one side alone has: what is written as one is read as another."""

from __future__ import annotations

from pathlib import Path

from helpers import Json, brief, crd, diff, obj, root, run, string, version, write

import crdcompat
from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.compare.changes import Change
from crdcompat.compare.crossings import crosses
from crdcompat.compare.engine import Comparer
from crdcompat.crds.pairing import pair


def _crd(*versions: Json, conversion: str = "None") -> Json:
    made = crd(versions=versions)
    made["spec"]["conversion"] = {"strategy": conversion}
    return made


def _root(*modes: str, **more: Json) -> Json:
    return root(spec=obj(mode=string(*modes), **more))


def _report(tmp_path: Path, old: Json, new: Json) -> list[tuple[str, ...]]:
    sides = (write(tmp_path / "old.yaml", old), write(tmp_path / "new.yaml", new))
    report = diff(*sides)
    for finding in report["findings"]:
        if finding["path"]:
            _prove(finding, old, new)
    return [(*brief(finding)[:3], finding["version"], finding["path"]) for finding in report["findings"]]


def _prove(finding: Json, old: Json, new: Json) -> None:
    """The witness is valid as the version it is written as, and rejected as the one it is read as."""
    reader, writer = (old, new) if finding["direction"] == "rollback" else (new, old)
    witness: Json = finding["witness"]["object"]
    assert crdcompat.judge(writer, "validate", witness).accepted is True
    read = {**witness, "apiVersion": f"example.com/{finding['version']}"}
    answer = crdcompat.judge(reader, "validate", read)
    assert [error.text() for error in answer.errors] == finding["witness"]["errors"]


OLD = _crd(version(_root("A")))
WIDER = version(_root("A", "B"), "v2", storage=False)


def test_a_version_that_allows_more_is_added(tmp_path: Path) -> None:
    """v1 itself did not change; what clients write as v2 is rejected once only v1 is left."""
    assert _report(tmp_path, OLD, _crd(version(_root("A")), WIDER)) == [
        ("rollback", "warning", "enum-value-added", "v1", "spec.mode"),
        ("rollback", "warning", "version-added", "v2", ""),
    ]
    reported = run("diff", "old.yaml", "new.yaml", cwd=tmp_path).out
    assert "(written as v2, which only new.yaml has, and read as v1)" in " ".join(reported.split())


def test_a_version_that_allows_more_goes(tmp_path: Path) -> None:
    assert _report(tmp_path, _crd(version(_root("A")), WIDER), OLD) == [
        ("upgrade", "warning", "enum-value-removed", "v1", "spec.mode"),
        ("upgrade", "warning", "version-removed", "v2", ""),
    ]


def test_what_the_shared_version_says_is_not_said_again(tmp_path: Path) -> None:
    report = _report(tmp_path, OLD, _crd(version(_root("A", "B")), WIDER))
    assert report == [
        ("rollback", "warning", "enum-value-added", "v1", "spec.mode"),
        ("rollback", "warning", "version-added", "v2", ""),
    ]


def test_differences_across_versions_that_are_no_finding(tmp_path: Path) -> None:
    """Losses are the writer's own; a webhook may do anything; a stored version cannot go back at all."""
    more = version(_root("A", extra=string()), "v2", storage=False)
    lost = _report(tmp_path / "1", OLD, _crd(version(_root("A")), more))
    assert lost == [("rollback", "warning", "version-added", "v2", "")]
    hook = _report(tmp_path / "2", OLD, _crd(version(_root("A")), WIDER, conversion="Webhook"))
    assert ("rollback", "warning", "enum-value-added", "v1", "spec.mode") not in hook
    stored = _crd(version(_root("A"), storage=False), version(_root("A", "B"), "v2"))
    assert [found[:3] for found in _report(tmp_path / "3", OLD, stored)] == [
        ("rollback", "error", "version-storage-moved"),
    ]
    unserved = _crd(version(_root("A")), version(_root("A", "B"), "v2", storage=False, served=False))
    assert _report(tmp_path / "4", OLD, unserved) == []


def test_a_version_on_its_way_out_goes(tmp_path: Path) -> None:
    """An earlier release may have stored it, so status.storedVersions may name it; nobody can ask for it."""
    gone = version(_root("A"), "v0", storage=False, served=False)
    assert _report(tmp_path, _crd(version(_root("A")), gone), OLD) == [
        ("upgrade", "error", "version-removed", "v0", ""),
    ]
    (finding,) = diff(tmp_path / "old.yaml", tmp_path / "new.yaml")["findings"]
    assert (finding["effect"], finding["witness"]["errors"]) == ("crd-rejected", [])
    assert finding["message"].startswith("the API server may reject ")
    for question in ("are all stored objects migrated", "is the version out of status.storedVersions?"):
        assert question in finding["message"]


def test_sources_of_two_folders_that_both_are_the_storage_version_move_nothing(tmp_path: Path) -> None:
    """A cluster gets one of the manifests; which one does not change because another folder enters."""
    for side, folders in (("old", ("v1",)), ("new", ("v1", "v2"))):
        for name in folders:
            write(tmp_path / side / name / "widgets.yaml", _crd(version(_root("A"), name)))
    (old, new) = (tmp_path / "old", tmp_path / "new")
    assert [brief(finding)[:3] for finding in diff(old, new)["findings"]] == [("rollback", "warning", "version-added")]
    assert [brief(finding)[:3] for finding in diff(new, old)["findings"]] == [("upgrade", "warning", "version-removed")]


def test_rules_about_updates_concern_no_stored_object() -> None:
    kinds = {kind: crosses(Change(kind, (), None, None)) for kind in ("cel.transition-rule-added", "enum.value-added")}
    assert kinds == {"cel.transition-rule-added": False, "enum.value-added": True}


def test_an_example_of_one_version_is_judged_anew_for_the_next(tmp_path: Path) -> None:
    """Versions with equal schemas: a rule about apiVersion demands one more member of what is written as v2."""
    rule = {"x-kubernetes-validations": [{"rule": "self.apiVersion == 'example.com/v1' || has(self.spec.extra)"}]}

    def side(*modes: str) -> Json:
        schema = {**_root(*modes, extra=string()), **rule}
        return _crd(version(schema), version(schema, "v2", storage=False))

    assert _report(tmp_path, side("A"), side("A", "B")) == [
        ("rollback", "warning", "enum-value-added", "v1", "spec.mode"),
        ("rollback", "warning", "enum-value-added", "v2", "spec.mode"),
    ]


def test_versions_are_compared_in_their_order(tmp_path: Path) -> None:
    """The work of a comparison is limited, so another order leaves other changes undecided."""
    names = [f"v{number}" for number in range(1, 9)]
    old, new = (
        crdcompat.load(
            f"path:{write(tmp_path / f'{side}.yaml', crd(versions=[version(_root(*modes), each) for each in names]))}"
        )
        for side, modes in (("old", "A"), ("new", "AB"))
    )
    pairs = pair(old, new).pairs
    judged = Comparer(DEFAULT_SERVER, DEFAULT_SERVER).compare(pairs).judged
    found = dict.fromkeys(item.version for item in judged if not item.change.of_crd)
    assert [[*found]] == [[*each.old.versions] for each in pairs]
