"""contrib/preflight, contrib/argocd and contrib/flux: built by the real kustomize, decoded as by a server, and run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import Json, run
from manifests import decoded
from offline import PROJECT

CONTRIB, DEMO = PROJECT / "contrib", PROJECT / "fixtures/demo"
MODELS = {
    "ServiceAccount": "V1ServiceAccount",
    "ClusterRole": "V1ClusterRole",
    "ClusterRoleBinding": "V1ClusterRoleBinding",
    "ConfigMap": "V1ConfigMap",
    "Job": "V1Job",
}
_RECORDED = ("--objects", "recorded", "--from", "release-4.14")


@pytest.fixture(scope="module", params=["preflight", "argocd"])
def built(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Json]:
    """The manifests by kind, after the steps of docs/plugins.md."""
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("there is no kubectl to build a kustomization with")
    top = tmp_path_factory.mktemp("repository")
    for name in ("preflight", "argocd"):
        shutil.copytree(CONTRIB / name, top / name)
    (crds,) = (DEMO / "release-4.13").rglob("*.yaml")
    shutil.copyfile(crds, top / "preflight/crds.yaml")
    rbac = run("preflight", "release-4.13", *_RECORDED, "--print-rbac", cwd=DEMO)
    (top / "preflight/rbac.yaml").write_text(rbac.out, encoding="utf-8")
    ran = subprocess.run([kubectl, "kustomize", top / request.param], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found: list[Json] = [*yaml.safe_load_all(ran.stdout)]
    assert sorted(each["kind"] for each in found) == sorted(MODELS)
    return {each["kind"]: each for each in found} | {"of": {"name": request.param}}


def test_a_server_decodes_each_whole(built: dict[str, Json]) -> None:
    for kind, model in MODELS.items():
        assert decoded(built[kind], model) == built[kind]


def test_the_parts_name_each_other(built: dict[str, Json]) -> None:
    names = {kind: built[kind]["metadata"]["name"] for kind in MODELS}
    pod = built["Job"]["spec"]["template"]["spec"]
    binding = built["ClusterRoleBinding"]
    assert pod["serviceAccountName"] == binding["subjects"][0]["name"] == names["ServiceAccount"]
    assert binding["roleRef"]["name"] == names["ClusterRole"]
    assert pod["volumes"][0]["configMap"]["name"] == names["ConfigMap"]
    places = {built[kind]["metadata"]["namespace"] for kind in ("ServiceAccount", "ConfigMap", "Job")}
    assert places == {binding["subjects"][0]["namespace"]} == {"crdcompat"}


def test_argo_makes_the_job_after_what_it_needs(built: dict[str, Json]) -> None:
    prefix = "argocd.argoproj.io/"
    hook = {f"{prefix}hook": "PreSync", f"{prefix}hook-delete-policy": "BeforeHookCreation"}
    earlier = hook | {f"{prefix}sync-wave": "-1"}
    found = {kind: built[kind]["metadata"].get("annotations") for kind in MODELS}
    is_argo = built["of"]["name"] == "argocd"
    wanted: dict[str, Any] = dict.fromkeys(MODELS, earlier) | {"Job": hook} if is_argo else dict.fromkeys(MODELS)
    assert found == wanted


def test_the_job_stops_a_sync_that_stored_objects_do_not_survive(built: dict[str, Json], tmp_path: Path) -> None:
    (container,) = built["Job"]["spec"]["template"]["spec"]["containers"]
    (mount,) = container["volumeMounts"]
    for name, text in built["ConfigMap"]["data"].items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    args = [each.replace(f"{mount['mountPath']}/", f"{tmp_path}/", 1) for each in container["args"]]
    at = args.index("--cluster")
    assert args[at + 1] == "in-cluster"
    ended = run(*args[:at], *_RECORDED, *args[at + 2 :], cwd=DEMO)
    assert ended.code == 1, ended.err
    (rule,) = built["Job"]["spec"]["podFailurePolicy"]["rules"]
    assert (rule["action"], rule["onExitCodes"]["values"]) == ("FailJob", [1, 2])


def test_flux_waits_for_the_answer_about_the_same_source() -> None:
    text = (CONTRIB / "flux/kustomizations.yaml").read_text(encoding="utf-8")
    preflight, app = (each["spec"] | each["metadata"] for each in yaml.safe_load_all(text))
    assert [each["name"] for each in app["dependsOn"]] == [preflight["name"]]
    assert preflight["sourceRef"] == app["sourceRef"]
    assert preflight["wait"] and preflight["force"]
