"""Variants of one CRD, copies of it, and where the two sides come from: identity and context, never the path."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from helpers import Json, brief, commit, crd, diff, git, obj, only, root, run, select, string, version, write

SET, PROFILE = "release.openshift.io/feature-set", "include.release.openshift.io/"
CHANNEL = "gateway.networking.k8s.io/channel"


def widget(*enum: str, **annotations: str) -> Json:
    """A CRD with an enum in status; annotations by short name."""
    named = {"set": SET, "channel": CHANNEL}
    notes = {named.get(key, PROFILE + key.replace("_", "-")): value for key, value in annotations.items()}
    return crd(root(spec=obj(a=string()), status=obj(phase=string(*enum))), annotations=notes)


def tree(folder: Path, **files: Json) -> Path:
    for name, data in files.items():
        write(folder / f"{name.replace('__', '/')}.yaml", data)
    return folder


# -- OpenShift ---------------------------------------------


def test_contexts_are_sets_times_profiles_and_default_always(tmp_path: Path) -> None:
    old = tree(
        tmp_path / "old",
        default=widget("A", set="Default", self_managed_high_availability="true"),
        preview=widget("A", "B", set="TechPreviewNoUpgrade", ibm_cloud_managed="true"),
    )
    report = diff(old, old)
    assert report["summary"]["contexts"] == [
        "Default/self-managed-high-availability",
        "TechPreviewNoUpgrade/ibm-cloud-managed",
    ] or set(report["summary"]["contexts"]) <= {
        f"{name}/{profile}"
        for name in ("Default", "TechPreviewNoUpgrade")
        for profile in ("ibm-cloud-managed", "self-managed-high-availability")
    }
    assert report["findings"] == []


def test_the_same_change_in_several_contexts_is_one_finding(tmp_path: Path) -> None:
    profiles = {"self_managed_high_availability": "true", "single_node_developer": "true"}
    old, new = (tree(tmp_path / side, w=widget(*enum, **profiles)) for side, enum in (("old", "A"), ("new", "AB")))
    finding = only(diff(old, new))
    assert finding["contexts"] == ["Default/self-managed-high-availability", "Default/single-node-developer"]


def _variants(folder: Path, default: str, preview: str) -> Path:
    return tree(
        folder,
        default=widget(*default, set="Default", ha="true"),
        preview=widget(*preview, set="TechPreviewNoUpgrade,CustomNoUpgrade", ha="true"),
    )


def test_changes_only_in_sets_without_upgrade_are_one_level_lower(tmp_path: Path) -> None:
    report = diff(_variants(tmp_path / "old", "A", "A"), _variants(tmp_path / "new", "A", "AB"))
    finding = only(report)
    assert (finding["severity"], finding["owner"]) == ("warning", "status")
    assert finding["contexts"] == ["CustomNoUpgrade/ha", "TechPreviewNoUpgrade/ha"]
    assert "severity lowered" in finding["message"]


def test_different_changes_in_different_sets_are_two_findings(tmp_path: Path) -> None:
    report = diff(_variants(tmp_path / "old", "A", "AB"), _variants(tmp_path / "new", "AC", "ABC"))
    found = [(f["severity"], f["contexts"], f["added"]) for f in report["findings"]]
    assert found == [
        ("error", ["Default/ha"], ["C"]),
        ("warning", ["CustomNoUpgrade/ha", "TechPreviewNoUpgrade/ha"], ["C"]),
    ]


def test_a_variant_that_comes_into_another_set_is_seen_there(tmp_path: Path) -> None:
    """Promoted: what only the preview had is now everybody's. Nothing changes for the preview."""
    old = _variants(tmp_path / "old", "A", "AB")
    new = tree(tmp_path / "new", all=widget("A", "B", ha="true"))
    found = {name: f["added"] for f in diff(old, new)["findings"] for name in f["contexts"]}
    assert found == {"Default/ha": ["B"]}


def test_contexts_on_one_side_only_are_listed(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", w=widget("A", ha="true", single="true"))
    new = tree(tmp_path / "new", w=widget("A", "B", ha="true"), x=widget("A", set="DevPreviewNoUpgrade", ha="true"))
    summary = diff(old, new)["summary"]
    assert summary["contexts"] == ["Default/ha"]
    assert summary["contexts_only_old"] == ["Default/single"]
    assert summary["contexts_only_new"] == ["DevPreviewNoUpgrade/ha"]


def test_a_profile_that_is_not_true_does_not_include(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", a=widget("A", ha="true", ibm="false"), b=widget("A", "Z", ibm="true"))
    new = tree(tmp_path / "new", a=widget("A", "B", ha="true", ibm="false"), b=widget("A", "Z", ibm="true"))
    assert only(diff(old, new))["contexts"] == ["Default/ha"]


def test_context_chooses(tmp_path: Path) -> None:
    old, new = _variants(tmp_path / "old", "A", "A"), _variants(tmp_path / "new", "A", "AB")
    assert diff(old, new, "--context", "Default/ha")["findings"] == []
    assert only(diff(old, new, "--context", "CustomNoUpgrade/ha"))["contexts"] == ["CustomNoUpgrade/ha"]


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("Defualt/ha", "no context Defualt/ha on both sides; there are: {}; did you mean Default/ha?"),
        ("Nothing", "no context Nothing on both sides; there are: {}"),
        (
            "Default/ha=customNoUpgrade/ha",
            "no context customNoUpgrade/ha in {new}; there are: {}; did you mean {custom}?",
        ),
        ("Nothing=CustomNoUpgrade/ha", "no context Nothing in {old}; there are: {}"),
    ],
)
def test_an_unknown_context_is_named_with_the_nearest(tmp_path: Path, context: str, message: str) -> None:
    old, new = _variants(tmp_path / "old", "A", "A"), _variants(tmp_path / "new", "A", "AB")
    ran = run("diff", old, new, "--context", context)
    expected = message.format(
        "CustomNoUpgrade/ha, Default/ha, TechPreviewNoUpgrade/ha", old=old, new=new, custom="CustomNoUpgrade/ha"
    )
    assert (ran.code, ran.out, ran.err) == (2, "", f"crdcompat: {expected}\n")


def test_an_unknown_context_beside_known_ones(tmp_path: Path) -> None:
    """A name that only one release has is no mistake."""
    old, new = _variants(tmp_path / "old", "A", "A"), _variants(tmp_path / "new", "A", "AB")
    known = ("--context", "CustomNoUpgrade/ha", "--context")
    for wrong in ("Defualt/ha", "Defualt/ha=Default/ha"):
        commands = [("diff", old, new), ("matrix", old, new)]
        for ran in (run(*command, *known, wrong) for command in commands):
            assert (ran.code, ran.out) == (2, "")
            assert ran.err.startswith("crdcompat: no context Defualt/ha ") and "did you mean Default/ha?" in ran.err
    one_sided = tree(tmp_path / "one-sided", a=widget("A", ha="true"))
    assert run("diff", one_sided, new, *known, "Default/ha").code == 0


def test_a_pair_of_contexts_can_be_forced(tmp_path: Path) -> None:
    old, new = _variants(tmp_path / "old", "A", "A"), _variants(tmp_path / "new", "A", "AB")
    report = diff(old, new, "--context", "Default/ha=CustomNoUpgrade/ha")
    assert only(report)["contexts"] == ["Default/ha=CustomNoUpgrade/ha"]
    ran = run("diff", old, new, "--context", "Default/ha=Nothing")
    assert ran.code == 2


def test_what_gives_way_is_named(tmp_path: Path) -> None:
    """Two documents of one context say different things about one version: its own folder's counts."""
    v1, wrong = widget("A", ha="true"), widget("Z", ha="true")
    old = tree(tmp_path / "old", other__w=wrong, v1__w=v1)
    new = tree(tmp_path / "new", other__w=wrong, v1__w=widget("A", "B", ha="true"))
    report = diff(old, new)
    finding = only(report)
    assert (finding["old"], finding["new"]) == (["A"], ["A", "B"])
    assert {tuple(entry.values()) for entry in report["summary"]["superseded"]} == {
        ("widgets.example.com", "other/w.yaml", "v1/w.yaml")
    }
    text = run("diff", old, new, "-v").out
    assert "other/w.yaml is ignored, v1/w.yaml is used" in text
    assert "1 duplicate CRD document ignored (-v names them)" in run("diff", old, new).out


def test_an_explicit_set_wins_over_none(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", a=widget("Z", ha="true"), b=widget("A", set="Default", ha="true"))
    new = tree(tmp_path / "new", a=widget("Z", ha="true"), b=widget("A", "B", set="Default", ha="true"))
    assert only(diff(old, new))["old"] == ["A"]


# -- Gateway API, and nothing at all ---------------------------------------------


def test_channels(tmp_path: Path) -> None:
    old = tree(
        tmp_path / "old",
        standard__w=widget("A", channel="standard"),
        experimental__w=widget("A", channel="experimental"),
    )
    new = tree(
        tmp_path / "new",
        standard__w=widget("A", channel="standard"),
        experimental__w=widget("A", "B", channel="experimental"),
    )
    report = diff(old, new)
    assert report["summary"]["contexts"] == ["experimental", "standard"]
    assert only(report)["contexts"] == ["experimental"]


def test_copies_in_several_folders_are_compared_folder_by_folder(tmp_path: Path) -> None:
    old = tree(tmp_path / "old", config__w=widget("A"), bundle__w=widget("A", "B"))
    new = tree(tmp_path / "new", config__w=widget("A", "B"), bundle__w=widget("A", "B", "C"))
    report = diff(old, new)
    assert sorted((f["old"], f["added"]) for f in report["findings"]) == [(["A"], ["B"]), (["A", "B"], ["C"])]


def test_equal_copies_are_one(tmp_path: Path) -> None:
    places = ("config__w", "bundle__w", "charts__x__w", "deploy__all")
    old = tree(tmp_path / "old", **{place: widget("A") for place in places})
    new = tree(tmp_path / "new", **{place: widget("A", "B") for place in places[:3]}, elsewhere=widget("A", "B"))
    report = diff(old, new)
    assert only(report)["added"] == ["B"]
    assert report["summary"]["crds"] == {
        "old": 1, "new": 1, "compared": 1, "changed": 1, "only_old": [], "only_new": [], "apart": [],
        "unmatched": [],
    }  # fmt: skip


def test_versions_that_only_one_side_has(tmp_path: Path) -> None:
    schema = root(spec=obj(a=string("A")))
    old = write(tmp_path / "old.yaml", crd(versions=[version(schema, "v1beta1")]))
    new = write(tmp_path / "new.yaml", crd(versions=[version(schema, "v1beta1", storage=False), version(schema, "v1")]))
    report = diff(old, new)
    reported = {(entry["version"], entry["keyword"]) for entry in report["undecided"]}
    assert ("v1", "versions") in reported or [f for f in report["findings"] if f["rule"].startswith("version")]


def test_every_version_is_compared(tmp_path: Path) -> None:
    def made(*members: str) -> Json:
        narrow, wide = root(status=obj(p=string("A"))), root(status=obj(p=string(*members)))
        return crd(versions=[version(narrow, "v1"), version(wide, "v2", storage=False)])

    finding = only(diff(write(tmp_path / "a.yaml", made("A")), write(tmp_path / "b.yaml", made("A", "B"))))
    assert finding["version"] == "v2"
    assert finding["witness"]["object"]["apiVersion"] == "example.com/v2"


# -- where sides come from ---------------------------------------------


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """main has the new value, release-1 (and the tag v1.0) has not; the file was moved between."""
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, {"crds/widget.yaml": widget("A"), "README.md": "x"})
    git(path, "branch", "release-1")
    git(path, "tag", "v1.0")
    git(path, "tag", "-am", "the same", "annotated")
    commit(path, {"crds/widget.yaml": None, "deploy/all/w.yaml": widget("A", "B")})
    return path


def _added(report: Json) -> list[str]:
    return [value for finding in report["findings"] for value in finding["added"]]


@pytest.mark.parametrize(
    "old", ["release-1", "v1.0", "annotated", "HEAD~1", "main^", "refs/heads/release-1", "git:v1.0"]
)
def test_refs(repo: Path, old: str) -> None:
    report = diff(old, "main", cwd=repo)
    assert _added(report) == ["B"]
    assert report["old"]["commit"] == git(repo, "rev-parse", "release-1")
    assert report["old"]["name"] == old


def test_commits_by_id(repo: Path) -> None:
    first, second = git(repo, "rev-parse", "release-1"), git(repo, "rev-parse", "main")
    assert _added(diff(first, second[:10], cwd=repo)) == ["B"]


def test_a_branch_of_the_remote_only(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repo), "clone")
    for name in ("release-1", "origin/release-1"):
        report = diff(name, "main", cwd=tmp_path / "clone")
        assert _added(report) == ["B"]
    assert diff("release-1", "main", cwd=tmp_path / "clone")["old"]["notes"] == [
        "release-1 is read as origin/release-1"
    ]


def test_repo_option(repo: Path, tmp_path: Path) -> None:
    assert _added(diff("release-1", "main", "--repo", repo, cwd=tmp_path)) == ["B"]


def test_a_ref_against_a_path(repo: Path, tmp_path: Path) -> None:
    written = write(tmp_path / "elsewhere" / "x.yaml", widget("A", "B", "C"))
    assert _added(diff("release-1", written, cwd=repo)) == ["B", "C"]
    assert _added(diff("release-1", "path:deploy", cwd=repo)) == ["B"]
    assert _added(diff("git:release-1", "worktree:", cwd=repo)) == ["B"]
    assert _added(diff("git:release-1", "index:", cwd=repo)) == ["B"]


def test_bare_mirror_without_a_config_file(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--mirror", str(repo), "mirror.git")
    (tmp_path / "mirror.git" / "config").unlink()
    assert _added(diff("release-1", "main", "--repo", tmp_path / "mirror.git")) == ["B"]
    assert _added(diff("release-1", "main", cwd=tmp_path / "mirror.git")) == ["B"]


def test_shallow_clone(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{repo}", "shallow")
    report = diff("origin/release-1", "main", cwd=tmp_path / "shallow")
    assert _added(report) == ["B"]
    ran = run("diff", "HEAD~1", "main", cwd=tmp_path / "shallow")
    assert ran.code == 2
    assert "shallow" in ran.err


def test_linked_worktree(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "linked"), "release-1")
    assert _added(diff("release-1", "main", cwd=tmp_path / "linked")) == ["B"]
    assert _added(diff("worktree:", "main", cwd=tmp_path / "linked")) == ["B"]


def test_from_a_folder_below(repo: Path) -> None:
    assert _added(diff("release-1", "main", cwd=repo / "deploy")) == ["B"]


def test_a_ref_that_is_a_path_too(repo: Path) -> None:
    write(repo / "release-1" / "w.yaml", widget("A", "B", "Q"))
    report = diff("release-1", "main", cwd=repo)
    assert _added(report) == ["B"]
    assert "git ref and a path" in " ".join(report["old"]["notes"])


def test_nothing_is_written_into_the_repository(repo: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in repo.rglob("*") if path.is_file()}
    diff("release-1", "main", cwd=repo)
    assert {path: path.stat().st_mtime_ns for path in repo.rglob("*") if path.is_file()} == before


def test_the_copied_repository_gives_the_same_report(repo: Path, tmp_path: Path) -> None:
    shutil.copytree(repo, tmp_path / "copy")
    here, there = (diff("release-1", "main", cwd=path) for path in (repo, tmp_path / "copy"))
    assert json.dumps(here) == json.dumps(there)


@pytest.mark.parametrize(
    ("paths", "count"), [(["deploy"], 1), (["crds"], 1), (["./crds/"], 1), (["crds/widget.yaml"], 1)]
)
def test_paths_choose_by_the_files_of_either_side(repo: Path, paths: list[str], count: int) -> None:
    assert len(diff("release-1", "main", *paths, cwd=repo)["findings"]) == count


def test_paths_that_choose_nothing(repo: Path) -> None:
    ran = run("diff", "release-1", "main", "elsewhere", cwd=repo)
    assert ran.code == 2
    assert "elsewhere" in ran.err


# -- what is no CRD source ---------------------------------------------


def test_what_is_left_out_is_counted_with_its_reason(tmp_path: Path) -> None:
    wide = widget("A", "B", "Q")
    for side, members in (("old", "A"), ("new", "AB")):
        folder = tree(tmp_path / side, config__w=widget(*members))
        tree(
            folder,
            vendor__x__w=wide,
            a__testdata__w=wide,
            a__tests__w=wide,
            **{"a__zz_generated.featuregated-crd-manifests__w__G": wide, "a__manual-override-crd-manifests__w": wide},
        )
        write(
            folder / "charts/templates/crd.yaml",
            "{{- if .Values.crds }}\nkind: {{ CustomResourceDefinition }}\n{{- end }}\n",
        )
        write(folder / "patch.yaml", {**crd(), "spec": {"conversion": {"strategy": "None"}}})
        write(folder / "cm.yaml", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
        write(folder / "empty.yaml", "")
        write(folder / "notes.txt", "kind: CustomResourceDefinition")
    report = diff(tmp_path / "old", tmp_path / "new")
    assert only(report)["added"] == ["B"]
    reasons = {entry["file"]: entry["reason"] for entry in report["summary"]["skipped"] if entry["side"] == "new"}
    assert reasons == {
        "vendor/x/w.yaml": "vendored",
        "a/testdata/w.yaml": "test data",
        "a/tests/w.yaml": "test suite",
        "a/zz_generated.featuregated-crd-manifests/w/G.yaml": "fragment of a feature gate",
        "a/manual-override-crd-manifests/w.yaml": "fragment: manual override",
        "charts/templates/crd.yaml": "template that is not YAML",
        "patch.yaml": "fragment of a CRD: no names or versions",
        "cm.yaml": "no CRD",
        "empty.yaml": "empty",
    }
    assert "18 files skipped" in run("diff", tmp_path / "old", tmp_path / "new").out


def test_left_out_folders_do_not_count_in_the_source_s_own_path(tmp_path: Path) -> None:
    old = tree(tmp_path / "testdata" / "vendor" / "old", w=widget("A"))
    new = tree(tmp_path / "testdata" / "vendor" / "new", w=widget("A", "B"))
    assert _added(diff(old, new)) == ["B"]


def test_same_change_brief(tmp_path: Path) -> None:
    """Two CRDs with the same change are two findings."""
    for side, members in (("old", ["A"]), ("new", ["A", "B"])):
        for kind in ("Widget", "Gadget"):
            write(tmp_path / side / f"{kind}.yaml", crd(root(status=obj(p=string(*members))), kind=kind))
    report = diff(tmp_path / "old", tmp_path / "new")
    assert [brief(f)[3] for f in report["findings"]] == ["gadgets.example.com", "widgets.example.com"]
    assert len({f["id"] for f in report["findings"]}) == 2
    assert len(select(report, crd="gadgets.example.com")) == 1
    assert len(diff(tmp_path / "old", tmp_path / "new", "--crd", "gadgets.example.com")["findings"]) == 1
