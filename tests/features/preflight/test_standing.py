"""The context of a cluster decides which CRDs it has: kinds that it cannot have are no gap."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, crd, obj, run, string, write

CONFIG = "config.openshift.io"
PROFILE = "include.release.openshift.io/self-managed-high-availability"
DEFAULT, TECH = "Default", "TechPreviewNoUpgrade"
NODE = obj(spec=obj(mode=string("a")))
MORE = obj(spec=obj(mode=string("a", "b")))


@pytest.fixture(autouse=True)
def _releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases in which everything differs; some of it only in the feature set TechPreviewNoUpgrade."""
    monkeypatch.chdir(tmp_path)
    for name, schema in (("release-4.15", NODE), ("release-4.16", MORE)):
        put(name, "node", of("Node", schema))
        put(name, "preview", of("Preview", schema, TECH))
        put(name, "both-default", of("Both", NODE, DEFAULT))
        put(name, "both-tech", of("Both", schema, TECH))
        put(name, "example", of("StableConfigType", schema, group="example.openshift.io"))
        put(name, "route", of("Route", schema, group="route.openshift.io"))


def put(release: str, name: str, manifest: Json) -> None:
    write(Path(release, f"{name}.json"), manifest)


def of(kind: str, schema: Json, feature_set: str = "", group: str = CONFIG) -> Json:
    annotations = {PROFILE: "true"}
    if feature_set:
        annotations["release.openshift.io/feature-set"] = feature_set
    return crd(schema, kind=kind, group=group, scope="Cluster", annotations=annotations)


def item(kind: str, group: str = CONFIG, **more: Any) -> Json:
    return {"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "cluster"}, "spec": {"mode": "a"}, **more}


def gate(feature_set: str | None) -> Json:
    return item("FeatureGate", spec={"featureSet": feature_set} if feature_set else {})


def ask(*items: Json, args: tuple[str, ...] = ("--from", "release-4.16")) -> Json:
    write(Path("recorded.json"), {"apiVersion": "v1", "kind": "List", "items": list(items)})
    return run("preflight", "release-4.15", "--objects", "recorded.json", *args, "--format", "json").report


def missing(found: Json) -> list[tuple[str, str]]:
    return [(each["what"], each["step"]) for each in found["missing"]]


def kinds(found: Json) -> set[str]:
    return {each["kind"] for each in found["summary"]["kinds"]}


def test_in_default_only_kinds_of_default_can_be_missing() -> None:
    found = ask(gate(None), item("Node"))
    assert (found["answer"], found["missing"], kinds(found)) == ("yes", [], {"Node"})
    assert found["notes"][0] == (
        "variants of CRDs are those of context Default/self-managed-high-availability (its FeatureGate says so; "
        "--context names another)"
    )
    assert missing(ask(gate(None))) == [("nodes.config.openshift.io", "record")]


def test_a_tech_preview_cluster_has_its_own_kinds_and_variants() -> None:
    found = ask(gate(TECH), item("Node"))
    assert missing(found) == [("boths.config.openshift.io", "record"), ("previews.config.openshift.io", "record")]
    assert f"OpenShift neither upgrades nor rolls back clusters of the feature set {TECH}" in found["notes"]
    found = ask(gate(TECH), item("Node"), item("Both", spec={"mode": "b"}), item("Preview"))
    assert (found["answer"], [each["crd"] for each in found["causes"]]) == ("no", ["boths.config.openshift.io"])


def test_the_same_object_in_default_is_judged_by_the_variant_of_default() -> None:
    assert ask(gate(None), item("Node"), item("Both", spec={"mode": "a"}))["answer"] == "yes"


def test_without_a_feature_gate_the_feature_set_is_a_gap() -> None:
    found = ask(item("Node"))
    assert missing(found) == [("featuregates.config.openshift.io", "record")]
    assert found["steps"][0]["command"] == (
        "mkdir -p recorded-more && kubectl get --raw /apis/config.openshift.io/v1/featuregates > "
        "recorded-more/featuregates.config.openshift.io.json"
    )
    args = "--from", "release-4.16", "--context", f"{DEFAULT}/self-managed-high-availability"
    assert ask(item("Node"), args=args)["answer"] == "yes"


def test_without_variants_the_feature_set_does_not_matter() -> None:
    for name in ("release-4.15", "release-4.16"):
        for file in ("preview", "both-default", "both-tech"):
            Path(name, f"{file}.json").unlink()
    assert ask(item("Node"))["answer"] == "yes"


def test_two_feature_gates_name_no_feature_set() -> None:
    assert ("featuregates.config.openshift.io", "record") in missing(ask(gate(None), gate(TECH), item("Node")))


def test_a_feature_set_that_old_does_not_know() -> None:
    found = ask(gate("DevPreviewNoUpgrade"), item("Node"))
    assert missing(found) == [("the feature set", "name-context")]
    assert found["missing"][0]["reason"] == (
        "the cluster has the feature set DevPreviewNoUpgrade, which release-4.15 does not know: judged as "
        "Default/self-managed-high-availability"
    )


def test_the_clusters_own_crds_tell_its_feature_set_and_its_kinds() -> None:
    """A CRD that OLD has in another feature set alone stays as it is; it is no gap, and must not be deleted."""
    own = of("Node", MORE), of("Both", NODE, DEFAULT), of("Preview", MORE)
    found = ask(*own, item("Node"), item("Preview", spec={"mode": "b"}), args=())
    assert (found["answer"], kinds(found)) == ("yes", {"Node"})
    assert found["notes"][0].startswith(
        "variants of CRDs are those of context Default/self-managed-high-availability (its"
    )
    assert (
        "release-4.15 lacks previews.config.openshift.io: do not delete these CRDs, that would delete their objects"
    ) in found["notes"]


def test_an_installed_crd_counts_whatever_feature_set_it_once_came_from() -> None:
    """The operator that installs CRDs deletes none: this one is left from another feature set."""
    own = of("Node", MORE, TECH), of("Both", NODE, DEFAULT)
    found = ask(*own, gate(None), item("Node", spec={"mode": "b"}), args=())
    assert (found["answer"], [each["crd"] for each in found["causes"]]) == ("no", ["nodes.config.openshift.io"])


def test_own_crds_that_do_not_tell_the_feature_set() -> None:
    found = ask(of("Both", MORE), item("Both"), args=())
    assert missing(found) == [("the feature set", "name-context")]


def test_the_recorded_crds_say_which_of_a_release_the_cluster_has() -> None:
    put("release-4.16", "extra", of("Extra", MORE))
    put("release-4.15", "extra", of("Extra", NODE))
    assert missing(ask(gate(None), item("Node"))) == [("extras.config.openshift.io", "record")]
    assert ask(of("Node", MORE), gate(None), item("Node"))["answer"] == "yes"


def test_recorded_crds_without_those_of_the_objects_are_no_list_of_the_clusters_crds() -> None:
    """An archive of the insights operator has the CRDs of others alone."""
    put("release-4.16", "extra", of("Extra", MORE))
    put("release-4.15", "extra", of("Extra", NODE))
    other = of("Snapshot", MORE, group="snapshot.storage.k8s.io")
    assert missing(ask(other, gate(None), item("Node"))) == [("extras.config.openshift.io", "record")]


def test_kinds_that_the_cluster_does_have_after_all() -> None:
    """MicroShift has the CRD of Routes; and who installed an example has objects of it."""
    examples = item("StableConfigType", "example.openshift.io", spec={"mode": "b"})
    found = ask(gate(None), item("Node"), examples)
    assert [each["crd"] for each in found["causes"]] == ["stableconfigtypes.example.openshift.io"]
    routes = of("Route", MORE, group="route.openshift.io"), item("Route", "route.openshift.io", spec={"mode": "b"})
    found = ask(of("Both", NODE, DEFAULT), *routes, args=())
    assert [each["crd"] for each in found["causes"]] == ["routes.route.openshift.io"]


def test_routes_without_their_crd_are_served_by_another_server() -> None:
    found = ask(of("Both", NODE, DEFAULT), item("Route", "route.openshift.io"), args=())
    assert (found["answer"], found["missing"]) == ("yes", [])


def test_the_context_of_the_command_line_counts_and_a_contradiction_is_said() -> None:
    args = "--from", "release-4.16", "--context", f"{TECH}/self-managed-high-availability"
    found = ask(gate(None), item("Node"), args=args)
    assert missing(found) == [("boths.config.openshift.io", "record"), ("previews.config.openshift.io", "record")]
    assert found["notes"][0] == (
        "warning: the cluster has the context Default/self-managed-high-availability (its FeatureGate says so), and "
        "--context names TechPreviewNoUpgrade/self-managed-high-availability"
    )
    ran = run("preflight", "release-4.15", "--objects", "recorded.json", "--from", "release-4.16", "--context", "Other")
    assert ran.code == 2 and "no context Other in release-4.15" in ran.err


def test_a_channel_is_that_of_the_installed_crds() -> None:
    channel = "gateway.networking.k8s.io/channel"
    for name, schema in (("standard", NODE), ("experimental", MORE)):
        write(Path(f"gateways/{name}.json"), crd(schema, group="gw.io", annotations={channel: name}))

    def asked(annotations: dict[str, str] | None) -> Json:
        installed = crd(MORE, group="gw.io", annotations=annotations)
        stored = {**item("Widget", "gw.io"), "spec": {"mode": "b"}}
        write(Path("r.json"), {"apiVersion": "v1", "kind": "List", "items": [installed, stored]})
        return run("preflight", "gateways", "--objects", "r.json", "--kube-version", "1.29", "--format", "json").report

    assert [asked({channel: name})["answer"] for name in ("standard", "experimental")] == ["no", "yes"]
    assert missing(asked(None)) == [("the channel", "name-context")]
