"""Variants of one CRD: the contexts of a tree, and what a change in several of them is."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import crd_set, diff, only, run
from variants import default_and_preview, tree, variant

from crdcompat.crds.context import GATE
from crdcompat.crds.model import CrdDocument, read_crd
from crdcompat.crds.variants import GATEWAY, OPENSHIFT, PLAIN, contexts_of, preset_of


def test_contexts_are_sets_times_profiles_and_default_always(tmp_path: Path) -> None:
    old = tree(
        tmp_path / "old",
        default=variant("A", set="Default", self_managed_high_availability="true"),
        preview=variant("A", "B", set="TechPreviewNoUpgrade", ibm_cloud_managed="true"),
    )
    report = diff(old, old)
    assert report["summary"]["contexts"] == [  # no document is in the two other combinations
        "Default/self-managed-high-availability",
        "TechPreviewNoUpgrade/ibm-cloud-managed",
    ]
    assert report["findings"] == []


def test_the_same_change_in_several_contexts_is_one_finding(tmp_path: Path) -> None:
    profiles = {"self_managed_high_availability": "true", "single_node_developer": "true"}
    old, new = (tree(tmp_path / side, w=variant(*enum, **profiles)) for side, enum in (("old", "A"), ("new", "AB")))
    finding = only(diff(old, new))
    assert finding["contexts"] == ["Default/self-managed-high-availability", "Default/single-node-developer"]


def test_changes_only_in_sets_without_upgrade_are_one_level_lower(tmp_path: Path) -> None:
    report = diff(default_and_preview(tmp_path / "old", "A", "A"), default_and_preview(tmp_path / "new", "A", "AB"))
    finding = only(report)
    assert (finding["severity"], finding["owner"]) == ("warning", "status")
    assert finding["contexts"] == ["CustomNoUpgrade/ha", "TechPreviewNoUpgrade/ha"]
    assert "severity lowered" in finding["message"]


def test_different_changes_in_different_sets_are_two_findings(tmp_path: Path) -> None:
    report = diff(default_and_preview(tmp_path / "old", "A", "AB"), default_and_preview(tmp_path / "new", "AC", "ABC"))
    found = [(f["severity"], f["contexts"], f["added"]) for f in report["findings"]]
    assert found == [
        ("error", ["Default/ha"], ["C"]),
        ("warning", ["CustomNoUpgrade/ha", "TechPreviewNoUpgrade/ha"], ["C"]),
    ]


def test_a_variant_that_comes_into_another_set_is_seen_there(tmp_path: Path) -> None:
    """Promoted: what only the preview had is now everybody's. Nothing changes for the preview."""
    old = default_and_preview(tmp_path / "old", "A", "AB")
    new = tree(tmp_path / "new", all=variant("A", "B", ha="true"))
    found = {name: f["added"] for f in diff(old, new)["findings"] for name in f["contexts"]}
    assert found == {"Default/ha": ["B"]}


def test_contexts_on_one_side_only_are_listed(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", w=variant("A", ha="true", single="true"))
    new = tree(tmp_path / "new", w=variant("A", "B", ha="true"), x=variant("A", set="DevPreviewNoUpgrade", ha="true"))
    summary = diff(old, new)["summary"]
    assert summary["contexts"] == ["Default/ha"]
    assert summary["contexts_only_old"] == ["Default/single"]
    assert summary["contexts_only_new"] == ["DevPreviewNoUpgrade/ha"]


def test_a_profile_that_is_not_true_does_not_include(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", a=variant("A", ha="true", ibm="false"), b=variant("A", "Z", ibm="true"))
    new = tree(tmp_path / "new", a=variant("A", "B", ha="true", ibm="false"), b=variant("A", "Z", ibm="true"))
    assert only(diff(old, new))["contexts"] == ["Default/ha"]


def _channels(top: Path, *experimental: str) -> Path:
    """A CRD in two channels: the enum of standard is A."""
    return tree(
        top,
        standard__w=variant("A", channel="standard"),
        experimental__w=variant(*experimental, channel="experimental"),
    )


def test_channels(tmp_path: Path) -> None:
    old = _channels(tmp_path / "old", "A")
    new = _channels(tmp_path / "new", "A", "B")
    report = diff(old, new)
    assert report["summary"]["contexts"] == ["experimental", "standard"]
    assert only(report)["contexts"] == ["experimental"]


def test_a_tree_without_channels_is_in_each_of_the_other_one(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", w=variant("A"))
    new = _channels(tmp_path / "new", "A", "B")
    report = diff(old, new)
    assert report["summary"]["contexts"] == ["experimental", "standard"]
    assert [finding["contexts"] for finding in report["findings"]] == [["experimental"]]


def test_feature_sets_and_channels_have_no_context_in_common(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", w=variant("A", set="Default"))
    new = tree(tmp_path / "new", w=variant("A", "B", channel="standard"))
    ran = run("diff", old, new, "--format", "json")
    summary = ran.report["summary"]
    assert (ran.code, ran.report["findings"], summary["contexts"]) == (2, [], [])
    assert (summary["contexts_only_old"], summary["contexts_only_new"]) == (["Default/default"], ["standard"])


@pytest.mark.parametrize(
    ("annotations", "preset"),
    [
        pytest.param({}, PLAIN, id="none"),
        pytest.param({"ha": "true"}, OPENSHIFT, id="a profile"),
        pytest.param({"set": "Default"}, OPENSHIFT, id="a feature set"),
        pytest.param({"channel": "standard"}, GATEWAY, id="a channel"),
        pytest.param({"channel": "standard", "ha": "true"}, GATEWAY, id="OpenShift ships CRDs of a channel, too"),
    ],
)
def test_the_kind_of_a_tree(annotations: dict[str, str], preset: str) -> None:
    assert preset_of(crd_set("w", variant("A", **annotations)).documents) == preset


def test_a_set_that_only_the_gates_name_is_a_context(tmp_path: Path) -> None:
    document = variant("A")
    document["metadata"]["annotations"] = {GATE: "Wanted"}
    gated = (CrdDocument(read_crd(document), "w.yaml", 0, gated={("Default", "ha"): False, ("Preview", "ha"): True}),)
    assert [str(each) for each in contexts_of(gated, ())] == ["Default/default", "Preview/default"]
    assert preset_of(gated) == OPENSHIFT
