"""CRDs in the crds/ of a Helm chart, which nobody replaces: what a user of diff gets as findings."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from helpers import Json, crd, diff, obj, root, run, string, write
from packed_sources import tar

CHART = {"chart/Chart.yaml": "name: a\nversion: 1.0.0\n"}
IN_CRDS, ELSEWHERE = "chart/crds/w.yaml", "config/crd/w.yaml"
A, AB = (root(status=obj(p=string(*values))) for values in ("a", "ab"))
LEFT = "; helm does not replace crds/: controllers of new work under the CRD of old"
APPLIED = "; helm does not replace crds/: if somebody applied the CRD of new, controllers of old work under it"
#: Direction, rule, effect, severity, window.
Told = tuple[str, str, str, str, str | None]


def _sides(tmp_path: Path, old: dict[str, Json], new: dict[str, Json]) -> tuple[Path, Path]:
    for side, files in (("old", old), ("new", new)):
        for name, data in {**CHART, **files}.items():
            write(tmp_path / side / name, data)
    return tmp_path / "old", tmp_path / "new"


def findings(tmp_path: Path, old: dict[str, Json], new: dict[str, Json], *args: str) -> list[Json]:
    found: list[Json] = diff(*_sides(tmp_path, old, new), *args)["findings"]
    return found


def told(found: list[Json]) -> set[Told]:
    return {(f["direction"], f["rule"], f["effect"], f["severity"], f.get("window")) for f in found}


def test_new_controllers_write_under_the_old_crd(tmp_path: Path) -> None:
    """The upgrade itself fails, and for good; the rollback changes nothing."""
    (found,) = findings(tmp_path, {IN_CRDS: crd(A)}, {IN_CRDS: crd(AB)})
    assert told([found]) == {("upgrade", "enum-value-added", "write-rejected", "error", "old_crd_new_writer")}
    assert found["message"].startswith('status.p gained "b": after the upgrade, ')
    assert found["message"].endswith(LEFT)
    assert found["witness"]["object"]["status"] == {"p": "b"}
    assert found["witness"]["errors"] == ['status.p: Unsupported value: "b": supported values: "a"']


def test_old_controllers_work_under_a_new_crd_that_somebody_applied(tmp_path: Path) -> None:
    (found,) = findings(tmp_path, {IN_CRDS: crd(AB)}, {IN_CRDS: crd(A)})
    assert told([found]) == {("rollback", "enum-value-removed", "write-rejected", "error", "new_crd_old_writer")}
    assert found["message"].startswith('status.p lost "b": after a rollback, ')
    assert found["message"].endswith(APPLIED)


@pytest.mark.parametrize("direction", ["rollback", "upgrade"])
def test_one_direction(tmp_path: Path, direction: str) -> None:
    """Each direction needs what is judged as the other."""
    sides = {IN_CRDS: crd(A)}, {IN_CRDS: crd(AB)}
    found = findings(tmp_path, *sides, "--direction", direction)
    assert [each["direction"] for each in found] == (["upgrade"] if direction == "upgrade" else [])


@pytest.mark.parametrize(("file", "args"), [(ELSEWHERE, ("--installer", "helm-crds")), (IN_CRDS, ())])
def test_named_and_found_say_the_same(tmp_path: Path, file: str, args: tuple[str, ...]) -> None:
    found = findings(tmp_path, {file: crd(A)}, {file: crd(AB)}, *args)
    assert told(found) == {("upgrade", "enum-value-added", "write-rejected", "error", "old_crd_new_writer")}


def test_somebody_who_applies_them_names_that(tmp_path: Path) -> None:
    found = findings(tmp_path, {IN_CRDS: crd(A)}, {IN_CRDS: crd(AB)}, "--installer", "apply")
    assert told(found) == {("rollback", "enum-value-added", "write-rejected", "error", None)}


def test_a_copy_that_is_replaced_keeps_the_finding(tmp_path: Path) -> None:
    same = {IN_CRDS: crd(A), ELSEWHERE: crd(A)}, {IN_CRDS: crd(AB), ELSEWHERE: crd(AB)}
    assert told(findings(tmp_path, *same)) == {("rollback", "enum-value-added", "write-rejected", "error", None)}


def test_a_packed_chart(tmp_path: Path) -> None:
    """The chart says that it ships, and its folder that nobody replaces its CRDs; the other copy is one of tests."""
    for side, version, schema in (("old", "1", A), ("new", "2", AB)):
        files = {"Chart.yaml": b"name: b\nversion: 1.0.0\n", "crds/w.yaml": json.dumps(crd(schema)).encode()}
        packed = tar({f"b/{name}": data for name, data in files.items()}, "w:gz")
        write(tmp_path / side / "chart/Chart.yaml", CHART["chart/Chart.yaml"])
        write(tmp_path / side / "copies/w.yaml", crd(A if side == "new" else AB))
        (tmp_path / side / "chart/charts").mkdir()
        (tmp_path / side / f"chart/charts/b-{version}.tgz").write_bytes(packed)
    report = diff(tmp_path / "old", tmp_path / "new")
    assert told(report["findings"]) == {
        ("upgrade", "enum-value-added", "write-rejected", "error", "old_crd_new_writer")
    }
    assert {each["file"] for each in report["findings"][0]["locations"]} == {
        "chart/charts/b-1.tgz",
        "chart/charts/b-2.tgz",
    }


def test_a_crd_that_helm_does_not_create(tmp_path: Path) -> None:
    """NEW's controllers ask for a kind that is not there."""
    gadget = {"chart/crds/g.yaml": crd(A, kind="Gadget")}
    (found,) = findings(tmp_path, {IN_CRDS: crd(A)}, {IN_CRDS: crd(A)} | gadget)
    assert told([found]) == {("upgrade", "crd-added", "request-failed", "error", "old_crd_new_writer")}
    assert found["message"].endswith("helm upgrade does not create the CRD, and requests for it are answered 404")


@pytest.mark.parametrize(
    ("dependency", "values", "value"),
    [
        ({"condition": "install.b"}, {"install": {"b": False}}, "install.b"),
        ({"condition": "c.enabled, install.b"}, {"install": {"b": False}}, "install.b"),
        ({"tags": ["all", "b"]}, {"tags": {"b": False}}, "tags.all"),
        ({"condition": "install.b"}, {"install": {"b": True}}, ""),
        ({"condition": "install.b"}, {"install": {}}, ""),
        ({"tags": ["all", "b"]}, {"tags": {"all": True, "b": False}}, ""),
        ({"name": "other", "condition": "install.b"}, {"install": {"b": False}}, ""),
        ({}, {}, ""),
    ],
)
@pytest.mark.parametrize("folder", ["chart/", ""])
def test_a_crd_of_a_chart_that_is_off(tmp_path: Path, folder: str, dependency: Json, values: Json, value: str) -> None:
    """NetObserv's chart has one of Prometheus, for those who set install.prom-stack."""
    files: dict[str, Json] = {
        f"{folder}Chart.yaml": {"name": "a", "version": "1.0.0", "dependencies": [{"name": "b", **dependency}]},
        f"{folder}values.yaml": values,
        f"{folder}crds/w.yaml": crd(A),
    }
    gadget: dict[str, Json] = {f"{folder}charts/b-1.0/crds/g.yaml": crd(A, kind="Gadget")}
    for side, more in (("old", {}), ("new", gadget)):
        for name, data in (files | more).items():
            write(tmp_path / side / name, data)
    write(tmp_path / "new" / f"{folder}charts/b-1.0/Chart.yaml", {"name": "b", "version": "1.0"})
    (found,) = diff(tmp_path / "old", tmp_path / "new")["findings"]
    assert (found["rule"], found["severity"]) == ("crd-added", "warning" if value else "error")
    assert found["message"].endswith(f" (only where {value} turns its chart on)") == bool(value)


def test_a_crd_that_new_no_longer_has(tmp_path: Path) -> None:
    """Helm deletes nothing: the objects stay, and nothing acts on them."""
    gadget = {"chart/crds/g.yaml": crd(A, kind="Gadget")}
    found = findings(tmp_path, {IN_CRDS: crd(A)} | gadget, {IN_CRDS: crd(A)})
    assert told(found) == {("upgrade", "crd-removed", "request-failed", "error", None)}


def _versions(*names: str) -> Json:
    """A CRD with these versions, of which the last one is stored."""
    made = crd(A)
    (version,) = made["spec"]["versions"]
    made["spec"]["versions"] = [{**version, "name": name, "storage": name == names[-1]} for name in names]
    return made


def test_a_version_that_the_old_crd_lacks(tmp_path: Path) -> None:
    """No server is asked to take OLD's CRD back, but NEW's controllers get 404 for what they store."""
    found = findings(tmp_path, {IN_CRDS: _versions("v1")}, {IN_CRDS: _versions("v1", "v2")})
    assert told(found) == {("upgrade", "version-storage-moved", "request-failed", "error", "old_crd_new_writer")}
    assert "answered 404" in found[0]["message"] and "rolled back" not in found[0]["message"]


def test_a_version_that_the_new_crd_lacks(tmp_path: Path) -> None:
    """The server refuses NEW's CRD, so that nobody can have applied it."""
    assert findings(tmp_path, {IN_CRDS: _versions("v2", "v1")}, {IN_CRDS: _versions("v2")}) == []


@pytest.mark.parametrize("what", ["scope", "kind"])
def test_another_api(tmp_path: Path, what: str) -> None:
    old, new = crd(A), crd(A)
    if what == "scope":
        new["spec"]["scope"] = "Cluster"
    else:
        new["spec"]["names"] |= {"kind": "Gizmo", "listKind": "GizmoList"}
    rule = {"scope": "scope-changed", "kind": "names-kind-changed"}[what]
    found = findings(tmp_path, {IN_CRDS: old}, {IN_CRDS: new})
    assert told(found) == {("upgrade", rule, "request-failed", "error", "old_crd_new_writer")}
    assert "rolled back" not in found[0]["message"] and "upgraded without" not in found[0]["message"]


def test_a_crd_that_no_server_takes(tmp_path: Path) -> None:
    """New clusters never get it; a rollback to one asks no server."""
    refused = crd(root(status=obj(p=string("a")), spec={"type": "nothing"}))
    to_new = findings(tmp_path / "a", {IN_CRDS: crd(A)}, {IN_CRDS: refused})
    assert {each for each in told(to_new) if each[1] == "crd-refused"} == {
        ("upgrade", "crd-refused", "crd-rejected", "error", None)
    }
    assert any("helm install of" in each["message"] for each in to_new)
    to_old = findings(tmp_path / "b", {IN_CRDS: refused}, {IN_CRDS: crd(A)})
    assert not [each for each in to_old if each["rule"] == "crd-refused"]


def test_recorded_objects_meet_the_finding(tmp_path: Path) -> None:
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "n"}}
    write(tmp_path / "objects/w.yaml", widget | {"status": {"p": "b"}})
    sides = {IN_CRDS: crd(A)}, {IN_CRDS: crd(AB)}
    for args in ((), ("--direction", "upgrade")):
        report = diff(*_sides(tmp_path, *sides), "--objects", str(tmp_path / "objects"), *args)
        assert [each["evidence"]["recorded_objects"] for each in report["findings"]] == [1]
        assert report["unexplained"] == []


def test_text(tmp_path: Path) -> None:
    _sides(tmp_path, {IN_CRDS: crd(A)}, {IN_CRDS: crd(AB)})
    ran = run("diff", "path:old", "path:new", cwd=tmp_path)
    assert ran.code == 1
    assert [line.strip() for line in ran.out.splitlines() if "path:old rejects" in line][-1] == (
        'path:old rejects "b": the controller cannot write status; helm does not replace crds/'
    )
    assert "path:new -> path:old: CLEAN (no error and no warning in 1 CRD)" in ran.out
    assert "path:old -> path:new: BLOCKED" in ran.out
