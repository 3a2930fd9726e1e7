"""crdcompat verify against real API servers: every witness of a real pair of releases is answered, none is refuted."""

from __future__ import annotations

from pathlib import Path

import pytest
from differences import Bench, in_group, new_group
from fake_cluster import kubeconfig
from helpers import CONTEXT, both, crd, obj, root, run, string

_DEMO = Path(__file__).resolve().parents[2] / "fixtures" / "demo"


@pytest.fixture
def context(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(
        "KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", bench.server.url, bench.server.token))
    )
    return "kind-kind"


def test_the_built_in_story(bench: Bench, context: str, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    run("diff", "release-4.13", "release-4.14", "--format", f"json={report}", cwd=_DEMO)
    ran = run("verify", report, "--server", context, "--format", "json", cwd=_DEMO)
    assert ran.code == 0, ran.err
    assert {each["outcome"] for each in ran.report["verified"]} == {"confirmed"}
    assert bench.server.crd_names() == []


def test_a_pair_of_openshift_api(bench: Bench, context: str, openshift_api: Path, tmp_path: Path) -> None:
    report, old, new = tmp_path / "report.json", "release-4.13", "release-4.14"
    run("diff", old, new, "--context", CONTEXT, "--format", f"json={report}", cwd=openshift_api)
    ran = run("verify", report, "--server", context, "--format", "json", cwd=openshift_api)
    found = ran.report["verified"]
    assert [(each["crd"], each["path"], each["reason"]) for each in found if each["outcome"] == "refuted"] == []
    assert sum(each["outcome"] == "confirmed" for each in found) > 30
    assert ran.code == 0, ran.err
    assert bench.server.crd_names() == []


def test_a_server_that_has_one_of_the_crds(bench: Bench, context: str, tmp_path: Path) -> None:
    group = new_group()
    old, new = (in_group(crd(root(status=obj(p=string(*members)))), group) for members in ("A", "AB"))
    report = tmp_path / "report.json"
    run("diff", *both(tmp_path, old, new), "--format", f"json={report}")
    assert bench.server.install(old).accepted
    ran = run("verify", report, "--server", context)
    assert (ran.code, ran.out) == (2, "")
    assert f"this cluster has widgets.{group} with no object: " in ran.err
    assert bench.server.crd_names() == [f"widgets.{group}"]
