"""Who installs the CRDs decides what a rollback of a cluster replaces, keeps and deletes."""

from __future__ import annotations

from pathlib import Path

import pytest
from api_server import ApiServer
from helpers import Json, crd, run, write
from widgets import GADGET, NEW, OLD, WIDGETS, widget

pytest.importorskip("kubernetes")

_CHART = "name: a\nversion: 1.0.0\n"
GADGETS = "/apis/example.com/v1/gadgets"
_NAMED = {"name": "g", "namespace": "n", "uid": "g"}
_GADGET: Json = {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": _NAMED}
_KEEP = {"helm.sh/resource-policy": "keep"}


def _crd(schema: Json, kind: str = "Widget", release: str = "op", **more: str) -> Json:
    """A CRD of a cluster, as a release of Helm marks it; "" for one that Helm does not manage."""
    made = crd(schema, kind=kind)
    marks = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": "n"} if release else {}
    made["metadata"]["annotations"] = {**marks, **more}
    return made


def _old(folder: str, *kinds: str) -> None:
    """OLD is a chart with Widgets, or with other CRDs, in one of its folders."""
    for name in ("widgets", "gadgets"):
        Path(f"old/{name}.json").unlink()
    write(Path("old/Chart.yaml"), _CHART)
    for kind in kinds or ("Widget",):
        write(Path(f"old/{folder}/{kind}.yaml"), crd(OLD if kind == "Widget" else GADGET, kind=kind))


def _report(*more: str) -> Json:
    return run("preflight", "old", "--cluster", "prod", "--format", "json", *more).report


def _steps(found: Json) -> list[str]:
    return [each["step"] for each in found["steps"]]


def test_objects_that_helm_deletes_with_their_crd_block(cluster: ApiServer) -> None:
    _old("templates")
    cluster.install(_crd(NEW), _crd(GADGET, "Gadget"))
    cluster.put(WIDGETS, [widget("w", spec={"mode": "a"})])
    cluster.put(GADGETS, [_GADGET])
    found = _report()
    assert (found["answer"], found["exit_code"]) == ("no", 1)
    assert found["deleted"] == [{"crd": "gadgets.example.com", "kind": "Gadget", "objects": 1}]
    assert [(each["step"], each["command"]) for each in found["steps"]][:1] == [
        ("keep", "kubectl --context prod annotate crd gadgets.example.com helm.sh/resource-policy=keep")
    ]
    ran = run("preflight", "old", "--cluster", "prod")
    assert ran.out.startswith(
        "May prod go back to old?  NO\n  helm rollback deletes 1 Gadget with gadgets.example.com.\n"
    )


@pytest.mark.parametrize(
    ("gadget", "why"),
    [
        (_crd(GADGET, "Gadget", **_KEEP), "kept"),
        (_crd(GADGET, "Gadget", release="other"), "of a release that is not rolled back"),
        (_crd(GADGET, "Gadget", release=""), "not managed by helm"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_what_helm_leaves_alone_does_not_block(cluster: ApiServer, gadget: Json, why: str) -> None:
    _old("templates")
    cluster.install(_crd(NEW), gadget)
    cluster.put(GADGETS, [_GADGET])
    found = _report()
    assert (found["answer"], found["deleted"]) == ("yes", [])
    assert [note for note in found["notes"] if "do not delete these CRDs" in note]


def test_a_deleted_crd_without_objects_is_a_note(cluster: ApiServer) -> None:
    _old("templates")
    cluster.install(_crd(NEW), _crd(GADGET, "Gadget"))
    cluster.put(GADGETS, [])
    found = _report()
    assert (found["answer"], found["deleted"]) == ("yes", [])
    assert "helm rollback deletes gadgets.example.com, of which no object is stored" in found["notes"]
    assert not [note for note in found["notes"] if "do not delete these CRDs" in note]


def test_a_deleted_crd_of_another_group_counts(cluster: ApiServer) -> None:
    _old("templates")
    extra = _crd(GADGET, "Gadget")
    extra["spec"]["group"], extra["metadata"]["name"] = "new.example.com", "gadgets.new.example.com"
    cluster.install(_crd(NEW), extra)
    cluster.put("/apis/new.example.com/v1/gadgets", [{**_GADGET, "apiVersion": "new.example.com/v1"}])
    assert [each["crd"] for each in _report()["deleted"]] == ["gadgets.new.example.com"]


def test_a_crd_that_moves_to_crds_is_deleted_and_not_created(cluster: ApiServer) -> None:
    _old("crds")
    cluster.install(_crd(NEW))
    cluster.put(WIDGETS, [widget("w", spec={"mode": "a"})])
    found = _report()
    assert (found["answer"], [each["crd"] for each in found["deleted"]]) == ("no", ["widgets.example.com"])


def test_what_cannot_be_listed_of_a_deleted_crd_is_a_gap(cluster: ApiServer) -> None:
    _old("templates")
    cluster.install(_crd(NEW), _crd(GADGET, "Gadget"))
    cluster.refuse(GADGETS, 403)
    found = _report()
    assert (found["answer"], [each["what"] for each in found["missing"]]) == ("unknown", ["gadgets.example.com"])
    role = run("preflight", "old", "--cluster", "prod", "--print-rbac").out
    assert "resources: [gadgets, widgets]" in role


@pytest.mark.parametrize(
    ("folder", "more", "answer"),
    [
        ("crds", (), "yes"),
        ("crds", ("--installer", "apply"), "no"),
        ("templates", (), "no"),
        ("templates", ("--installer", "helm-crds"), "yes"),
    ],
)
def test_what_helm_does_not_replace_rejects_nothing(
    cluster: ApiServer, folder: str, more: tuple[str, ...], answer: str
) -> None:
    _old(folder)
    cluster.install(_crd(NEW, release=""), _crd(GADGET, "Gadget", release=""))
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c"})])
    found = _report(*more)
    assert (found["answer"], found["installers"]) == (answer, [])
    stays = [note for note in found["old"]["notes"] if note.startswith("helm does not replace crds/")]
    assert bool(stays) == (answer == "yes")
    assert answer == "yes" or _steps(found)[-1] == "check"


def test_the_answer_of_each_installer_where_they_differ(cluster: ApiServer) -> None:
    """The tree has the CRD in a chart's crds/, and where kubectl applies it."""
    _old("crds")
    write(Path("old/config/w.yaml"), crd(OLD))
    cluster.install(_crd(NEW, release=""))
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c"})])
    found = _report()
    assert found["answer"] == "no"
    assert found["installers"] == [
        {"installer": "helm-crds", "answer": "yes"},
        {"installer": "apply", "answer": "no"},
    ]
    line = "rollback by installer (docs/installers.md): helm (crds/): YES; kubectl apply: NO."
    for form in ("text", "markdown", "html"):
        assert line in run("preflight", "old", "--cluster", "prod", "--format", form).out, form


def test_a_recording_with_the_release_that_it_runs(tmp_path: Path) -> None:
    for side, crds in (("old", [crd(OLD)]), ("new", [crd(NEW), crd(GADGET, kind="Gadget")])):
        write(tmp_path / side / "Chart.yaml", _CHART)
        for each in crds:
            write(tmp_path / side / "templates" / f"{each['spec']['names']['kind']}.yaml", each)
    write(tmp_path / "objects/g.yaml", _GADGET)
    write(tmp_path / "objects/w.yaml", widget("w", spec={"mode": "a"}))
    words = ("preflight", "path:old", "--objects", "objects", "--from", "path:new", "--kube-version", "1.31")
    ran = run(*words, "--format", "json", cwd=tmp_path)
    assert ran.code == 1, ran.err
    assert [each["crd"] for each in ran.report["deleted"]] == ["gadgets.example.com"]
