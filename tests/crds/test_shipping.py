"""Which copies of a CRD decide where they differ: those that ship, by what the trees themselves say."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from helpers import Json, commit, crd, git, obj, root, run, spawn, string, version, write

import crdcompat
from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.shipping import NOWHERE

#: Files of a tree: a text, or the letters of a Widget's enum, of which a second CRD (lower case) is a Gadget.
_Files = Mapping[str, str]


def _copy(values: str) -> Json:
    return crd(root(status=obj(phase=string(*values.upper()))), kind="Gadget" if values.islower() else "Widget")


def _tree(top: Path, files: _Files) -> Path:
    top.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        if content.isalpha():
            write(top / path, _copy(content))
        else:
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(content)
    return top


def _diff(top: Path, old: _Files, new: _Files, *arguments: str, code: int) -> Json:
    ran = run("diff", _tree(top / "old", old), _tree(top / "new", new), *arguments, "--format", "json")
    assert ran.code == code, ran.err
    return ran.report


def _errors(report: Json) -> list[tuple[str, str, str]]:
    """The errors of NEW's writes under OLD's CRD: CRD, the values of OLD and those that NEW adds."""
    found = (
        each
        for each in report["findings"]
        if each["severity"] == "error" and (each["direction"] == "rollback") != ("window" in each)
    )
    return sorted((each["crd"][0], "".join(each["old"] or ""), "".join(each["added"])) for each in found)


def _aside(report: Json) -> list[str]:
    return sorted({each["file"] for each in report["summary"]["superseded"]})


def _said(report: Json) -> list[str]:
    return [note for note in report["new"]["notes"] if note.endswith(": -v")]


_LISTS_CRDS = "resources: [bases/w.yaml]\n"
_INSTALLS = "resources: [../crd, deployment.yaml]\n"
_DEPLOYMENT = "kind: Deployment\napiVersion: apps/v1\nmetadata: {name: a}\n"
_KUBEBUILDER = {
    "config/crd/kustomization.yaml": _LISTS_CRDS,
    "config/default/kustomization.yaml": _INSTALLS,
    "config/default/deployment.yaml": _DEPLOYMENT,
}
_FULL, _MINIMAL = "crds/full/kustomization.yaml", "crds/minimal/kustomization.yaml"
_FLAVOURS = {
    _FULL: "resources: [w.yaml]\n",
    _MINIMAL: "resources: [w.yaml]\n",
    "install/deployment.yaml": _DEPLOYMENT,
    "install/kustomization.yaml": "resources: [deployment.yaml, ../crds/minimal]\n",
}


_SAID = [
    pytest.param(
        _KUBEBUILDER,
        "config/crd/bases/w.yaml",
        "bundle/w.yaml",
        "from config/crd/kustomization.yaml",
        id="kustomize",
    ),
    pytest.param(
        {"config/crd/kustomization.yaml": _LISTS_CRDS},
        "config/crd/bases/w.yaml",
        "bundle/w.yaml",
        "from config/crd/kustomization.yaml",
        id="a kustomization of CRDs alone",
    ),
    pytest.param(_FLAVOURS, "crds/minimal/w.yaml", "crds/full/w.yaml", f"from {_MINIMAL}", id="flavours"),
    pytest.param({"op/Chart.yaml": "name: op\n"}, "op/crds/w.yaml", "a/w.yaml", "from op/Chart.yaml", id="crds"),
    pytest.param(
        {"op/Chart.yaml": "name: op\n"}, "op/templates/w.yaml", "a/w.yaml", "from op/Chart.yaml", id="templates"
    ),
    pytest.param(
        {"bundle.Dockerfile": "FROM scratch\nCOPY bundle/manifests /manifests/\n"},
        "bundle/manifests/w.yaml",
        "a/w.yaml",
        "from bundle.Dockerfile",
        id="bundle",
    ),
    pytest.param(
        {"PROJECT": "domain: example.com\n"}, "config/crd/bases/w.yaml", "a/w.yaml", "from PROJECT", id="project"
    ),
    pytest.param(
        {"Makefile": "DIR ?= deploy/made\n\tcontroller-gen crd output:crd:artifacts:config=$(DIR) paths=./...\n"},
        "deploy/made/w.yaml",
        "a/w.yaml",
        "from Makefile",
        id="controller-gen",
    ),
    pytest.param(
        {
            "crd/kustomization.yaml": "resources: [bases/w.yaml]\npatches:\n- path: p.yaml\n"
            "  target: {name: widgets.example.com}\n",
            "crd/p.yaml": "[{op: add, path: /spec/versions/0, value: {name: v0, served: false}}]\n",
            "Makefile": "DIR = ./deploy\n\tcontroller-gen crd output:crd:dir=crd/bases paths=./...\n"
            "\t$(KUSTOMIZE) build crd/ > $(DIR)/crd.yaml\n",
        },
        "deploy/crd.yaml",
        "crd/bases/w.yaml",
        "from Makefile",
        id="what kustomize writes where it changes versions",
    ),
    pytest.param(
        {".github/workflows/release.yaml": "jobs: {a: {steps: [{with: {files: dist/*.yaml}}]}}\n"},
        "dist/w.yaml",
        "a/w.yaml",
        "from .github/workflows/release.yaml",
        id="release files",
    ),
    pytest.param(
        {"pkg/crds.go": 'package a\n\n//go:embed "own/*.yaml" all:more\nvar files embed.FS\n'},
        "pkg/more/v1/w.yaml",
        "a/w.yaml",
        "from pkg/crds.go",
        id="what a Go program carries",
    ),
    pytest.param({"crds/g.yaml": "ab"}, "crds/w.yaml", "a/w.yaml", "the folder with the most CRDs", id="most CRDs"),
    pytest.param({}, "crds/w.yaml", "design/w.yaml", "by the names of the other folders", id="a design"),
    pytest.param({}, "w.yaml", "releases/op-1.2.3.yaml", "by the names of the other folders", id="an archive"),
    pytest.param({}, "crds/w.yaml", "api/src/test/w.yaml", "by the names of the other folders", id="a test"),
    pytest.param(
        {"demo/kustomization.yaml": "resources: [w.yaml, d.yaml]\n", "demo/d.yaml": _DEPLOYMENT},
        "crds/w.yaml",
        "demo/w.yaml",
        "by the names of the other folders",
        id="a demonstration's",
    ),
    pytest.param({}, "crds/w.yaml", "hack/w.yaml", "by the names of the other folders", id="a script's"),
    pytest.param(
        {"crd/experimental/g.yaml": "ab"},
        "crd/standard/w.yaml",
        "crd/experimental/w.yaml",
        "by the names of the other folders",
        id="on request",
    ),
    pytest.param(
        {
            "bases/kustomization.yaml": "resources: [w.yaml]\n",
            "made/kustomization.yaml": "resources: [../bases]\npatches:\n- path: p.yaml\n"
            "  target: {kind: CustomResourceDefinition}\n",
            "made/p.yaml": "[{op: remove, path: /spec/versions/0/schema/openAPIV3Schema/properties/spec}]\n",
            "op/Chart.yaml": "name: op\n",
        },
        "op/templates/w.yaml",
        "bases/w.yaml",
        "from op/Chart.yaml",
        id="what a kustomization patches is no copy of a cluster",
    ),
]


@pytest.mark.parametrize(("said", "ships", "stale", "what"), _SAID)
def test_the_copy_that_ships_decides(tmp_path: Path, said: _Files, ships: str, stale: str, what: str) -> None:
    same, changed = tmp_path / "same", tmp_path / "changed"
    report = _diff(same, {**said, ships: "A", stale: "C"}, {**said, ships: "A", stale: "CD"}, code=0)
    assert (report["findings"], report["undecided"], _aside(report)) == ([], [], [stale])
    folder = ships.rpartition("/")[0] or "the top folder"
    assert _said(report) == [f"CRDs of {folder}, {what}; 2 copies elsewhere differ: -v"]
    report = _diff(changed, {**said, ships: "A", stale: "C"}, {**said, ships: "AB", stale: "C"}, code=1)
    assert (_errors(report), _aside(report)) == ([("w", "A", "B")], [stale])


@pytest.mark.parametrize("said", ["PROJECT", "Makefile"])
def test_a_file_that_kustomizations_leave_out_decides_nothing(tmp_path: Path, said: str) -> None:
    """multiclusterhub-operator 2.15: a CRD that another folder ships has an old copy in config/crd/bases."""
    text = {"PROJECT": "domain: example.com\n", "Makefile": "\tcontroller-gen output:crd:dir=config/crd/bases\n"}[said]
    both = {**_KUBEBUILDER, said: text, "config/crd/bases/w.yaml": "A", "config/crd/bases/g.yaml": "a"}
    report = _diff(tmp_path, {**both, "pkg/g.yaml": "ac"}, {**both, "pkg/g.yaml": "acd"}, code=1)
    assert (_errors(report), _aside(report)) == ([("g", "AC", "D")], [])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param({"bundle/w.yaml": "A"}, {}, id="gone"),
        pytest.param({}, {"bundle/w.yaml": "AB"}, id="come"),
        pytest.param({"bundle/w.yaml": "A"}, {"deploy/w.yaml": "ABC"}, id="moved and changed"),
    ],
)
def test_a_copy_of_one_side_is_a_note(tmp_path: Path, old: _Files, new: _Files) -> None:
    both = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "AC"}
    report = _diff(tmp_path, {**both, **old}, {**both, **new}, code=0)
    assert (report["findings"], _aside(report)) == ([], sorted({*old, *new}))


def test_a_further_copy_with_more_versions_is_a_note_without_evidence(tmp_path: Path) -> None:
    """strimzi 1.0: the copy of an older API for tests has the version that ships, and the one before it."""
    one = crd(versions=[version(root(phase=string()), "v2")])
    both = crd(versions=[version(root(phase=string()), "v1", storage=False), version(root(phase=string()), "v2")])
    for side, files in (("old", {"a": one, "b": both}), ("new", {"a": one})):
        for name, made in files.items():
            write(tmp_path / side / name / "w.yaml", made)
    ran = run("diff", tmp_path / "old", tmp_path / "new", "--format", "json")
    assert (ran.report["findings"], ran.code, _aside(ran.report)) == ([], 0, ["b/w.yaml"])


def test_copies_elsewhere_that_agree_keep_their_lines(tmp_path: Path) -> None:
    old = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "A", "charts/w.yaml": "A", "bundle/w.yaml": "C"}
    new = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "AB", "charts/w.yaml": "AB", "bundle/w.yaml": "C"}
    report = _diff(tmp_path, old, new, code=1)
    (finding,) = (each for each in report["findings"] if each["direction"] == "rollback")
    places = {each["file"] for each in finding["locations"]}
    assert places == {"config/crd/bases/w.yaml", "charts/w.yaml"}
    said = "from config/crd/kustomization.yaml; 2 copies elsewhere agree, 2 differ: -v"
    assert _said(report) == [f"CRDs of config/crd/bases, {said}"]
    shown = run("diff", tmp_path / "old", tmp_path / "new").out
    assert shown.count("bundle/w.yaml") == 0
    listed = " ".join(run("diff", tmp_path / "old", tmp_path / "new", "-v").out.split())
    assert "widgets.example.com: bundle/w.yaml is ignored, config/crd/bases/w.yaml is used" in listed


def test_a_copy_that_agrees_on_one_side_alone_has_no_counterpart(tmp_path: Path) -> None:
    """KServe: the copy of a folder agrees with the chart's in OLD, and differs in NEW; a flavour is beside it."""
    charts = {"big/Chart.yaml": "name: big\n", "small/Chart.yaml": "name: small\n", "small/crds/w.yaml": "X"}
    old = {**charts, "big/crds/w.yaml": "A", "config/big/w.yaml": "A", "config/small/w.yaml": "X"}
    new = {
        **charts,
        "big/crds/w.yaml": "AB",
        "config/big/w.yaml": "AC",
        "config/small/w.yaml": "X",
        "next/w.yaml": "AB",
    }
    report = _diff(tmp_path, old, new, code=1)
    assert (_errors(report), _aside(report)) == ([("w", "A", "B")], ["config/big/w.yaml", "next/w.yaml"])


_ADAPTED = {
    "crd/kustomization.yaml": "resources: [full/w.yaml]\npatches:\n- patch: |\n"
    "    [{op: remove, path: /spec/versions/0/schema/openAPIV3Schema/properties/spec}]\n"
    "  target: {kind: CustomResourceDefinition}\n",
    "crd/minimal/kustomization.yaml": "resources: [w.yaml]\n",
    "default/kustomization.yaml": "resources: [../crd, d.yaml]\n",
    "default/d.yaml": _DEPLOYMENT,
}


@pytest.mark.parametrize(
    ("more", "changed", "errors"),
    [
        ({"op/Chart.yaml": "name: op\n"}, "op/crds/w.yaml", [("w", "A", "B")]),
        ({}, "op/crds/w.yaml", []),
        ({"op/Chart.yaml": "name: op\n", "default/kustomization.yaml": "resources: [d.yaml]\n"}, "op/crds/w.yaml", []),
    ],
    ids=["a chart", "no other evidence", "what nobody installs"],
)
def test_a_list_of_crds_beside_an_adapted_copy_is_that_of_a_flavour(
    tmp_path: Path, more: _Files, changed: str, errors: list[tuple[str, str, str]]
) -> None:
    """KServe: what is installed is patched; the list of the flavour without schemas says nothing of it."""
    old = {**_ADAPTED, **more, "crd/full/w.yaml": "AC", "crd/minimal/w.yaml": "X", "op/crds/w.yaml": "A"}
    report = _diff(tmp_path, old, {**old, changed: "AB"}, code=1 if errors else 0)
    assert _errors(report) == errors


@pytest.mark.parametrize(("changed", "value"), [("op/crds/w.yaml", "A"), ("bundle/manifests/w.yaml", "C")])
def test_a_chart_and_a_bundle_both_ship(tmp_path: Path, changed: str, value: str) -> None:
    """NetObserv: some install with Helm, others with OLM; neither copy takes the place of the other."""
    said = {"op/Chart.yaml": "name: op\n", "bundle.Dockerfile": "COPY bundle/manifests /manifests/\n"}
    old = {**said, "op/crds/w.yaml": "A", "bundle/manifests/w.yaml": "C", "config/w.yaml": "X"}
    report = _diff(tmp_path, old, {**old, changed: f"{value}B", "config/w.yaml": "XY"}, code=1)
    assert (_errors(report), _aside(report)) == ([("w", value, "B")], ["config/w.yaml"])


@pytest.mark.parametrize(("name", "errors"), [("crds.go", [("w", "C", "B")]), ("crds_test.go", [])])
def test_all_that_a_go_program_carries_ships(tmp_path: Path, name: str, errors: list[tuple[str, str, str]]) -> None:
    """Tigera's operator has the CRDs of two products, and installs those of one; one folder has more of them."""
    embeds = 'import _ "embed"\n//go:embed big\nvar big embed.FS\n//go:embed small/*\nvar small embed.FS\n'
    old = {f"crds/{name}": embeds, "crds/big/w.yaml": "A", "crds/big/g.yaml": "a", "crds/small/w.yaml": "C"}
    report = _diff(tmp_path, old, {**old, "crds/small/w.yaml": "CB"}, code=1 if errors else 0)
    assert (_errors(report), _aside(report)) == (errors, [] if errors else ["crds/small/w.yaml"])


def test_a_program_that_carries_one_crd_says_nothing_of_others(tmp_path: Path) -> None:
    """A list of a kustomization leaves out the other files of a folder; what a program carries leaves out none."""
    said = {"PROJECT": "domain: example.com\n", "config/crd/carried.go": "package crd\n\n//go:embed bases/w.yaml\n"}
    both = {**said, "config/crd/bases/w.yaml": "A", "old/g.yaml": "c"}
    bases = "config/crd/bases/g.yaml"
    report = _diff(tmp_path, {**both, bases: "a"}, {**both, bases: "ab"}, code=1)
    assert (_errors(report), _aside(report)) == ([("g", "A", "B")], ["old/g.yaml"])


def test_a_crd_that_another_place_ships_is_compared(tmp_path: Path) -> None:
    """The kustomization lists one CRD, the chart has the other: each has its own evidence."""
    said = {**_KUBEBUILDER, "op/Chart.yaml": "name: op\n", "config/crd/bases/w.yaml": "A", "bundle/w.yaml": "C"}
    report = _diff(tmp_path, {**said, "op/crds/g.yaml": "a"}, {**said, "op/crds/g.yaml": "ab"}, code=1)
    assert (_errors(report), _aside(report)) == ([("g", "A", "B")], ["bundle/w.yaml"])


def test_folders_that_ship_as_much_are_named_in_order(tmp_path: Path) -> None:
    files = {"chart/w.yaml": "A", "config/w.yaml": "A", "deploy/w.yaml": "A", "test/w.yaml": "C"}
    sides = _tree(tmp_path / "old", files), _tree(tmp_path / "new", files)
    runs = [spawn("diff", *sides, "-v", env={**os.environ, "PYTHONHASHSEED": seed}).out for seed in "1234"]
    assert all("CRDs of chart and 2 more folders, by the names" in out for out in runs), runs


def test_the_first_kind_of_evidence_that_both_sides_have_decides(tmp_path: Path) -> None:
    """OLD has no kustomization that installs more than CRDs yet: the one that lists them counts on both sides."""
    old = {"config/crd/kustomization.yaml": _LISTS_CRDS, "config/crd/bases/w.yaml": "A", "bundle/w.yaml": "C"}
    new = {**old, **_KUBEBUILDER, "op/Chart.yaml": "name: op\n", "op/crds/w.yaml": "C", "bundle/w.yaml": "CD"}
    report = _diff(tmp_path, old, new, code=0)
    assert (report["findings"], _aside(report)) == ([], ["bundle/w.yaml", "op/crds/w.yaml"])


def test_a_crd_that_stays_in_tests_alone_is_removed(tmp_path: Path) -> None:
    old = {"config/w.yaml": "A", "config/g.yaml": "a", "test/w.yaml": "C"}
    report = _diff(tmp_path, old, {"config/g.yaml": "a", "test/w.yaml": "C"}, code=1)
    assert [(each["rule"], each["crd"]) for each in report["findings"]] == [("crd-removed", "widgets.example.com")]


def test_a_crd_of_tests_does_not_ship_where_the_tree_says_what_does(tmp_path: Path) -> None:
    old = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "A", "test/g.yaml": "a"}
    report = _diff(tmp_path, old, {**old, "test/g.yaml": "ab", "design/n.yaml": "kind: [\n"}, code=0)
    assert (report["findings"], report["summary"]["problems"]) == ([], [])
    assert [each["file"] for each in report["summary"]["skipped"] if each["reason"] == NOWHERE] == ["test/g.yaml"] * 2
    assert _said(report) == ["1 CRD is only in folders of tests, designs, examples or scripts, and not compared: -v"]


@pytest.mark.parametrize("place", ["examples", "tools/hack", "third_party/op", "common/scripts", "prow/config"])
def test_a_crd_of_examples_ships_only_where_the_tree_has_no_other_place(tmp_path: Path, place: str) -> None:
    alone = {f"{place}/g.yaml": "a"}
    changed = {f"{place}/g.yaml": "ab"}
    assert _errors(_diff(tmp_path / "alone", alone, changed, code=1)) == [("g", "A", "B")]
    beside = {"crds/w.yaml": "A", "crds/n.yaml": json.dumps(crd(kind="Nothing"))}
    report = _diff(tmp_path / "beside", {**beside, **alone}, {**beside, **changed}, code=0)
    assert (report["findings"], _said(report)) == (
        [],
        ["1 CRD is only in folders of tests, designs, examples or scripts, and not compared: -v"],
    )
    report = _diff(tmp_path / "moved", {**beside, **alone}, {**beside, "crds/g.yaml": "ab"}, code=1)
    assert _errors(report) == [("g", "A", "B")]


def test_variants_of_others_decide_nothing(tmp_path: Path) -> None:
    """Channels of the Gateway API in a folder of others are no contexts of the tree's own CRDs."""
    gateway = crd(kind="Gateway")
    gateway["metadata"]["annotations"] = {"gateway.networking.k8s.io/channel": "standard"}
    files = {"crds/w.yaml": "A", "crds/g.yaml": "a", "third_party/gateway.yaml": json.dumps(gateway)}
    report = _diff(tmp_path, files, {**files, "crds/w.yaml": "AB"}, code=1)
    assert (_errors(report), report["summary"]["contexts"]) == ([("w", "A", "B")], ["default"])
    assert _said(report) == ["1 CRD is only in folders of tests, designs, examples or scripts, and not compared: -v"]


@pytest.mark.parametrize("place", ["cluster-up/kind/w.yaml", "ci/cluster-sync/w.yaml"])
def test_a_crd_that_scripts_put_into_clusters_of_developers_never_ships(tmp_path: Path, place: str) -> None:
    """An operator that makes its CRDs in Go has no other manifests."""
    report = _diff(tmp_path, {place: "A"}, {place: "AB"}, code=2)
    assert (report["findings"], report["summary"]["crds"]["compared"]) == ([], 0)
    assert [each["reason"] for each in report["summary"]["skipped"]] == [NOWHERE] * 2


def test_a_crd_of_tests_does_not_ship_beside_one_in_the_documentation(tmp_path: Path) -> None:
    """Nothing but folders' names says what ships; a clean change of the fixtures has a base, too."""
    old = {"docs/reference/w.yaml": "A", "integration/fixtures/g.yaml": "a"}
    report = _diff(tmp_path, old, {**old, "integration/fixtures/g.yaml": "ab"}, code=0)
    assert (report["findings"], _said(report)) == (
        [],
        ["1 CRD is only in folders of tests, designs, examples or scripts, and not compared: -v"],
    )


def _of_channel(values: str) -> str:
    made = _copy(values)
    made["metadata"]["annotations"] = {"gateway.networking.k8s.io/channel": "standard"}
    return json.dumps(made)


def _of_openshift(values: str) -> str:
    made = _copy(values)
    made["metadata"]["annotations"] = {"include.release.openshift.io/ibm-cloud-managed": "true"}
    return json.dumps(made)


@pytest.mark.parametrize(("folder", "rules"), [("samples", ["crd-removed"]), ("test", []), ("samples/more", [])])
def test_a_crd_that_goes_while_those_beside_it_move_is_removed(tmp_path: Path, folder: str, rules: list[str]) -> None:
    """APISIX kept its CRDs in samples/deploy, moved them to config/crd, and dropped one of them."""
    old = {"samples/w.yaml": "A", f"{folder}/g.yaml": "a"}
    new = {"config/crd/w.yaml": "A", "config/crd/kustomization.yaml": "resources: [w.yaml]\n"}
    report = _diff(tmp_path, old, new, code=1 if rules else 0)
    assert [(each["rule"], each["crd"][0]) for each in report["findings"]] == [(rule, "g") for rule in rules]
    assert len(_said(report)) == (not rules)


def test_a_folder_beside_another_one_with_the_same_crd_is_none_that_shipped(tmp_path: Path) -> None:
    old = {"samples/w.yaml": "A", "examples/w.yaml": "A", "samples/g.yaml": "a"}
    new = {"config/crd/w.yaml": "A", "config/crd/kustomization.yaml": "resources: [w.yaml]\n"}
    report = _diff(tmp_path, old, new, code=0)
    assert (report["findings"], len(_said(report))) == ([], 1)


@pytest.mark.parametrize(("core", "compared"), [("A", 2), ("AB", 3)])
def test_folders_with_the_same_files_are_one_place(tmp_path: Path, core: str, compared: int) -> None:
    """Knative has links to config/core in config, and CRDs of others in third_party: these do not ship."""
    for side, values in (("old", "A"), ("new", "AB")):
        part = crd(root(status=obj(phase=string(*values))), kind="Part")
        write(tmp_path / side / "third_party/cert/part.yaml", part)
        copies = {"config/w.yaml": "A", "config/g.yaml": "a", "config/core/w.yaml": core, "config/core/g.yaml": "a"}
        _tree(tmp_path / side, copies)
    report = _diff(tmp_path, {}, {}, code=0 if compared == 2 else 1)
    assert report["summary"]["crds"]["compared"] == compared
    assert len(_said(report)) == (compared == 2)


def test_variants_in_folders_of_tests_and_examples_give_way(tmp_path: Path) -> None:
    old = {"crds/w.yaml": _of_channel("A"), "examples/w.yaml": _of_channel("A"), "test/g.yaml": "a"}
    new = {**old, "examples/w.yaml": _of_channel("AB"), "test/g.yaml": "ab", "examples/n.yaml": _of_channel("c")}
    report = _diff(tmp_path, old, new, code=0)
    assert (report["findings"], _aside(report)) == ([], ["examples/w.yaml"])


def test_a_manifest_of_openshift_that_stays_in_examples_alone_is_removed(tmp_path: Path) -> None:
    old = {"install/w.yaml": _of_openshift("A"), "install/g.yaml": _of_openshift("a"), "examples/w.yaml": "AB"}
    report = _diff(tmp_path, old, {name: text for name, text in old.items() if name != "install/w.yaml"}, code=1)
    assert [(each["rule"], each["crd"]) for each in report["findings"]] == [("crd-removed", "widgets.example.com")]


def test_a_manifest_of_openshift_ships_from_examples_if_it_is_nowhere_else(tmp_path: Path) -> None:
    old = {"install/w.yaml": _of_openshift("A"), "examples/w.yaml": _of_openshift("A"), "example/g.yaml": "a"}
    report = _diff(tmp_path, old, {**old, "examples/w.yaml": _of_openshift("AB"), "example/g.yaml": "ab"}, code=1)
    assert (_errors(report), _aside(report)) == ([("g", "A", "B")], ["examples/w.yaml"])


def test_a_test_of_an_unreadable_crd_is_a_remark_beside_a_folder_of_crds(tmp_path: Path) -> None:
    files = {"crds/w.yaml": "A", "crds/g.yaml": "a"}
    broken = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: [\n"
    report = _diff(tmp_path, files, {**files, "test/e2e/w.yaml": broken}, code=0)
    assert {each["file"] for each in report["summary"]["remarks"]} == {"test/e2e/w.yaml"}


def test_crds_in_a_folder_of_tests_count_where_nothing_says_what_ships(tmp_path: Path) -> None:
    report = _diff(tmp_path, {"test/g.yaml": "a"}, {"test/g.yaml": "ab"}, code=1)
    assert (_errors(report), _aside(report)) == ([("g", "A", "B")], [])


def test_what_cannot_be_read_in_a_design_is_a_remark(tmp_path: Path) -> None:
    broken = "kind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\nspec: [\n"
    files = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "A", "design/w.yaml": broken}
    report = _diff(tmp_path / "a", files, files, code=0)
    assert {each["file"] for each in report["summary"]["remarks"]} == {"design/w.yaml"}
    _diff(tmp_path / "b", {**files, "config/crd/x.yaml": broken}, files, code=2)
    _diff(tmp_path / "c", {"w.yaml": "A", "design/w.yaml": broken}, {"w.yaml": "A"}, code=2)


def test_what_cannot_be_read_is_a_remark_where_kustomizations_list_its_neighbours_alone(tmp_path: Path) -> None:
    """An old controller-gen leaves such a file, ``_.yaml``, beside the CRDs of a project."""
    nameless = json.dumps({**crd(), "spec": {"group": "", "names": {"plural": "", "kind": ""}, "versions": None}})
    files = {**_KUBEBUILDER, "PROJECT": "layout: go\n", "config/crd/bases/w.yaml": "A"}
    with_file = {**files, "config/crd/bases/_.yaml": nameless}
    report = _diff(tmp_path / "a", with_file, with_file, code=0)
    assert {each["file"] for each in report["summary"]["remarks"]} == {"config/crd/bases/_.yaml"}
    listed = {**with_file, "config/crd/kustomization.yaml": "resources: [bases/w.yaml, bases/_.yaml]\n"}
    assert len(_diff(tmp_path / "b", listed, listed, code=2)["summary"]["problems"]) == 2


def test_a_crd_for_tests_is_not_that_which_the_payload_gains(tmp_path: Path) -> None:
    """NetObserv has CRDs of Prometheus for its tests, and later those of a chart, which its configuration names."""
    config = tmp_path / "c.yaml"
    config.write_text("ships: [crds/*]\n")
    files = {"crds/g.yaml": "a", "test-assets/w.yaml": "A"}
    report = _diff(tmp_path, files, {**files, "crds/w.yaml": "AB"}, "--config", str(config), code=0)
    assert [each["rule"] for each in report["findings"]] == ["crd-added"]
    assert {"file": "test-assets/w.yaml", "reason": NOWHERE, "side": "old"} in report["summary"]["skipped"]
    outside = _diff(tmp_path / "b", files, {**files, "test-assets/w.yaml": "AB"}, "--config", str(config), code=1)
    assert _errors(outside) == [("w", "A", "B")]


def test_an_illegible_copy_of_a_crd_that_ships_from_elsewhere(tmp_path: Path) -> None:
    """Tekton's operator: an old bundle has a CRD whose versions are no list, and config/base ships another copy."""
    broken = yaml.safe_dump({**_copy("A"), "spec": {**_copy("A")["spec"], "versions": {"served": True}}})
    gadget = broken.replace("widgets", "gadgets")
    bundle = {"bundle.Dockerfile": "FROM scratch\nCOPY bundle/manifests /manifests/\n"}
    files = {**_KUBEBUILDER, **bundle, "config/crd/bases/w.yaml": "A"}
    report = _diff(tmp_path / "a", files, {**files, "bundle/manifests/w.yaml": broken}, code=0)
    assert [each["file"] for each in report["summary"]["remarks"]] == ["bundle/manifests/w.yaml"]
    for name, illegible in (("b", gadget), ("c", f"{broken}---\n{gadget}"), ("d", f"kind: A\n---\n{broken}")):
        _diff(tmp_path / name, files, {**files, "bundle/manifests/w.yaml": illegible}, code=2)
    shipped = {**bundle, "bundle/manifests/w.yaml": "A"}
    _diff(tmp_path / "e", shipped, {**shipped, "bundle/manifests/w.yaml": broken}, code=2)


def test_evidence_in_folders_of_tests_and_examples_does_not_count(tmp_path: Path) -> None:
    said = {"examples/kustomization.yaml": "resources: [../b/w.yaml]\n", "test/Makefile": "output:crd:dir=../b\n"}
    report = _diff(
        tmp_path, {**said, "a/w.yaml": "A", "b/w.yaml": "A"}, {**said, "a/w.yaml": "AB", "b/w.yaml": "A"}, code=1
    )
    assert (_errors(report), _aside(report)) == ([("w", "A", "B")], [])


def test_ships_of_the_configuration_overrides_the_evidence(tmp_path: Path) -> None:
    files = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "A", "bundle/w.yaml": "C"}
    for ships, found in (("[]", [("w", "C", "D")]), ('["bundle/*"]', [("w", "C", "D")]), ('["config/*"]', [])):
        named = write(tmp_path / "config.yaml", f"ships: {ships}\n")
        report = _diff(
            tmp_path, files, {**files, "bundle/w.yaml": "CD"}, "--config", str(named), code=1 if found else 0
        )
        assert (_errors(report), _said(report)) == (found, [])


def test_a_path_selects_the_copies_below_it(tmp_path: Path) -> None:
    old = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "A", "bundle/w.yaml": "C"}
    new = {**old, "config/crd/bases/w.yaml": "AB", "bundle/w.yaml": "CD"}
    of_config, of_bundle = [("w", "A", "B")], [("w", "C", "D")]
    for path, found in (("bundle", of_bundle), ("./bundle/", of_bundle), ("config", of_config), (".", of_config)):
        assert _errors(_diff(tmp_path, old, new, path, code=1)) == found


def test_matrix_and_simulate_take_the_same_copies(tmp_path: Path) -> None:
    files = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "AB", "bundle/w.yaml": "C"}
    sides = _tree(tmp_path / "old", files), _tree(tmp_path / "new", {**files, "bundle/w.yaml": "CD"})
    cells = run("matrix", "./old", "./new", "--format", "json", cwd=tmp_path).report["cells"]
    assert {each["verdict"] for each in cells} == {"clean"}
    told = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "status": {"phase": "B"}}
    ran = run("simulate", *sides, "--objects", write(tmp_path / "o.json", told), "--format", "json")
    assert (ran.code, ran.report["objects"][0]["writes"]["status-update-touching"]["verdict"]) == (0, "accepted")


def _check(top: Path, base: _Files, change: _Files, *gone: str) -> tuple[list[tuple[str, str, str]], Json]:
    """The errors of ``check`` for a change of some files, by the evidence of base and head; and the report."""
    git(_tree(top, base), "init", "-qb", "main")
    commit(top, {})
    for path in gone:
        git(top, "rm", "-q", path)
    commit(_tree(top, change), {})
    report = run("check", "--base", "HEAD~1", "--target", "HEAD~1", "--format", "json", cwd=top).report
    of_sections = [_errors(section) for section in report["sections"]]
    assert all(each == of_sections[0] for each in of_sections)
    return of_sections[0], report


@pytest.mark.parametrize(("said", "ships", "stale", "what"), _SAID)
def test_check_takes_the_same_copies(tmp_path: Path, said: _Files, ships: str, stale: str, what: str) -> None:
    """A further CRD, which the change does not touch, keeps its say in which folder has the most."""
    base = {**said, ships: "A", stale: "C"}
    errors, report = _check(tmp_path / "stale", base, {stale: "CD"})
    assert (errors, report["verdict"]) == ([], "clean")
    folder = ships.rpartition("/")[0] or "the top folder"
    assert _said(report["sections"][0]) == [f"CRDs of {folder}, {what}; 2 copies elsewhere differ: -v"]
    copy = f"a further copy of widgets.example.com: {ships} is used"
    assert [each for each in report["files"] if each["file"] == stale] == [
        {"file": stale, "outcome": "not-judged", "reason": copy}
    ]
    errors, report = _check(tmp_path / "ships", base, {ships: "AB"})
    assert (errors, report["verdict"]) == ([("w", "A", "B")], "blocked")


_FOUND = [("w", "A", "B")]
_MAKEFILE = "\tcontroller-gen crd output:crd:dir={} paths=./...\n"


@pytest.mark.parametrize(
    ("base", "change", "gone", "found"),
    [
        pytest.param(
            {"Makefile": _MAKEFILE.format("crds"), "crds/w.yaml": "A"},
            {"Makefile": _MAKEFILE.format("out"), "out/w.yaml": "A", "crds/w.yaml": "AB"},
            *((), _FOUND),
            id="the head says that another folder ships",
        ),
        pytest.param(
            {"Makefile": _MAKEFILE.format("crds"), "crds/w.yaml": "A"},
            {"Makefile": _MAKEFILE.format("out"), "out/w.yaml": "AB"},
            *((), _FOUND),
            id="the folder that ships moves, and the old one stays",
        ),
        pytest.param(
            {"Makefile": _MAKEFILE.format("crds"), "crds/w.yaml": "A", "bundle/w.yaml": "A"},
            {"crds/w.yaml": "AB"},
            *(("Makefile",), _FOUND),
            id="the evidence goes",
        ),
        pytest.param(
            {"crds/w.yaml": "A"},
            {"crds/w.yaml": "AB", "op/Chart.yaml": "name: op\n", "op/crds/w.yaml": "A"},
            *((), _FOUND),
            id="the head has a chart",
        ),
        pytest.param(
            {"op/Chart.yaml": "name: op\n", "op/crds/w.yaml": "A"},
            {
                "op/crds/w.yaml": "AB",
                "a/kustomization.yaml": "resources: [w.yaml, d.yaml]\n",
                "a/w.yaml": "A",
                "a/d.yaml": _DEPLOYMENT,
            },
            *((), _FOUND),
            id="the head has stronger evidence",
        ),
        pytest.param(
            {"crds/w.yaml": "A", "crds/g.yaml": "ab"},
            {"crds/w.yaml": "AB", "other/w.yaml": "A", "other/g.yaml": "ab", "other/more.yaml": "ab"},
            *((), _FOUND),
            id="the head has a folder with more CRDs",
        ),
        pytest.param(
            {"crds/w.yaml": "A", "crds/g.yaml": "ab"},
            {"test/w.yaml": "AB"},
            *(("crds/w.yaml",), []),
            id="a CRD moves into tests",
        ),
    ],
)
def test_a_change_does_not_choose_what_ships(
    tmp_path: Path, base: _Files, change: _Files, gone: tuple[str, ...], found: list[tuple[str, str, str]]
) -> None:
    errors, report = _check(tmp_path, base, change, *gone)
    assert errors == found
    assert report["verdict"] == "blocked"


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("config/crd/bases/w.yaml", Place.ORDINARY),
        ("crds/v1beta1/w.yaml", Place.ORDINARY),
        ("op/charts/dep-1.2.3.tgz", Place.ORDINARY),
        ("releases/op-1.2.3.yaml", Place.SPARE),
        ("olm/1.2.3/w.yaml", Place.SPARE),
        ("crd/experimental/w.yaml", Place.SPARE),
        ("tools/hack/driver/w.yaml", Place.SELDOM),
        ("docs/w.yaml", Place.SELDOM),
        ("deploy/examples/w.yaml", Place.SELDOM),
        ("docs/design/w.yaml", Place.NEVER),
        ("api/src/test/resources/w.yaml", Place.NEVER),
        ("e2e-tests/w.yaml", Place.NEVER),
        ("kubevirtci/cluster-up/w.yaml", Place.OF_OTHERS),
        ("cluster-update/w.yaml", Place.ORDINARY),
        ("integration_test/data/w.yaml", Place.NEVER),
        ("attestation/w.yaml", Place.ORDINARY),
        ("test.yaml", Place.ORDINARY),
    ],
)
def test_the_names_of_folders(path: str, place: Place) -> None:
    assert place_of(path) == place


def test_what_was_not_compared_is_not_the_same(tmp_path: Path) -> None:
    """Only the copy that was set aside changed: the words say no more than was looked at."""
    for side, stale in (("old", "C"), ("new", "CD")):
        write(tmp_path / side / "crds/w.yaml", crd(root(status=obj(p=string("A")))))
        write(tmp_path / side / "design/w.yaml", crd(root(status=obj(p=string(*stale)))))
    lines = run("diff", "path:old", "path:new", cwd=tmp_path).out.splitlines()
    assert "The schemas that were compared are the same." in lines


_STALE = {**_KUBEBUILDER, "config/crd/bases/w.yaml": "A", "bundle/w.yaml": "C"}


def _other_commands(top: Path) -> dict[str, tuple[Json, list[str]]]:
    """The report and the notes of each command that reads releases without comparing them as diff does."""
    old, new = _tree(top / "old", _STALE), _tree(top / "new", {**_STALE, "bundle/w.yaml": "CD"})
    widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "status": {"phase": "A"}}
    write(top / "fleet/one/w.yaml", widget)
    write(top / "fleet/one/crd.yaml", _copy("A"))
    asked = {
        "servers": ("servers", f"path:{old}"),
        "fleet": ("simulate", f"path:{old}", f"path:{new}", "--fleet", top / "fleet"),
        "preflight": ("preflight", f"path:{old}", "--objects", top / "fleet/one", "--kube-version", "1.31"),
    }
    found = {name: run(*words, "--format", "json").report for name, words in asked.items()}
    return {
        name: (report, [note for side in ("old", "new") for note in report[side]["notes"] if "elsewhere" in note])
        for name, report in found.items()
    }


def test_other_commands_read_what_ships(tmp_path: Path) -> None:
    told = _other_commands(tmp_path)
    said = "CRDs of config/crd/bases, from config/crd/kustomization.yaml; {} elsewhere {}: -v"
    one, both = said.format("1 copy", "differs"), said.format("2 copies", "differ")
    assert {name: {*notes} for name, (_, notes) in told.items()} == {
        "servers": {one},
        "fleet": {both},
        "preflight": {one},
    }
    assert [row["files"] for row in told["servers"][0]["crds"]] == [["config/crd/bases/w.yaml"]]


def test_the_python_interface_compares_what_ships(tmp_path: Path) -> None:
    old, new = _tree(tmp_path / "old", _STALE), _tree(tmp_path / "new", {**_STALE, "bundle/w.yaml": "CD"})
    assert crdcompat.diff(f"path:{old}", f"path:{new}").findings == ()
    found = crdcompat.diff(f"path:{old}", f"path:{new}", paths=["bundle"]).findings
    assert [each.added for each in found] == [("D",)]


def test_a_manifest_of_openshift_that_leaves_the_examples_is_compared(tmp_path: Path) -> None:
    old = {"install/g.yaml": _of_openshift("a"), "example/w.yaml": _of_openshift("A")}
    new = {"install/g.yaml": _of_openshift("a"), "install/w.yaml": _of_openshift("AB")}
    assert _errors(_diff(tmp_path, old, new, code=1)) == [("w", "A", "B")]


def _older(values: str) -> str:
    """The copy for servers before Kubernetes 1.16: without ``preserveUnknownFields: false`` they prune nothing."""
    made = _copy(values)
    (only,) = made["spec"]["versions"]
    del made["spec"]["versions"], only["served"], only["storage"]
    spec = {**made["spec"], "version": only.pop("name"), "validation": only.pop("schema"), **only}
    return yaml.safe_dump({**made, "apiVersion": "apiextensions.k8s.io/v1beta1", "spec": spec})


@pytest.mark.parametrize(("second", "grown"), [("A", "AB"), ("C", "CD")], ids=["agrees", "differs"])
def test_copies_for_servers_before_1_22_give_way(tmp_path: Path, second: str, grown: str) -> None:
    """clickhouse-operator ships bundles for both; the older CRD keeps nulls, and blocked a rollback by them."""
    old = {"bundle.yaml": "A", "bundle-v1beta1.yaml": _older(second)}
    new = {"bundle.yaml": "AB", "bundle-v1beta1.yaml": _older(grown)}
    report = _diff(tmp_path, old, new, code=1)
    assert _errors(report) == [("w", "A", "B")]
    assert _aside(report) == ["bundle-v1beta1.yaml"]
    (finding,) = report["findings"]
    assert {each["file"] for each in finding["locations"]} == {"bundle.yaml"}


def test_a_copy_for_older_servers_counts_where_one_side_has_no_other(tmp_path: Path) -> None:
    new = {"w.yaml": "AB", "x.yaml": _older("AB")}
    report = _diff(tmp_path, {"x.yaml": _older("A")}, new, code=1)
    grown = [each for each in report["findings"] if each["rule"] == "enum-value-added"]
    assert {place["file"] for each in grown for place in each["locations"]} == {"w.yaml", "x.yaml"}
