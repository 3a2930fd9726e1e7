"""How a check names what it compares: this change, branches, the ends of paths; never a commit twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import repository, widget
from helpers import commit, crd, git, obj, root, run, string, write

from crdcompat.crds.context import FEATURE_SET, PROFILE

_SELF_MANAGED = "self-managed-high-availability"
_LONG = Path("a-folder-with-a-long-name/of-releases/release-b")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A change on top of release-4.18; the release before has no branch."""
    made = repository(tmp_path)
    for phases in ("A", "AB", "ABC"):
        commit(made, {"w.yaml": widget(*phases)})
    git(made, "update-ref", "refs/remotes/origin/release-4.18", "HEAD~1")
    write(made / _LONG / "w.yaml", widget("A"))
    return made


@pytest.mark.parametrize(
    ("target", "title", "head"),
    [
        ("HEAD~1", "release-4.18", "release-4.18 ({})"),
        ("HEAD~2", "{}", "{}"),
        (str(_LONG), "release-b", str(_LONG)),
    ],
    ids=["a commit with a branch", "a commit", "a path"],
)
def test_a_target_has_the_name_that_people_know(repo: Path, target: str, title: str, head: str) -> None:
    commit_id = git(repo, "rev-parse", target).strip() if target.startswith("HEAD") else ""
    short = commit_id[:12]
    named = commit_id or str(repo / target)
    out = run("check", "--base", "HEAD~1", "--target", named, cwd=repo).out
    lines = out.splitlines()
    assert f"Against the rollback target {title.format(short)}" in lines
    (line,) = (line for line in lines if " -> this change" in line and "before this change" not in line)
    path = "" if commit_id else f"{repo}/"
    assert line.partition(",")[0].partition(" -> ")[0] == f"{path}{head.format(short)}"
    assert not commit_id or commit_id not in out
    assert commit_id or out.count(named) == 1


def test_a_commit_at_the_end_of_a_release_runs_on_its_server(repo: Path) -> None:
    commit_id = git(repo, "rev-parse", "HEAD~1").strip()
    ran = run("check", "--base", "HEAD~1", "--target", commit_id, "--format", "json", cwd=repo)
    (target,) = (each for each in ran.report["sections"] if each["against"] == "target")
    assert (target["old"]["name"], target["old"]["kubernetes"]) == (commit_id, "1.31")


def test_the_note_on_the_base_has_short_commits(repo: Path) -> None:
    commit_id = git(repo, "rev-parse", "HEAD").strip()
    out = run("check", "--base", f"{commit_id}~1", "--head", commit_id, cwd=repo).out
    base = git(repo, "rev-parse", "HEAD~1")[:12]
    assert f"note: compared with {base}, the merge base with --base {commit_id[:12]}~1" in out.splitlines()


def test_feature_sets_of_files_that_are_not_compared_count(tmp_path: Path) -> None:
    """A finding in the only set of the touched CRD is not in all feature sets."""
    made = repository(tmp_path)
    phases = {"Default": ["A"], "TechPreviewNoUpgrade": ["A"]}
    for preview in ("A", "AB"):
        phases["TechPreviewNoUpgrade"] = [*preview]
        files = {
            f"{name}.yaml": crd(root(status=obj(p=string(*found))), kind=f"{name}Kind", annotations={FEATURE_SET: name})
            for name, found in phases.items()
        }
        commit(made, files)
    git(made, "branch", "target", "HEAD~1")
    out = run("check", "--base", "HEAD~1", "--target", "target", "--targets-only", "-v", cwd=made).out
    contexts = {line.strip() for line in out.splitlines() if line.startswith("  contexts: ")}
    assert contexts == {"contexts: TechPreviewNoUpgrade"}


def test_the_sets_and_profiles_of_most_clusters_come_first(tmp_path: Path) -> None:
    """Not CustomNoUpgrade and the profile of one cloud, which the alphabet has first."""
    made = repository(tmp_path)
    names = [f"{name}NoUpgrade-{profile}" for name in ("Custom", "TechPreview") for profile in ("cloud", _SELF_MANAGED)]
    for phases in ("A", "AB"):
        files = {}
        for name in names:
            feature_set, _, profile = name.partition("-")
            notes = {FEATURE_SET: feature_set, f"{PROFILE}{profile}": "true"}
            # Each file has a field of its own: the variants differ.
            files[f"{name}.yaml"] = crd(root(status=obj(p=string(*phases), **{f"{name}": string()})), annotations=notes)
        commit(made, files)
    ran = run("check", "--base", "HEAD~1", "--format", "json", cwd=made)
    (finding,) = (each for each in ran.report["sections"][0]["findings"] if each["rule"] == "enum-value-added")
    files = [place["file"] for place in finding["locations"] if place["side"] == "new"]
    first, second = f"TechPreviewNoUpgrade-{_SELF_MANAGED}.yaml", "TechPreviewNoUpgrade-cloud.yaml"
    assert files == [first, second, f"CustomNoUpgrade-{_SELF_MANAGED}.yaml", "CustomNoUpgrade-cloud.yaml"]
