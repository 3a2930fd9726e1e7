"""What objects meet after the move follows from who installs the CRDs."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, Run, crd, obj, root, run, string, write

_CHART = "name: a\nversion: 1.0.0\n"
A, AB = (root(status=obj(p=string(*values))) for values in ("a", "ab"))


def _object(kind: str, value: str) -> Json:
    named = {"name": "one", "namespace": "n"}
    return {"apiVersion": "example.com/v1", "kind": kind, "metadata": named, "status": {"p": value}}


def _replayed(tmp_path: Path, folder: str, *args: str) -> Run:
    """A Widget with a value of NEW alone, and a Gadget, which NEW alone has."""
    for side, crds in (("old", {"w": crd(A)}), ("new", {"w": crd(AB), "g": crd(A, kind="Gadget")})):
        write(tmp_path / side / "Chart.yaml", _CHART)
        for name, made in crds.items():
            write(tmp_path / side / folder / f"{name}.yaml", made)
    for kind, value in (("Widget", "b"), ("Gadget", "a")):
        write(tmp_path / "objects" / f"{kind}.yaml", _object(kind, value))
    words = ("simulate", "path:old", "path:new", "--objects", "objects", "--kube-version", "1.31", "--format", "json")
    return run(*words, *args, cwd=tmp_path)


def _verdicts(ran: Run) -> dict[str, str]:
    return {each["object"]["kind"]: each["writes"]["status-update"]["verdict"] for each in ran.report["objects"]}


_GONE = {"Gadget/n/one": "path:old has no CRD for it: its API answers 404 there"}
_DELETED = {"Gadget/n/one": "helm rollback deletes the CRD, and each object with it"}


@pytest.mark.parametrize(
    ("folder", "args", "verdicts", "missed"),
    [
        ("crds", (), {"Widget": "accepted", "Gadget": "accepted"}, {}),
        ("crds", ("--installer", "apply"), {"Widget": "rejected"}, _GONE),
        ("config", ("--installer", "helm-crds"), {"Widget": "accepted", "Gadget": "accepted"}, {}),
        ("config", (), {"Widget": "rejected"}, _GONE),
        ("templates", (), {"Widget": "rejected"}, _DELETED),
    ],
)
def test_a_rollback(
    tmp_path: Path, folder: str, args: tuple[str, ...], verdicts: dict[str, str], missed: dict[str, str]
) -> None:
    ran = _replayed(tmp_path, folder, *args)
    assert _verdicts(ran) == verdicts
    assert {each["object"]: each["reason"] for each in ran.report["not_simulated"]} == missed
    assert ran.code == (0 if "rejected" not in verdicts.values() else 1)


def test_objects_that_helm_deletes_block(tmp_path: Path) -> None:
    """Also where each write of the others is accepted, and where nothing else was recorded."""
    _replayed(tmp_path, "templates")
    (tmp_path / "objects/Widget.yaml").unlink()
    words = ("simulate", "path:old", "path:new", "--objects", "objects", "--kube-version", "1.31")
    ran = run(*words, cwd=tmp_path)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.splitlines()[-4:-1] == [
        "path:new -> path:old: BLOCKED (1 recorded object deleted)",
        "  gadgets.example.com  1 object",
        "    helm rollback deletes the CRD, and each object with it",
    ]


def test_an_upgrade_does_not_bring_a_crd(tmp_path: Path) -> None:
    """OLD's CRD stays, and refuses nothing that it took before."""
    ran = _replayed(tmp_path, "crds", "--upgrade")
    assert "Gadget" not in _verdicts(ran)
    notes = [note for note in ran.report["new"]["notes"] if note.startswith("helm does not replace crds/")]
    assert notes == [
        "helm does not replace crds/: the CRDs of path:old stay in the cluster and judge: widgets.example.com"
    ]


def _fleet(tmp_path: Path, *args: str, file_format: str = "json") -> Run:
    (tmp_path / "fleet/one").mkdir(parents=True)
    for each in (tmp_path / "objects").iterdir():
        each.rename(tmp_path / "fleet/one" / each.name)
    words = ("simulate", "path:old", "path:new", "--fleet", "fleet", "--kube-version", "1.31", "--format", file_format)
    return run(*words, *args, cwd=tmp_path)


def test_a_fleet(tmp_path: Path) -> None:
    _replayed(tmp_path, "crds")
    told = {}
    for args in ((), ("--installer", "apply")):
        told[args] = _fleet(tmp_path, *args).report["summary"]["verdicts"]["path:old"]
        (tmp_path / "fleet").rename(tmp_path / "done")
        (tmp_path / "done/one").rename(tmp_path / "objects")
    assert [told[args]["blocked"] for args in told] == [0, 1]


@pytest.mark.parametrize("is_alone", [False, True], ids=["beside others", "alone"])
def test_a_fleet_says_of_what_helm_deletes_what_simulate_says(tmp_path: Path, is_alone: bool) -> None:
    one = _replayed(tmp_path, "templates")
    if is_alone:
        (tmp_path / "objects/Widget.yaml").unlink()
        words = ("simulate", "path:old", "path:new", "--objects", "objects", "--kube-version", "1.31")
        one = run(*words, "--format", "json", cwd=tmp_path)
    else:
        write(tmp_path / "objects/Widget.yaml", _object("Widget", "a"))
        write(tmp_path / "objects/other.yaml", _object("Gadget", "a") | {"metadata": {"name": "two", "namespace": "n"}})
    many = _fleet(tmp_path)
    assert (one.code, many.code) == (1, 1)
    (cluster,) = many.report["clusters"]
    assert [each["verdict"] for each in cluster["targets"]] == ["blocked"]
    assert many.report["unjudged"] == [] or is_alone  # else nobody recorded a Widget
    (found,) = many.report["findings"]
    assert (found["crd"], found["type"], found["path"]) == ("gadgets.example.com", "DeletedWithCrd", "")
    assert [each["objects"] for each in found["targets"]] == [1 if is_alone else 2]


def test_a_fleet_names_what_helm_deletes(tmp_path: Path) -> None:
    _replayed(tmp_path, "templates")
    (tmp_path / "objects/Widget.yaml").unlink()
    lines = [line.strip() for line in _fleet(tmp_path, file_format="text").out.splitlines()]
    deletes = "helm deletes the CRD, and each object with it, on the way to path:old (1 object)"
    assert f"blocks 1 of 1 cluster: {deletes}" in lines
    assert "annotate the CRD with helm.sh/resource-policy: keep before the move (docs/installers.md)" in lines
    assert not [line for line in lines if "rejected by" in line]


def test_a_crd_that_moves_to_the_folder_that_helm_leaves_alone_is_deleted_first(tmp_path: Path) -> None:
    """OLD has the CRD, too, but in crds/: a rollback does not create it again."""
    for side, folder in (("old", "crds"), ("new", "templates")):
        write(tmp_path / side / "Chart.yaml", _CHART)
        write(tmp_path / side / folder / "g.yaml", crd(A, kind="Gadget"))
    write(tmp_path / "objects/g.yaml", _object("Gadget", "a"))
    words = ("simulate", "path:old", "path:new", "--objects", "objects", "--kube-version", "1.31", "--format", "json")
    ran = run(*words, cwd=tmp_path)
    assert (ran.code, {each["object"]: each["reason"] for each in ran.report["not_simulated"]}) == (1, _DELETED)


@pytest.mark.parametrize(
    ("folder", "verdicts"), [("crds", ["clean", "blocked"]), ("templates", ["blocked", "unknown"])]
)
def test_the_cluster_of_a_matrix(tmp_path: Path, folder: str, verdicts: list[str]) -> None:
    _replayed(tmp_path, folder)
    if folder == "templates":
        write(tmp_path / "objects/Widget.yaml", _object("Widget", "a"))
    words = ("matrix", "path:old", "path:new", "--objects", "objects", "--from", "path:new", "--format", "json")
    found = {
        args: run(*words, *args, cwd=tmp_path).report["cluster"]["targets"][0]
        for args in ((), ("--installer", "apply"))
    }
    assert [each["verdict"] for each in found.values()] == verdicts
