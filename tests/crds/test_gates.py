"""Feature gates decide in which contexts a CRD exists; each gate that Default turns on is one entry of a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, brief, commit, crd, diff, git, obj, run, string, write

from crdcompat.features.diff import promoted

_GATE, _FEATURE_SET = "release.openshift.io/feature-gate", "release.openshift.io/feature-set"
_PROFILE = "include.release.openshift.io/"
_SETS = ("Default", "TechPreviewNoUpgrade")
_FRAGMENTS = "example/v1/zz_generated.featuregated-crd-manifests/widgets.example.com"


def _list(profile: str, feature_set: str, *on: str) -> Json:
    return {
        "apiVersion": "config.openshift.io/v1",
        "kind": "FeatureGate",
        "metadata": {
            "name": "cluster",
            "annotations": {f"{_PROFILE}{profile}": "false-except-for-the-config-operator"},
        },
        "spec": {} if feature_set == "Default" else {"featureSet": feature_set},
        "status": {"featureGates": [{"version": "", "enabled": [{"name": name} for name in on], "disabled": []}]},
    }


def _lists(profile: str = "ha", **on: tuple[str, ...]) -> dict[str, Json]:
    """The lists of gates of a profile: those that are on, by feature set."""
    return {
        f"payload-manifests/featuregates/{profile}-{name}.yaml": _list(profile, name, *gates)
        for name, gates in on.items()
    }


def _widget(gates: str = "", sets: str = "", phases: str = "A", *profiles: str) -> Json:
    notes = {f"{_PROFILE}{profile}": "true" for profile in profiles or ("ha",)}
    notes |= {_GATE: gates} if gates else {}
    notes |= {_FEATURE_SET: sets} if sets else {}
    return crd(obj(status=obj(phase=string(*phases))), annotations=notes)


def _anchor(*profiles: str) -> Json:
    """A CRD in all feature sets of the tests, so that these are contexts."""
    notes = {_FEATURE_SET: ",".join(_SETS), **{f"{_PROFILE}{profile}": "true" for profile in profiles or ("ha",)}}
    return crd(obj(), kind="Anchor", annotations=notes)


def _tree(folder: Path, files: dict[str, Any]) -> Path:
    for name, document in files.items():
        write(folder / name, document)
    return folder


def _pair(tmp_path: Path, common: dict[str, Any], old: Json, new: Json) -> list[tuple[str, ...]]:
    sides = [
        _tree(tmp_path / side, {**common, "anchor.yaml": _anchor(), "widget.yaml": document})
        for side, document in (("old", old), ("new", new))
    ]
    return [(*brief(finding)[:3], *finding["contexts"]) for finding in diff(*sides)["findings"]]


def test_what_is_off_in_default_gives_no_finding_there(tmp_path: Path) -> None:
    lists = _lists(Default=("Other",), TechPreviewNoUpgrade=("Other", "Shapes"))
    assert _pair(tmp_path, lists, _widget("Shapes"), _widget("Shapes", phases="AB")) == [
        ("rollback", "warning", "enum-value-added", "TechPreviewNoUpgrade/ha")
    ]


@pytest.mark.parametrize(
    ("gates", "sets"),
    [
        ("Other", ["Default", "TechPreviewNoUpgrade"]),
        ("-Shapes", ["Default"]),
        ("Other,Shapes", ["TechPreviewNoUpgrade"]),
        ("Other, -Shapes", ["Default"]),
        ("Unknown", []),
        ("-Unknown", ["Default", "TechPreviewNoUpgrade"]),
        ("TechPreviewNoUpgrade", ["TechPreviewNoUpgrade"]),
    ],
)
def test_all_gates_of_a_manifest_count(tmp_path: Path, gates: str, sets: list[str]) -> None:
    lists = _lists(Default=("Other",), TechPreviewNoUpgrade=("Other", "Shapes"))
    found = _pair(tmp_path, lists, _widget(gates), _widget(gates, phases="AB"))
    assert [context for *_, context in found][-1:] == [f"{name}/ha" for name in sets][-1:]
    assert {context for _, _, _, *contexts in found for context in contexts} == {f"{name}/ha" for name in sets}


def test_variants_for_on_and_off_are_one_crd_in_each_context(tmp_path: Path) -> None:
    lists = _lists(Default=(), TechPreviewNoUpgrade=("Shapes",))
    common = {**lists, "off.yaml": _widget("-Shapes")}
    assert _pair(tmp_path, common, _widget("Shapes", phases="AB"), _widget("Shapes", phases="ABC")) == [
        ("rollback", "warning", "enum-value-added", "TechPreviewNoUpgrade/ha")
    ]


def test_without_a_list_a_manifest_is_everywhere(tmp_path: Path) -> None:
    """A repository other than openshift/api has no lists, and CustomNoUpgrade has none anywhere."""
    found = _pair(tmp_path, {}, _widget("Shapes"), _widget("Shapes", phases="AB"))
    assert found == [("rollback", "error", "enum-value-added", "Default/ha", "TechPreviewNoUpgrade/ha")]


def test_profiles_have_lists_of_their_own(tmp_path: Path) -> None:
    lists = {**_lists("ha", Default=("Shapes",)), **_lists("hosted", Default=())}
    sides = [
        _tree(tmp_path / side, {**lists, "widget.yaml": _widget("Shapes", "", phases, "ha", "hosted")})
        for side, phases in (("old", "A"), ("new", "AB"))
    ]
    (finding,) = diff(*sides)["findings"]
    assert finding["contexts"] == ["Default/ha"]


def test_a_list_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    broken = {"payload-manifests/featuregates/a.yaml": "kind: [FeatureGate"}
    sides = [_tree(tmp_path / side, {**broken, "widget.yaml": _widget("Shapes")}) for side in ("old", "new")]
    ran = run("diff", *sides, "--format", "json")
    assert ran.code == 2
    assert {problem["file"] for problem in ran.report["summary"]["problems"]} == {
        "payload-manifests/featuregates/a.yaml"
    }


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a gated CRD, whose gate is off in Default."""
    git(tmp_path, "init", "-q", "-b", "main")
    features = 'package features\n\nvar (\n\tFeatureGateShapes = newFeatureGate("Shapes").\n\t\tmustRegister()\n)\n'
    more = {f"other{number}.yaml": crd(obj(), kind=f"Other{number}") for number in range(12)}
    commit(
        tmp_path,
        {
            **_lists(Default=(), TechPreviewNoUpgrade=("Shapes",)),
            **more,
            "features/features.go": features,
            "anchor.yaml": _anchor(),
            "widget.yaml": _widget("Shapes"),
        },
    )
    return tmp_path


def _check(repo: Path) -> Json:
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--repo", repo, "--format", "json")
    section: Json = ran.report["sections"][0]
    return section


_AT = {"side": "new", "kind": "go", "file": "features/features.go", "line": 4, "column": None}


def test_a_gate_that_enters_default_exposes_a_crd_that_did_not_change(repo: Path) -> None:
    commit(repo, _lists(Default=("Shapes",)))
    section = _check(repo)
    assert [(*brief(finding)[:4], *finding["contexts"]) for finding in section["findings"]] == [
        ("rollback", "info", "crd-added", "widgets.example.com", "Default/ha")
    ]
    assert section["promoted_gates"] == [
        {
            "gate": "Shapes",
            "contexts": ["Default/ha"],
            "exposes": [{"crd": "widgets.example.com", "version": "", "path": ""}],
            "location": _AT,
        }
    ]


def test_fragments_show_which_changes_a_gate_exposes(repo: Path) -> None:
    plain, shaped, both = (
        crd(obj(status=obj(phase=string(*phases), **more)))
        for phases, more in (("A", {}), ("AB", {"shape": string()}), ("AB", {"shape": string(), "size": string()}))
    )
    notes = _widget(sets="Default")["metadata"]
    fragments = {f"{_FRAGMENTS}/AAA_ungated.yaml": plain, f"{_FRAGMENTS}/Shapes+Sizes.yaml": shaped}
    commit(repo, {**fragments, "widget.yaml": {**plain, "metadata": notes}})
    commit(repo, {**_lists(Default=("Shapes", "Unrelated")), "widget.yaml": {**both, "metadata": notes}})
    section = _check(repo)
    paths = {finding["path"] for finding in section["findings"]}
    assert paths == {"status.phase", "status.shape", "status.size"}
    (entry,) = section["promoted_gates"]
    assert (entry["gate"], entry["location"]) == ("Shapes", _AT)
    assert {place["path"] for place in entry["exposes"]} == {"status.phase", "status.shape"}
    said = "feature gate Shapes is on in Default from this change on (features/features.go:4): it exposes "
    ways = ("check", "--base", "HEAD~1", "--head", "HEAD", "--repo", repo)
    assert said in run(*ways).out
    assert (
        "::notice file=features/features.go,line=4,title=feature gate::feature gate Shapes"
        in run(*ways, "--format", "github").out
    )
    assert said in run(*ways, "--format", "markdown").out.replace("\\", "")
    promoted._crds_in.cache_clear()
    targeted = (*ways, "--target", "HEAD~1")
    assert run(*targeted).out.count(said) == 1, "base and target share the sentence"
    assert promoted._crds_in.cache_info().misses == len(fragments), "base and target need the same fragments"
    assert run(*targeted, "--format", "github").out.count("title=feature gate") == 1
    comment = run(*targeted, "--format", "markdown").out
    assert 0 < comment.index("feature gate Shapes") < comment.index("<details>"), "it stands before the findings"
    page = run(*targeted, "--format", "html").out
    assert 0 < page.index("Feature gate Shapes is on in Default") < page.index("What this change does</h2>")


def test_a_gate_does_not_expose_what_an_earlier_gate_shows(repo: Path) -> None:
    """openshift/api: a rule of the fragment without gates is in no fragment of a gate."""
    notes = _widget(sets="Default")["metadata"]
    phase = {**string(), "x-kubernetes-validations": [{"rule": "self != 'Z'"}]}
    plain, early, late = (
        crd(obj(status=obj(phase=each, **more)))
        for each, more in ((phase, {}), (string(), {"early": string()}), (string(), {"late": string()}))
    )
    both = crd(obj(status=obj(phase=string(), early=string(), late=string())))
    fragments = {"AAA_ungated": plain, "Early": early, "Shapes": late}
    commit(
        repo,
        {
            **{f"{_FRAGMENTS}/{name}.yaml": fragment for name, fragment in fragments.items()},
            **_lists(Default=("Early",)),
            "widget.yaml": {**plain, "metadata": notes},
        },
    )
    commit(repo, {**_lists(Default=("Early", "Shapes")), "widget.yaml": {**both, "metadata": notes}})
    section = _check(repo)
    assert {finding["path"] for finding in section["findings"]} == {"status.phase", "status.early", "status.late"}
    (entry,) = section["promoted_gates"]
    assert [place["path"] for place in entry["exposes"]] == ["status.late"]


def test_a_gate_that_exposes_nothing_here_is_not_mentioned(repo: Path) -> None:
    commit(repo, {**_lists(Default=("Unrelated",)), "anchor.yaml": {**_anchor(), "status": {}}})
    section = _check(repo)
    assert (section["findings"], section["promoted_gates"]) == ([], [])


def test_a_gate_that_was_on_before_the_change_is_not_promoted_by_it(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor are the fragments of all gates read that a release has turned on since the target."""
    git(repo, "branch", "target")
    commit(repo, _lists(Default=("Shapes",)))
    commit(repo, {"widget.yaml": _widget("Shapes", phases="AB")})
    ways = ("check", "--base", "HEAD~1", "--head", "HEAD", "--target", "target", "--repo", repo, "--format", "json")
    with monkeypatch.context() as patched:
        patched.delattr("crdcompat.features.diff.promoted._Fragments")
        ran = run(*ways)
    assert [section["promoted_gates"] for section in ran.report["sections"]] == [[], []]
    git(repo, "reset", "--quiet", "--hard", "HEAD~1")
    ran = run(*ways)
    assert [len(section["promoted_gates"]) for section in ran.report["sections"]] == [1, 1]
