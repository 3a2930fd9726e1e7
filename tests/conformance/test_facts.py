"""What is known about openshift/api 4.12 to 4.16, held to the letter: no finding missing, none too many."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import (
    CONTEXT,
    PAIRS,
    RELEASES,
    Json,
    brief,
    diff,
    field_name,
    git,
    kube,
    load_yaml,
    located,
    manifest,
    places,
    plain_errors,
    prove,
    run,
    schema_of,
    select,
)

from crdcompat import judge

CV = "clusterversions.config.openshift.io"
CSI = "clustercsidrivers.operator.openshift.io"
INFRA = "infrastructures.config.openshift.io"
ENABLED, KNOWN = (f"status.capabilities.{name}[*]" for name in ("enabledCapabilities", "knownCapabilities"))
ADDITIONAL, BASELINE = "spec.capabilities.additionalEnabledCapabilities[*]", "spec.capabilities.baselineCapabilitySet"

Fact = tuple[str, str, str, str, str, tuple[str, ...]]
"""Direction, severity, rule, CRD, path, added."""


def _added(severity: str, crd: str, path: str, *values: str) -> Fact:
    return ("rollback", severity, "enum-value-added", crd, path, values)


def _introduced(crd: str, path: str) -> Fact:
    return ("upgrade", "warning", "enum-introduced", crd, path, ())


#: Everything at error or warning that a cluster of the usual kind gets, pair by pair.
FACTS: dict[str, list[Fact]] = {
    "4.12": [
        _added("error", CV, ENABLED, "NodeTuning"),
        _added("error", CV, KNOWN, "NodeTuning"),
        _added("error", INFRA, "status.platform", "External"),
        _added("error", INFRA, "status.platformStatus.type", "External"),
        _added("warning", "apiservers.config.openshift.io", "spec.encryption.type", "aesgcm"),
        _added("warning", CSI, "spec.driverConfig.driverType", "AWS", "Azure", "GCP"),
        _added("warning", CV, ADDITIONAL, "NodeTuning"),
        _added("warning", CV, BASELINE, "v4.13"),
        _added(
            "warning",
            "controlplanemachinesets.machine.openshift.io",
            "spec.template.machines_v1beta1_machine_openshift_io.failureDomains.platform",
            "External",
        ),
        _added("warning", INFRA, "spec.platformSpec.type", "External"),
        _added("warning", "ingresses.config.openshift.io", "spec.loadBalancer.platform.type", "External"),
    ],
    "4.13": [
        _added("error", CV, ENABLED, "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"),
        _added("error", CV, KNOWN, "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"),
        _added("warning", CV, ADDITIONAL, "MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"),
        _added("warning", CV, BASELINE, "v4.14"),
        _added("warning", CSI, "metadata.name", "secrets-store.csi.k8s.io"),
        _introduced("consoles.operator.openshift.io", "spec.customization.brand"),
    ],
    "4.14": [
        _added("error", CV, ENABLED, "OperatorLifecycleManager", "CloudCredential"),
        _added("error", CV, KNOWN, "OperatorLifecycleManager", "CloudCredential"),
        _added("warning", CSI, "spec.driverConfig.driverType", "IBMCloud"),
        _added("warning", CV, ADDITIONAL, "OperatorLifecycleManager", "CloudCredential"),
        _added("warning", CV, BASELINE, "v4.15"),
        _introduced("authentications.config.openshift.io", "spec.type"),
    ],
    "4.15": [
        _added("error", CV, ENABLED, "Ingress", "CloudControllerManager"),
        _added("error", CV, KNOWN, "Ingress", "CloudControllerManager"),
        _added("warning", CV, ADDITIONAL, "Ingress", "CloudControllerManager"),
        _added("warning", CV, BASELINE, "v4.16"),
        _added("warning", CSI, "metadata.name", "smb.csi.k8s.io"),
        _introduced("featuregates.config.openshift.io", "spec.featureSet"),
        _introduced("machineconfigurations.operator.openshift.io", "status.conditions[*].status"),
    ],
}


def _fact(finding: Json) -> tuple[Any, ...]:
    return (*brief(finding), tuple(finding["added"]))


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_errors_and_warnings(reports: dict[str, Json], pair: tuple[str, str]) -> None:
    reported = [f for f in select(reports[pair[0]], context=CONTEXT) if f["severity"] in ("error", "warning")]
    enum = [f for f in reported if f["rule"].startswith("enum-")]
    assert sorted(map(_fact, enum)) == sorted(FACTS[pair[0]])
    assert all(finding["effect"] == "write-rejected" for finding in enum)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_the_enum_text_says_the_same(openshift_api: Path, reports: dict[str, Json], pair: tuple[str, str]) -> None:
    """Every finding's added values stand in the manifest of NEW, at the place named, and not in that of OLD."""
    for finding in select(reports[pair[0]], context=CONTEXT, rule="enum-value-added"):
        sides = []
        for side, release in zip(("old", "new"), pair, strict=True):
            file = located(finding, side)
            lines = git(openshift_api, "show", f"origin/release-{release}:{file}").splitlines()
            place = next(spot for spot in finding["locations"] if (spot["side"], spot["file"]) == (side, file))
            assert place["column"] >= 1
            sides.append((lines, lines[place["line"] - 1]))
        (_, old_line), (_, new_line) = sides
        assert old_line.strip() == "enum:"
        assert load_yaml(new_line.strip().removeprefix("- ")) == finding["added"][0]


def test_exactly_two_errors_in_the_whole_tree_of_4_14(reports: dict[str, Json]) -> None:
    found = [finding for finding in reports["4.13"]["findings"] if finding["severity"] == "error"]
    assert [(f["crd"], f["path"], f["added"]) for f in found] == [
        (CV, ENABLED, ["MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"]),
        (CV, KNOWN, ["MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"]),
    ]


@pytest.mark.parametrize(
    ("path", "owner"), [(ADDITIONAL, "spec"), (BASELINE, "spec"), ("metadata.name", "metadata"), (ENABLED, "status")]
)
def test_owners(reports: dict[str, Json], path: str, owner: str) -> None:
    assert {f["owner"] for f in reports["4.13"]["findings"] if f["path"] == path} == {owner}


def test_route_termination_policy_is_no_enum_finding(reports: dict[str, Json]) -> None:
    """4.13 closed the field through allOf and anyOf already: the enum of 4.14 rejects nothing new."""
    found = [f for f in reports["4.13"]["findings"] if f["path"] == "spec.tls.insecureEdgeTerminationPolicy"]
    assert found == []


def test_dns_platform_external_is_no_finding(reports: dict[str, Json], openshift_api: Path) -> None:
    """A rule of 4.13 itself forbids the value that its enum gained."""
    dns = "dnses.config.openshift.io"
    assert not [f for f in reports["4.12"]["findings"] if f["crd"] == dns and f["path"] == "spec.platform.type"]
    crd = manifest(openshift_api, "4.13", "config/v1/0000_10_config-operator_01_dns.crd.yaml")
    body = {"baseDomain": "a.b", "platform": {"type": "External"}}
    dnses = {"apiVersion": "config.openshift.io/v1", "kind": "DNS", "metadata": {"name": "cluster"}, "spec": body}
    verdict = judge(crd, "validate", dnses, kubernetes=kube("4.13"))
    assert verdict.accepted is False
    assert {error.field for error in verdict.errors} == {"spec.platform.type"}


def test_ibm_cloud_driver_has_a_witness_with_its_member(reports: dict[str, Json]) -> None:
    (finding,) = [f for f in reports["4.14"]["findings"] if f["path"] == "spec.driverConfig.driverType"]
    assert finding["added"] == ["IBMCloud"]
    witness = finding["witness"]["object"]
    assert witness is not None, finding["witness"]["reason"]
    assert witness["spec"]["driverConfig"]["driverType"] == "IBMCloud"
    assert witness["spec"]["driverConfig"]["ibmcloud"]["encryptionKeyCRN"]


def _crds(clone: Path, finding: Json, pair: tuple[str, str]) -> list[tuple[Json, Json]]:
    """The manifests of both sides that the finding names, each with each (they are the same schema but for text)."""
    files = {side: {f["file"] for f in finding["locations"] if f["side"] == side} for side in ("old", "new")}
    olds, news = (
        [manifest(clone, release, file) for file in sorted(files[side])]
        for side, release in zip(("old", "new"), pair, strict=True)
    )
    return [(olds[0], news[0])] + [(a, b) for a in olds for b in news if (a, b) != (olds[0], news[0])]


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_every_witness_holds_and_is_minimal(
    reports: dict[str, Json], openshift_api: Path, pair: tuple[str, str]
) -> None:
    wrong = []
    for finding in reports[pair[0]]["findings"]:
        if not finding["rule"].startswith(("enum-", "property-")):
            continue
        if "also rejected for another reason" in (finding["witness"]["reason"] or ""):
            continue  # a loss that was found behind a rejection alone has no witness
        (old, new), *_ = _crds(openshift_api, finding, pair)
        try:
            prove(finding, old, new, old_kube=kube(pair[0]), new_kube=kube(pair[1]))
        except AssertionError as error:
            wrong.append(str(error)[:400])
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_every_enum_witness_holds_in_plain_json_schema(
    reports: dict[str, Json], openshift_api: Path, pair: tuple[str, str]
) -> None:
    """A judge that shares no code with the program."""
    judged = 0
    for finding in reports[pair[0]]["findings"]:
        if not finding["rule"].startswith("enum-") or finding["path"] == "metadata.name":
            continue
        witness = finding["witness"]["object"]
        if witness is None:
            continue  # another test asks for it
        judged += 1
        old, new = _crds(openshift_api, finding, pair)[0]
        reader, writer = (old, new) if finding["direction"] == "rollback" else (new, old)
        stored = judge(writer, "validate", witness, version=finding["version"]).object or {}
        assert plain_errors(schema_of(writer, finding["version"]), stored) == []
        fields = {field_name(place) for place in places(stored, finding["path"])}
        wrong = plain_errors(schema_of(reader, finding["version"]), stored)
        assert {("enum", field) for field in fields} & set(wrong), (brief(finding), wrong)
    assert judged >= 5


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_every_rollback_finding_says_the_reader_s_sentence(reports: dict[str, Json], pair: tuple[str, str]) -> None:
    for finding in select(reports[pair[0]], effect="write-rejected"):
        if finding["witness"]["object"] is None:
            continue
        said = "Unsupported value: " if finding["rule"].startswith("enum-") else ": "
        assert any(said in error for error in finding["witness"]["errors"])


def test_the_known_sentence(reports: dict[str, Json]) -> None:
    (finding,) = [f for f in reports["4.13"]["findings"] if f["path"] == ENABLED]
    supported = '"openshift-samples", "baremetal", "marketplace", "Console", "Insights", "Storage", '
    supported += '"CSISnapshot", "NodeTuning"'
    field = "status.capabilities.enabledCapabilities[0]"
    assert finding["witness"]["errors"] == [f'{field}: Unsupported value: "MachineAPI": supported values: {supported}']


def test_feature_sets_that_cannot_be_rolled_back_count_one_less(reports: dict[str, Json]) -> None:
    for report in reports.values():
        for finding in report["findings"]:
            terminal = all(name.partition("/")[0].endswith("NoUpgrade") for name in finding["contexts"])
            assert terminal == ("severity lowered" in finding["message"]), brief(finding)
            assert not (terminal and finding["severity"] == "error"), brief(finding)
            policy = {
                ("rollback", "write-rejected", True): "error",
                ("rollback", "write-rejected", False): "warning",
                ("upgrade", "write-rejected", True): "warning",
                ("upgrade", "write-rejected", False): "warning",
            }
            severity = policy.get((finding["direction"], finding["effect"], finding["owner"] == "status"), "info")
            if (finding["direction"], finding["rule"]) == ("upgrade", "property-removed"):
                severity = "warning"
            lower = {"error": "warning", "warning": "info", "info": "info"}
            if finding["rule"].startswith(("enum-", "property-")):
                assert finding["severity"] == (lower[severity] if terminal else severity), brief(finding)


def test_undecided_names_keyword_and_path(reports: dict[str, Json]) -> None:
    for report in reports.values():
        for entry in report["undecided"]:
            assert entry["keyword"]
            assert entry["reason"]
            assert entry["contexts"]
            assert entry["locations"]
            assert entry["old"] != entry["new"] or "disagree" in entry["reason"] or isinstance(entry["old"], dict)
    assert {entry["keyword"] for entry in reports["4.13"]["undecided"]} >= {"x-kubernetes-validations", "pattern"} or (
        # What a later rule decides is no longer here, but then it is a finding.
        {f["rule"].partition("-")[0] for f in reports["4.13"]["findings"]} - {"enum", "property"}
    )


# -- files move, copies appear: identity is the name ---------------------------------------------


def test_all_crds_of_both_releases_are_paired_though_every_file_moved(
    openshift_api: Path, reports: dict[str, Json]
) -> None:
    crds = reports["4.15"]["summary"]["crds"]
    assert crds["compared"] + len(crds["only_old"]) == crds["old"]
    assert crds["compared"] + len(crds["only_new"]) == crds["new"]
    assert crds["compared"] > 70
    moved = [
        finding
        for finding in reports["4.15"]["findings"]
        if {f["file"] for f in finding["locations"] if f["side"] == "old"}
        & {f["file"] for f in finding["locations"] if f["side"] == "new"}
    ]
    assert not moved
    assert all("zz_generated.crd-manifests" in located(f, "new") for f in select(reports["4.15"], crd=CV))


def test_payload_copies_collapse_into_the_same_finding(openshift_api: Path, reports: dict[str, Json]) -> None:
    """4.16 has some CRDs twice, below zz_generated.crd-manifests and below payload-manifests/crds."""
    listed = git(openshift_api, "ls-tree", "-r", "--name-only", "origin/release-4.16", "payload-manifests/crds")
    copied = {manifest(openshift_api, "4.16", file)["metadata"]["name"] for file in listed.splitlines()}
    report = reports["4.15"]
    assert {"featuregates.config.openshift.io", INFRA} <= copied & {f["crd"] for f in report["findings"]}
    for finding in report["findings"]:
        same = [f for f in report["findings"] if _fact(f) == _fact(finding) and f["version"] == finding["version"]]
        # Else separate findings: only where OLD or NEW says something else.
        assert len({json.dumps([f["old"], f["new"]]) for f in same}) == len(same), brief(finding)
    (finding,) = select(report, crd="featuregates.config.openshift.io", path="spec.featureSet", rule="enum-introduced")
    assert len(finding["contexts"]) == len(set(finding["contexts"])) == 6


def test_fragments_suites_and_others_are_skipped_with_a_reason(reports: dict[str, Json]) -> None:
    skipped = reports["4.15"]["summary"]["skipped"]
    reasons = {entry["reason"] for entry in skipped}
    assert {"fragment of a feature gate", "fragment: manual override", "test suite", "no CRD", "test data"} <= reasons
    assert all(entry["file"] and entry["reason"] for entry in skipped)
    new = {entry["file"] for entry in skipped if entry["side"] == "new"}
    assert any("zz_generated.featuregated-crd-manifests/" in file for file in new)
    assert any("/tests/" in file for file in new)
    assert len(new) == len([entry for entry in skipped if entry["side"] == "new"])


def test_real_releases_read_without_a_problem(reports: dict[str, Json]) -> None:
    assert [problem for report in reports.values() for problem in report["summary"]["problems"]] == []


# -- no change, no finding ---------------------------------------------


def _nothing(report: Json) -> None:
    assert report["findings"] == []
    assert report["undecided"] == []
    assert report["summary"]["crds"]["changed"] == 0
    assert report["summary"]["text_only_changes"] == 0
    assert report["summary"]["crds"]["only_old"] == report["summary"]["crds"]["only_new"] == []
    assert report["summary"]["crds"]["compared"] > 50


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_against_itself(openshift_api: Path, release: str) -> None:
    _nothing(diff(f"release-{release}", f"origin/release-{release}", cwd=openshift_api))


def _reordered(value: Any) -> Any:
    """Every map the other way round; lists stay, their order means something."""
    if isinstance(value, dict):
        return {key: _reordered(value[key]) for key in reversed(value)}
    return [_reordered(item) for item in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def files(openshift_api: Path) -> dict[str, Json]:
    """The CRD documents of 4.14 by path."""
    listed = git(
        openshift_api, "grep", "-l", "kind: CustomResourceDefinition", "origin/release-4.14", "--", "*.yaml"
    ).splitlines()
    found = {}
    for name in (line.partition(":")[2] for line in listed):
        if not {"vendor", "testdata", "tests"} & set(name.split("/")):
            data = manifest(openshift_api, "4.14", name)
            if data.get("kind") == "CustomResourceDefinition":
                found[name] = data
    assert len(found) > 80
    return found


@pytest.mark.parametrize("form", ["yaml", "json", "moved", "one file"])
def test_a_release_against_a_copy_in_another_form(
    openshift_api: Path, files: dict[str, Json], tmp_path: Path, form: str
) -> None:
    dump = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    stream: list[str] = []
    for index, (name, data) in enumerate(sorted(files.items())):
        path, text = tmp_path / name, ""
        if form == "yaml":
            text = yaml.dump(_reordered(data), Dumper=dump, default_flow_style=False, width=60)
        elif form == "json":
            path, text = path.with_suffix(".json"), json.dumps(_reordered(data))
        elif form == "moved":
            # The folder of a version decides between documents that disagree: it moves along.
            path = tmp_path / "moved" / Path(name).parent.name / f"{index}.yaml"
            text = json.dumps(data)
        else:
            stream.append(json.dumps(data))
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    if stream:
        (tmp_path / "all.json").write_text("\n".join(stream))
    report = diff("release-4.14", tmp_path, cwd=openshift_api)
    if form == "one file":  # here no folder decides which of two consoleplugins documents counts
        report["undecided"] = [e for e in report["undecided"] if "consoleplugins" not in e["crd"]]
        report["findings"] = [f for f in report["findings"] if "consoleplugins" not in f["crd"]]
        report["summary"]["crds"]["changed"] = 0
    _nothing(report)


@pytest.mark.parametrize("direction", ["rollback", "upgrade"])
def test_direction_is_a_filter(openshift_api: Path, reports: dict[str, Json], direction: str) -> None:
    report = diff("release-4.13", "release-4.14", "--direction", direction, cwd=openshift_api)
    assert report["findings"] == select(reports["4.13"], direction=direction)


def test_swapped_sides_swap_the_directions(openshift_api: Path, reports: dict[str, Json]) -> None:
    """What is added one way is removed the other way."""
    back = diff("release-4.14", "release-4.13", "--any-order", cwd=openshift_api)
    there = {
        (f["crd"], f["path"], tuple(f["added"]))
        for f in select(reports["4.13"], rule="enum-value-added", direction="rollback")
    }
    assert there == {
        (f["crd"], f["path"], tuple(f["removed"])) for f in select(back, rule="enum-value-removed", direction="upgrade")
    }


def test_exit_codes_on_real_releases(openshift_api: Path) -> None:
    assert run("diff", "release-4.13", "release-4.14", cwd=openshift_api).code == 1
    assert run("diff", "release-4.13", "release-4.14", "--fail-on", "never", cwd=openshift_api).code == 0
    assert run("diff", "release-4.13", "release-4.14", "--owner", "spec", cwd=openshift_api).code == 0
    assert run("diff", "release-4.13", "release-4.13", "--fail-on", "info", cwd=openshift_api).code == 0
