"""The manifests of docs/preflight.md are what an API server decodes: checked with the models of the official client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from manifests import decoded, manifests_of
from offline import PROJECT

MANIFESTS = manifests_of("preflight.md")
MODELS = {
    "ServiceAccount": "V1ServiceAccount",
    "ClusterRoleBinding": "V1ClusterRoleBinding",
    "PersistentVolumeClaim": "V1PersistentVolumeClaim",
    "Job": "V1Job",
    "CronJob": "V1CronJob",
}


def _decoded(manifest: Any) -> Any:
    return decoded(manifest, MODELS[manifest["kind"]])


def test_the_page_has_these_manifests() -> None:
    assert [manifest["kind"] for manifest in MANIFESTS] == list(MODELS)


@pytest.mark.parametrize("manifest", MANIFESTS, ids=[manifest["kind"] for manifest in MANIFESTS])
def test_a_manifest_is_decoded_whole(manifest: Any) -> None:
    assert _decoded(manifest) == manifest


def test_a_field_that_no_server_knows_is_found() -> None:
    job = next(manifest for manifest in MANIFESTS if manifest["kind"] == "Job")
    assert _decoded({**job, "spec": {**job["spec"], "podFailPolicy": {}}}) == job
    with pytest.raises(ValueError, match="template"):
        _decoded({**job, "spec": {"backoffLimit": 2}})


def test_both_jobs_run_the_same_pod_but_for_the_text() -> None:
    job, cron = (manifest["spec"] for manifest in MANIFESTS if manifest["kind"] in ("Job", "CronJob"))
    one, other = job["template"]["spec"], cron["jobTemplate"]["spec"]["template"]["spec"]
    args = [spec["containers"][0].pop("args") for spec in (one, other)]
    assert one == other
    assert [each for each in args[0] if each not in args[1]] == ["text"]
    assert cron["jobTemplate"]["spec"]["podFailurePolicy"] == job["podFailurePolicy"]


def test_each_exit_code_has_its_rule() -> None:
    job = next(manifest["spec"] for manifest in MANIFESTS if manifest["kind"] == "Job")
    rules = job["podFailurePolicy"]["rules"]
    assert [rule["onExitCodes"]["values"] for rule in rules] == [[1], [2]]
    assert {rule["action"] for rule in rules} == {"FailJob"}


def test_the_image_can_read_clusters() -> None:
    lines = Path(PROJECT / "Containerfile").read_text(encoding="utf-8").splitlines()
    assert "ARG EXTRAS=[cluster]" in lines
    assert any(line.startswith("RUN") and line.endswith('"/src${EXTRAS}"') for line in lines)
