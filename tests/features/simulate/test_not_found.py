"""Versions and endpoints that the older CRD lacks: every verdict names them as its reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import WRITES, Json, crd, obj, root, run, simulate, string, verdicts, version, widget, write

_SCHEMA = root(spec=obj(), status=obj(phase=string()))
_PLAIN = {key: value for key, value in version(_SCHEMA).items() if key != "subresources"}


class _Case:
    """OLD, NEW, an object, the cause of the rejection, the sentence on it, and the CRD's line that lacks something."""

    def __init__(self, old: Json, new: Json, item: Json, cause: Json, sentence: str, fix: str) -> None:
        self.old, self.new, self.item, self.cause, self.sentence, self.fix = old, new, item, cause, sentence, fix

    def sides(self, tmp_path: Path) -> list[str]:
        write(tmp_path / "r-1.1" / "w.json", self.old)
        write(tmp_path / "r-1.2" / "w.json", self.new)
        write(tmp_path / "fleet" / "o.json", self.item)
        return ["./r-1.1", "./r-1.2"]


_VERSION = _Case(
    crd(_SCHEMA),
    crd(versions=[version(_SCHEMA), version(_SCHEMA, "v2", storage=False)]),
    {**widget({"spec": {}}), "apiVersion": "example.com/v2"},
    {"path": "", "type": "NotFound", "values": ["v2"], "objects": 1, "total": 1, "endpoint": "main"},
    "the CRD lacks version v2, every request for it is answered 404",
    "declare the version",
)
_UNSERVED = _Case(
    crd(versions=[version(_SCHEMA), version(_SCHEMA, "v2", storage=False, served=False)]),
    _VERSION.new,
    _VERSION.item,
    _VERSION.cause,
    _VERSION.sentence,
    _VERSION.fix,
)
_STATUS = _Case(
    crd(versions=[_PLAIN]),
    crd(_SCHEMA),
    widget({"status": {"phase": "A"}}),
    {"path": "status", "type": "NotFound", "values": [], "objects": 1, "total": 1, "endpoint": "main"},
    "the CRD has no /status endpoint, a write to it is answered 404",
    "declare the status subresource",
)
_CASES = pytest.mark.parametrize("case", [_VERSION, _UNSERVED, _STATUS], ids=["version", "unserved", "status"])


@_CASES
def test_simulate_names_what_the_crd_lacks(tmp_path: Path, case: _Case) -> None:
    sides = case.sides(tmp_path)
    report = simulate(*sides, "--objects", "fleet/o.json", code=1, cwd=tmp_path)
    (cause,) = report["summary"]["causes"]
    assert {key: cause[key] for key in case.cause} == case.cause
    assert cause["location"]["file"] == "w.json"
    assert report["not_simulated"] == []
    short, whole = (
        run("simulate", *sides, "--objects", "fleet/o.json", *more, cwd=tmp_path).out for more in ((), ("-v",))
    )
    assert f": 1 of 1 object (default/a)\n  {case.sentence}.\n  --> ./r-1.1: w.json:" in short
    assert f"  1 of 1 Widget: {case.sentence}\n    {case.fix} at w.json:" in whole
    for form in ("markdown", "github", "html", "junit", "sarif"):
        assert case.sentence in run("simulate", *sides, "--objects", "fleet/o.json", "--format", form, cwd=tmp_path).out


def test_no_write_reaches_a_version_that_the_crd_lacks(tmp_path: Path) -> None:
    (item,) = simulate(*_VERSION.sides(tmp_path), "--objects", "fleet/o.json", cwd=tmp_path)["objects"]
    assert item["version"] == "v2"
    assert verdicts(item) == dict.fromkeys(WRITES, "rejected")
    assert {write["message"] for write in item["writes"].values()} == {"404 page not found"}


@_CASES
def test_a_matrix_names_what_the_crd_lacks(tmp_path: Path, case: _Case) -> None:
    sides = case.sides(tmp_path)
    ran = run("matrix", *sides, "--objects", "fleet/o.json", "--format", "json", cwd=tmp_path)
    (target,) = ran.report["cluster"]["targets"]
    assert (target["verdict"], ran.code) == ("blocked", 1)
    for form in ("text", "markdown", "html"):
        out = run("matrix", *sides, "--objects", "fleet/o.json", "--format", form, cwd=tmp_path).out
        assert f"Widget/default/a: {case.sentence}" in out, form


@_CASES
def test_a_fleet_names_what_the_crd_lacks(tmp_path: Path, case: _Case) -> None:
    args = ("simulate", *case.sides(tmp_path), "--fleet", "fleet", "--jobs", "1")
    ran = run(*args, "--format", "json", cwd=tmp_path)
    (cluster,) = ran.report["clusters"]
    assert ([each["verdict"] for each in cluster["targets"]], ran.code) == (["blocked"], 1)
    (finding,) = ran.report["findings"]
    assert (finding["type"], finding["path"]) == ("NotFound", case.cause["path"])
    out = " ".join(run(*args, cwd=tmp_path).out.split())
    assert f"1 of 1 cluster: widgets.example.com: {case.sentence}" in out
    assert f"{case.fix} in the CRD there" in out


@_CASES
def test_objects_that_use_what_is_lacking_are_an_error_of_diff(tmp_path: Path, case: _Case) -> None:
    ran = run("diff", *case.sides(tmp_path), "--objects", "fleet/o.json", "--format", "json", cwd=tmp_path)
    met = [
        (each["direction"], each["severity"]) for each in ran.report["findings"] if each["evidence"]["recorded_objects"]
    ]
    assert (met, ran.code) == ([("rollback", "error")], 1)


def test_a_version_that_neither_release_has_is_not_judged(tmp_path: Path) -> None:
    sides = _STATUS.sides(tmp_path)
    write(tmp_path / "o.json", {**_STATUS.item, "apiVersion": "example.com/v9"})
    report = simulate(*sides, "--objects", "o.json", code=2, cwd=tmp_path)
    assert [item["object"] for item in report["not_simulated"]] == ["Widget/default/a"]


@pytest.mark.parametrize(
    "document",
    [[_STATUS.item], {"type": "ADDED", "object": _STATUS.item}, {"metadata": {"name": "a"}}],
    ids=["a list at the top", "a watch event", "no kind"],
)
def test_a_fleet_of_which_nothing_was_judged_is_exit_2(tmp_path: Path, document: object) -> None:
    sides = _STATUS.sides(tmp_path)
    write(tmp_path / "fleet" / "o.json", document)
    ran = run("simulate", *sides, "--fleet", "fleet", "--jobs", "1", cwd=tmp_path)
    assert ran.code == 2, ran.out


def test_a_kustomization_beside_the_samples_is_no_object(tmp_path: Path) -> None:
    """kubebuilder writes one into config/samples, without apiVersion and kind. Flux has objects of the kind."""
    sides = _Case(crd(_SCHEMA), crd(_SCHEMA), widget({"status": {}}), {}, "", "").sides(tmp_path)
    write(tmp_path / "fleet" / "kustomization.yaml", {"resources": ["o.json"]})
    report = simulate(*sides, "--objects", "fleet", code=0, cwd=tmp_path)
    assert [len(report["objects"]), report["not_simulated"]] == [1, []]
    kept = {"apiVersion": "example.com/v1", "kind": "Kustomization", "metadata": {"name": "a"}, "spec": {}}
    made = crd(_SCHEMA, kind="Kustomization")
    for side in ("r-1.1", "r-1.2"):
        write(tmp_path / side / "k.json", made)
    write(tmp_path / "fleet" / "kustomization.yaml", kept)
    assert len(simulate(*sides, "--objects", "fleet", code=0, cwd=tmp_path)["objects"]) == 2


def test_it_stands_before_what_fewer_writes_meet(tmp_path: Path) -> None:
    """The verdict names some causes and counts the others: a version that is gone is among the first."""
    for number, kind in enumerate(("Alpha", "Beta", "Delta", "Eps", "Gamma", "Zulu")):
        has_two = kind == "Zulu"
        before, after = (root(spec=obj(a=string(*values))) for values in ("A", "AB"))
        more = [version(after, "v2")] if has_two else []
        write(tmp_path / "old" / f"{kind}.yaml", crd(before, kind=kind))
        write(tmp_path / "new" / f"{kind}.yaml", crd(versions=[version(after, storage=not has_two), *more], kind=kind))
        item = {"apiVersion": f"example.com/{'v2' if has_two else 'v1'}", "kind": kind, "spec": {"a": "B"}}
        write(tmp_path / "objects" / f"{number}.yaml", {**item, "metadata": {"name": "x", "namespace": "d"}})
    ran = run("simulate", tmp_path / "old", tmp_path / "new", "--objects", tmp_path / "objects")
    verdict = ran.out[ran.out.rindex("BLOCKED") :].splitlines()
    assert verdict[1:3] == [
        "  Zulu  the object",
        "    old answers 404, because the CRD lacks version v2: every write fails",
    ]
    assert "  and 2 more: " in "\n".join(verdict)
