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


def test_a_fleet(tmp_path: Path) -> None:
    _replayed(tmp_path, "crds")
    words = ("simulate", "path:old", "path:new", "--fleet", "fleet", "--kube-version", "1.31", "--format", "json")
    (tmp_path / "fleet").mkdir()
    (tmp_path / "objects").rename(tmp_path / "fleet/one")
    told = {}
    for args in ((), ("--installer", "apply")):
        told[args] = run(*words, *args, cwd=tmp_path).report["summary"]["verdicts"]["path:old"]
    assert [told[args]["blocked"] for args in told] == [0, 1]


def test_the_cluster_of_a_matrix(tmp_path: Path) -> None:
    _replayed(tmp_path, "crds")
    words = ("matrix", "path:old", "path:new", "--objects", "objects", "--from", "path:new", "--format", "json")
    found = {
        args: run(*words, *args, cwd=tmp_path).report["cluster"]["targets"][0]
        for args in ((), ("--installer", "apply"))
    }
    assert [each["verdict"] for each in found.values()] == ["clean", "blocked"]
