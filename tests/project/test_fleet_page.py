"""The manifests of docs/fleet.md: what an API server decodes, with options that the program has."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import run
from manifests import decoded, manifests_of

CLUSTER, CRON = manifests_of("fleet.md")
WORKER, SCHEDULER = CLUSTER["spec"]["worker"], CLUSTER["spec"]["scheduler"]


def test_the_job_is_decoded_whole() -> None:
    assert CRON["kind"] == "CronJob"
    assert decoded(CRON, "V1CronJob") == CRON


@pytest.mark.parametrize(
    ("part", "model"),
    [
        (WORKER["spec"], "V1PodSpec"),
        (SCHEDULER["spec"], "V1PodSpec"),
        (SCHEDULER["service"], "V1ServiceSpec"),
        (CLUSTER["metadata"], "V1ObjectMeta"),
    ],
)
def test_the_cluster_is_of_parts_that_are_decoded_whole(part: Any, model: str) -> None:
    """The CRD of the Dask operator has these fields, and the schemas of Kubernetes in them."""
    assert (CLUSTER["apiVersion"], CLUSTER["kind"]) == ("kubernetes.dask.org/v1", "DaskCluster")
    assert [set(CLUSTER), set(CLUSTER["spec"]), set(WORKER), set(SCHEDULER)] == [
        {"apiVersion", "kind", "metadata", "spec"},
        {"worker", "scheduler"},
        {"replicas", "spec"},
        {"spec", "service"},
    ]
    assert decoded(part, model) == part


def test_client_and_workers_have_the_same_releases_secret_and_image() -> None:
    (client,), (worker,) = (
        pod["containers"] for pod in (CRON["spec"]["jobTemplate"]["spec"]["template"]["spec"], WORKER["spec"])
    )
    assert (client["image"], client["envFrom"]) == (worker["image"], worker["envFrom"])
    (releases,) = worker["volumeMounts"]
    assert releases in client["volumeMounts"]
    old, new = client["args"][1:3]
    assert all(name.startswith(f"path:{releases['mountPath']}/") for name in (old, new))
    assert f"tcp://{CLUSTER['metadata']['name']}-scheduler:{SCHEDULER['service']['ports'][0]['port']}" in "".join(
        client["args"]
    )


def test_the_program_has_the_options_of_the_client() -> None:
    (client,) = CRON["spec"]["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    command, *args = client["args"]
    listed = run(command, "--help").out
    options = [arg.partition("=")[0] for arg in args if arg.startswith("--")]
    assert [option for option in options if f"{option} " not in listed] == []
