"""check: the change of a pull request, replayed on real history and on small repositories of our own."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, commit, crd, git, load_yaml, obj, root, run, string

from crdcompat.jobs.change import find_change

CV = "config/v1/0000_00_cluster-version-operator_01_clusterversion.crd.yaml"
CAPABILITIES = ["MachineAPI", "Build", "DeploymentConfig", "ImageRegistry"]
#: What the 4.14 ClusterVersion does on 4.13's tree: (direction, rule, path, severity, line in OLD, line in NEW).
FOUND = [
    ("rollback", "enum-value-added", "status.capabilities.enabledCapabilities[*]", "error", 186, 200),
    ("rollback", "enum-value-added", "status.capabilities.knownCapabilities[*]", "error", 202, 220),
    ("rollback", "enum-value-added", "spec.capabilities.additionalEnabledCapabilities[*]", "warning", 65, 74),
    ("rollback", "enum-value-added", "spec.capabilities.baselineCapabilitySet", "warning", 78, 87),
    ("upgrade", "cel-rule-added", "", "warning", 35, 445),
]
_CI = ("PRE_COMMIT_FROM_REF", "PRE_COMMIT_TO_REF", "PULL_BASE_SHA", "PULL_BASE_REF", "GITHUB_BASE_REF")


@pytest.fixture(autouse=True)
def _no_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_CI, "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def pull_request(openshift_api: Path, tmp_path: Path) -> Path:
    """A clone in which the 4.14 ClusterVersion is staged on 4.13's tree."""
    clone = tmp_path / "pr"
    subprocess.run(["git", "clone", "--quiet", str(openshift_api), str(clone)], check=True)
    git(clone, "config", "user.email", "a@example.com")
    git(clone, "config", "user.name", "A")
    for name in ("4.12", "4.13", "4.14"):
        tip = git(openshift_api, "rev-parse", f"refs/remotes/origin/release-{name}")
        git(clone, "fetch", "--quiet", str(openshift_api), f"{tip}:refs/remotes/origin/release-{name}")
    git(clone, "checkout", "--quiet", "-b", "work", "origin/release-4.13")
    git(clone, "checkout", "--quiet", "origin/release-4.14", "--", CV)
    return clone


def check(at: Path, *args: str, code: int) -> Json:
    ran = run("check", *args, "--format", "json", cwd=at)
    assert ran.code == code, ran.err or ran.out[:2000]
    return ran.report


def brief(section: Json, *, status: str = "new") -> list[tuple[Any, ...]]:
    return [
        (f["direction"], f["rule"], f["path"], f["severity"], *(place["line"] for place in f["locations"]))
        for f in section["findings"]
        if f["status"] == status
    ]


BASE = ("--base", "origin/release-4.13")


def test_a_pull_request_in_the_index_in_the_working_tree_and_committed(pull_request: Path) -> None:
    reports = [check(pull_request, *BASE, code=1)]
    git(pull_request, "reset", "--quiet")
    assert check(pull_request, *BASE, code=0)["sections"] == []  # the index is 4.13's again
    reports.append(check(pull_request, *BASE, "--head", "worktree:", code=1))
    git(pull_request, "commit", "--quiet", "-am", "capabilities")
    reports.append(check(pull_request, *BASE, "--head", "HEAD", code=1))
    for report in reports:
        (section,) = report["sections"]
        assert section["against"] == "base"
        assert brief(section) == FOUND
        assert section["findings"][0]["added"] == CAPABILITIES
        assert (section["old"]["name"], section["old"]["kubernetes"]) == ("release-4.13", "1.26")
        assert report["summary"]["findings"] == {"error": 2, "warning": 3, "info": 0}


@pytest.mark.parametrize(
    "environment",
    [
        {"PULL_BASE_SHA": "<4.13>", "PULL_BASE_REF": "release-4.13"},
        {"GITHUB_BASE_REF": "release-4.13"},
        {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "release-4.13"},
        {"PRE_COMMIT_FROM_REF": "<4.13>", "PRE_COMMIT_TO_REF": "HEAD"},
        {"GITHUB_BASE_REF": "", "PULL_BASE_SHA": "<4.13>"},
    ],
    ids=lambda environment: "+".join(environment),
)
def test_where_ci_says_what_the_base_is(
    pull_request: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    git(pull_request, "commit", "--quiet", "-am", "capabilities")
    base = git(pull_request, "rev-parse", "origin/release-4.13")
    for name, value in environment.items():
        monkeypatch.setenv(name, value.replace("<4.13>", base))
    (section,) = check(pull_request, code=1)["sections"]
    assert brief(section) == FOUND


def test_the_order_in_which_the_base_is_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path)
    commits = [commit(repo, {"w.yaml": widget("A", name)}) for name in "BCDE"]
    (repo / ".crdcompat.yaml").write_text(f"base: {commits[2]}\n")
    expected = []
    for chosen, variable in ((commits[2], ""), (commits[1], "GITHUB_BASE_REF"), (commits[0], "PULL_BASE_SHA")):
        if variable:
            monkeypatch.setenv(variable, chosen)
        expected.append(chosen[:12])
        assert chosen[:12] in check(repo, code=1)["notes"][0]
    assert commits[2][:12] in check(repo, "--base", commits[2], code=1)["notes"][0]
    assert len(set(expected)) == 3


def test_only_what_left_the_base_counts(tmp_path: Path) -> None:
    """The base went on after the change left it: that is not this change's doing."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "checkout", "--quiet", "-b", "work")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "checkout", "--quiet", "main")
    commit(repo, {"w.yaml": widget("A", "Z")})
    git(repo, "checkout", "--quiet", "work")
    (section,) = check(repo, "--base", "main", code=1)["sections"]
    assert [finding["added"] for finding in section["findings"]] == [["B"]]


def test_a_base_that_nothing_tells_is_no_pass(tmp_path: Path) -> None:
    """As CI makes a clone: no default branch of the remote, nothing staged, and a bad change at HEAD."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "checkout", "--quiet", "-b", "feat")
    commit(repo, {"w.yaml": widget("A", "B")})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--branch", "feat", str(repo), str(clone))
    git(clone, "remote", "set-head", "origin", "--delete")
    for args in ((), ("--base", "")):
        ran = run("check", *args, cwd=clone)
        assert ran.code == 2
        assert "give --base" in ran.err or "--base is empty" in ran.err
    assert check(clone, "--base", "origin/main", code=1)["summary"]["findings"]["error"] == 1


def test_a_history_too_short_for_the_base_says_what_to_fetch(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "checkout", "--quiet", "-b", "feat")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "checkout", "--quiet", "main")
    commit(repo, {"w.yaml": widget("A", "Z")})
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", "--branch=feat", f"file://{repo}", str(clone))
    ran = run("check", "--base", "origin/main", cwd=clone)
    assert ran.code == 2
    assert "fetch --deepen" in ran.err


# -- rollback targets -----------------------------------------------------------------


def test_what_stood_before_against_a_target_is_existing(pull_request: Path) -> None:
    (pull_request / ".crdcompat.yaml").write_text("rollback_targets: {release-4.13: [release-4.12]}\n")
    report = check(pull_request, *BASE, code=1)
    base, target = report["sections"]
    assert (base["against"], target["against"], target["old"]["name"]) == ("base", "target", "release-4.12")
    assert brief(base) == FOUND
    fresh = [finding for finding in target["findings"] if finding["status"] == "new"]
    assert [(f["path"], f["added"]) for f in fresh if f["severity"] == "error"] == [
        ("status.capabilities.enabledCapabilities[*]", CAPABILITIES),
        ("status.capabilities.knownCapabilities[*]", CAPABILITIES),
    ]
    there = [f for f in target["findings"] if f["path"].endswith("knownCapabilities[*]") and f["status"] == "existing"]
    assert [finding["added"] for finding in there] == [["NodeTuning"]]
    for finding in (*fresh, *there):
        if finding["rule"] == "enum-value-added":
            assert finding["witness"]["object"] is not None
            assert any(f'"{finding["added"][0]}"' in error for error in finding["witness"]["errors"])
    # One change that breaks two releases is one finding.
    assert report["summary"]["findings"]["error"] == 2
    assert target["summary"]["findings"]["existing"] == len(target["findings"]) - len(fresh)


def test_a_release_that_the_map_does_not_name(pull_request: Path) -> None:
    (pull_request / ".crdcompat.yaml").write_text("rollback_targets: {release-4.14: [release-4.13]}\n")
    report = check(pull_request, *BASE, code=1)
    assert len(report["sections"]) == 1
    assert any("does not name 'release-4.13'" in note for note in report["notes"])


def test_all_shows_what_stood_before(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "branch", "base")
    commit(repo, {"w.yaml": widget("A", "B"), "v.yaml": crd(root(spec=obj(a=string())), kind="Gadget")})
    plain = run("check", "--base", "base", "--target", "old", cwd=repo)
    shown = run("check", "--base", "base", "--target", "old", "--all", cwd=repo)
    assert (plain.code, shown.code) == (0, 0)
    assert "error[enum-value-added]" not in plain.out
    assert "1 finding stood there before this change (--all lists them)." in plain.out
    assert "error[enum-value-added]" in shown.out
    pages = [
        run("check", "--base", "base", "--target", "old", *more, "--format", "html", cwd=repo).out
        for more in ((), ("--all",))
    ]
    assert ['<details class="group aside held">' in page for page in pages] == [True, False]


def test_existing_by_place_and_by_size(tmp_path: Path) -> None:
    """A copy that joins the others is new, and so is a bound that goes on being loosened."""
    repo = repository(tmp_path)

    def made(a: str, b: str, most: int) -> Json:
        return crd(root(spec=obj(a=obj(m=string(*a)), b=obj(m=string(*b)), s=string(maxLength=most))))

    commit(repo, {"w.yaml": made("A", "A", 5)})
    git(repo, "branch", "target")
    commit(repo, {"w.yaml": made("AB", "A", 10)})
    git(repo, "branch", "base")
    commit(repo, {"w.yaml": made("AB", "A", 50)})
    report = check(repo, "--base", "base", "--target", "target", code=0)
    told = {(f["path"], f["status"]) for f in report["sections"][1]["findings"] if f["direction"] == "rollback"}
    assert told == {("spec.a.m", "existing"), ("spec.s", "new")}
    commit(repo, {"w.yaml": made("AB", "AB", 10)})
    report = check(repo, "--base", "base", "--target", "target", code=0)
    told = {(f["path"], f["status"]) for f in report["sections"][1]["findings"] if f["direction"] == "rollback"}
    assert told == {("spec.a.m", "new"), ("spec.s", "existing")}


def of_sets(default: str, preview: str) -> Json:
    """The widget of two feature sets, its phases in each."""
    key = "release.openshift.io/feature-set"
    return {
        f"{name}.yaml": crd(root(status=obj(p=string(*phases))), annotations={key: name})
        for name, phases in (("Default", default), ("TechPreviewNoUpgrade", preview))
    }


def test_what_becomes_everybodys_is_new(tmp_path: Path) -> None:
    """A value of a feature set that nobody can roll back was there; that it comes to Default is this change's doing."""
    repo = repository(tmp_path)
    commit(repo, of_sets("A", "A"))
    git(repo, "branch", "target")
    commit(repo, of_sets("A", "ABC"))
    git(repo, "branch", "base")
    commit(repo, of_sets("AB", "ABC"))
    report = check(repo, "--base", "base", "--target", "target", code=1)
    told = {(f["status"], f["severity"], *f["added"]) for f in report["sections"][1]["findings"]}
    assert told == {("new", "error", "B"), ("existing", "warning", "B", "C")} or told == {
        ("new", "error", "B"),
        ("existing", "warning", "C"),
    }


def test_the_same_path_with_other_values_elsewhere_is_told_apart(tmp_path: Path) -> None:
    """Two feature sets have changes of one kind at one path: each was there, whichever comes last."""
    repo = repository(tmp_path)
    free = crd(root(spec=obj(a=string())))
    key = "release.openshift.io/feature-set"
    sets = ("Default", "TechPreviewNoUpgrade")

    def state(*more: str) -> Json:
        files = {name: crd(root(spec=obj(a=string(name, "x"))), annotations={key: name}) for name in sets}
        return {**{f"{name}.yaml": made for name, made in files.items()}, "other.yaml": gadget(*more)}

    def gadget(*more: str) -> Json:
        return crd(root(spec=obj(a=string("A", *more))), kind="Gadget")

    commit(repo, {f"{name}.yaml": {**free, "metadata": {**free["metadata"], "annotations": {key: name}}}
                  for name in sets} | {"other.yaml": gadget()})  # fmt: skip
    git(repo, "branch", "target")
    commit(repo, state())
    git(repo, "branch", "base")
    commit(repo, state("B"))
    report = check(repo, "--base", "base", "--target", "target", code=0)
    found = [f for f in report["sections"][1]["findings"] if f["rule"] == "enum-introduced"]
    assert len(found) == 2 and {f["status"] for f in found} == {"existing"}


def test_a_waiver_of_a_warning_covers_no_error(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, of_sets("A", "A"))
    git(repo, "branch", "old")
    commit(repo, of_sets("A", "AB"))
    assert left(repo) == {"enum-value-added"}
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    assert left(repo) == set()
    (entry,) = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert entry["severity"] == "warning"
    commit(repo, of_sets("AB", "AB"))
    assert check(repo, "--base", "old", code=1)["summary"]["findings"]["error"] == 1
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    check(repo, "--base", "old", code=0)


def test_the_witness_of_the_rest_holds_the_rest(tmp_path: Path) -> None:
    """Another field holds the value that is left: that is no proof."""
    repo = repository(tmp_path)

    def made(*values: str) -> Json:
        spec = {**obj(other=string("C"), x=string(*values)), "required": ["other"]}
        return crd({**root(spec=spec), "required": ["spec"]})

    commit(repo, {"w.yaml": made("A")})
    commit(repo, {"w.yaml": made("A", "B", "C")})
    entry = {
        "crd": "widgets.example.com", "version": "v1", "path": "spec.x", "rule": "enum-value-added",
        "direction": "rollback", "values": ["B"], "reason": "so be it",
    }  # fmt: skip
    write_waivers(repo, entry)
    findings = check(repo, "--base", "HEAD~1", code=0)["sections"][0]["findings"]
    (left,) = (finding for finding in findings if finding["waiver"] is None)
    assert left["added"] == ["C"]
    assert left["witness"]["object"]["spec"] == {"other": "C", "x": "C"}
    assert left["witness"]["errors"][0].startswith('spec.x: Unsupported value: "C"')


# -- what is no change ------------------------------------------------------------------


def test_moved_files_pass_without_a_word_on_findings(pull_request: Path) -> None:
    git(pull_request, "reset", "--quiet", "--hard")
    git(pull_request, "mv", "config/v1", "config/elsewhere")
    report = check(pull_request, *BASE, code=0)
    assert report["sections"] == []
    assert report["notes"][-1].endswith("no CRD changed: nothing to check")
    silent = run("check", *BASE, cwd=pull_request)
    assert (silent.code, silent.out, silent.err) == (0, "", "")
    assert run("check", *BASE, "-v", cwd=pull_request).out.endswith("no CRD changed: nothing to check\n")


def test_a_change_of_no_crd_parses_no_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    commit(repo, {"README": "b", "values.yaml": {"a": 1}})

    def never(*_: object) -> None:
        raise AssertionError("a file was parsed")

    monkeypatch.setattr("crdcompat.manifests.crdset.read_documents", never)
    for head in ("index:", "worktree:", "HEAD"):
        assert check(repo, "--base", "HEAD~1", "--head", head, code=0)["sections"] == []


def test_what_is_not_staged_is_said_not_to_be_looked_at(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    (repo / "README").write_text("b")
    assert len(check(repo, code=0)["notes"]) == 1
    (repo / "w.yaml").write_text(json.dumps(widget("A", "B")))
    told = "what is not staged is not looked at: --head worktree:"
    assert check(repo, code=0)["notes"][1:] == [told]
    assert told in run("check", cwd=repo).out
    assert check(repo, "--head", "worktree:", code=1)["summary"]["findings"]["error"] == 1


def test_what_is_staged_counts_even_if_it_is_gone_from_disk(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"README": "a"})
    (repo / "w.yaml").write_text("kind: CustomResourceDefinition\nspec: {a: [\n")
    git(repo, "add", "w.yaml")
    (repo / "w.yaml").unlink()
    report = check(repo, "--base", "HEAD", code=2)
    assert [problem["file"] for problem in report["summary"]["problems"]] == ["w.yaml"]


def test_a_conflict_is_never_a_pass(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "README": "a"})
    git(repo, "checkout", "-qb", "other")
    commit(repo, {"README": "b"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"README": "c"})
    assert subprocess.run(["git", "-C", str(repo), "merge", "-q", "other"], capture_output=True).returncode == 1
    report = check(repo, "--base", "HEAD", code=2)
    assert [problem["file"] for problem in report["summary"]["problems"]] == ["README"]


def test_a_head_is_never_read_as_a_path_an_option_or_a_range(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "docs/README": "a"})
    git(repo, "checkout", "-qb", "docs")
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "checkout", "-q", "main")
    git(tmp_path, "clone", "-q", str(repo), "clone")
    assert check(tmp_path / "clone", "--head", "docs", code=1)["summary"]["findings"]["error"] == 1
    git(repo, "branch", "-qm", "docs", "topic")
    for head in ("docs", "main..topic", "main^{tree}", "^main", "-p", f"--output={tmp_path / 'written'}"):
        ran = run("check", f"--head={head}", cwd=repo)  # no remote tells a base
        assert (ran.code, ran.out) == (2, ""), head
    assert not (tmp_path / "written").exists()


def test_a_tag_that_is_pushed_onto_another_history_stands_for_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = repository(tmp_path)
    first = commit(repo, {"w.yaml": widget("A")})
    git(repo, "tag", "-a", "v1", "-m", "one")
    git(repo, "checkout", "-q", "--orphan", "other")
    commit(repo, {"w.yaml": widget("A", "B")})
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", git(repo, "rev-parse", "v1"))
    assert check(repo, "--head", "HEAD", code=1)["sections"][0]["old"]["commit"] == first


def test_a_branch_that_is_deleted_is_reported_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    monkeypatch.setenv("PRE_COMMIT_TO_REF", "0" * 40)
    report = check(repo, code=0)
    assert report["notes"] == ["a branch is being deleted: nothing to check"]


def test_a_crd_that_appears_or_goes(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"README": "a"})
    commit(repo, {"w.yaml": widget("A")})
    assert check(repo, "--base", "HEAD~1", code=0)["sections"][0]["summary"]["crds"]["new"] == 1
    commit(repo, {"w.yaml": None})
    assert check(repo, "--base", "HEAD~1", code=0)["sections"][0]["summary"]["crds"]["only_old"] == [
        "widgets.example.com"
    ]


def test_what_cannot_be_read_is_never_a_pass(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    (repo / "w.yaml").write_text("kind: CustomResourceDefinition\nspec: {a: [\n")
    git(repo, "add", "w.yaml")
    report = check(repo, "--base", "HEAD", code=2)
    assert [problem["file"] for problem in report["summary"]["problems"]] == ["w.yaml"]


# -- waivers -----------------------------------------------------------------------------


def test_waivers_over_their_life(pull_request: Path) -> None:
    """The pull request passes with waivers, fails after their end, and for a value they do not name."""
    report = check(pull_request, *BASE, code=1)
    ids = [f["id"] for f in report["sections"][0]["findings"] if f["severity"] == "error"]
    waived = run("waive", *ids, "--base", BASE[1], "--reason", "cluster-version-operator keeps out", cwd=pull_request)
    assert waived.code == 0, waived.err
    file = pull_request / ".crdcompat-waivers.yaml"
    text = file.read_text()
    passed = check(pull_request, *BASE, code=0)
    found = passed["sections"][0]["findings"]
    assert [f["waiver"]["reason"] for f in found if f["waiver"]] == ["cluster-version-operator keeps out"] * 2
    assert passed["summary"]["findings"]["error"] == 0

    file.write_text(text.replace("reason:", "until: '2020-01-31'\n    reason:"))
    late = check(pull_request, *BASE, code=1)
    assert late["summary"]["findings"]["error"] == 2
    assert [line.split(":")[0] for line in late["waivers"]] == ["expired", "expired"]
    assert "until 2020-01-31" in late["waivers"][0]

    file.write_text(text)
    crd_file = pull_request / CV
    crd_file.write_text(re.sub(r"(?m)^( *)- ImageRegistry$", r"\g<0>\n\1- Ingress", crd_file.read_text()))
    git(pull_request, "add", "-A")
    more = check(pull_request, *BASE, code=1)
    errors = [f for f in more["sections"][0]["findings"] if f["severity"] == "error" and f["waiver"] is None]
    assert {tuple(f["added"]) for f in errors} == {("Ingress",)}
    assert all('"Ingress"' in f["witness"]["errors"][0] for f in errors)
    lines = crd_file.read_text().splitlines()
    for finding in errors:
        (place,) = (place for place in finding["locations"] if place["side"] == "new")
        assert lines[place["line"] - 1][place["column"] - 1 :] == "Ingress"


def test_a_waiver_by_release_and_one_that_nothing_matches(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "release-4.13")
    commit(repo, {"w.yaml": widget("A", "B")})
    entry = {
        "crd": "widgets.example.com", "version": "v1", "path": "status.p", "rule": "enum-value-added",
        "direction": "rollback", "values": ["B"], "reason": "so be it",
    }  # fmt: skip
    for until, code, said in (("4.14", 0, []), ("4.13", 1, ["expired"]), ("release-4.13", 1, ["expired"])):
        write_waivers(repo, {**entry, "until": until})
        report = check(repo, "--base", "release-4.13", code=code)
        assert [line.split(":")[0] for line in report["waivers"]] == said
    write_waivers(repo, entry, {**entry, "path": "status.gone"})
    report = check(repo, "--base", "release-4.13", "--target", "release-4.13", code=0)
    assert [line.split(":")[0] for line in report["waivers"]] == ["stale"]
    assert "status.gone" in report["waivers"][0]


def test_a_waiver_covers_no_later_change_of_a_keyword(tmp_path: Path) -> None:
    """What a bound, a pattern or a rule was and became is accepted; what it becomes next is not."""

    def state(most: int, pattern: str, *rules: str) -> Json:
        made = root(spec=obj(n={"type": "integer", "maximum": most}, p={"type": "string", "pattern": pattern}))
        listed = [{"rule": rule, "message": rule * 2} for rule in rules]
        return crd(made | ({"x-kubernetes-validations": listed} if rules else {}))

    repo, rule = repository(tmp_path), "self.spec.n != 7"
    commit(repo, {"w.yaml": state(1, "^a$", rule)})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": state(3, "^[ab]$")})
    found = [f for f in check(repo, "--base", "old", code=0)["sections"][0]["findings"] if f["severity"] != "info"]
    assert {f["rule"] for f in found} == {"bounds-loosened", "pattern-widened", "cel-rule-removed"}
    ids = [finding["id"][:8] for finding in found]
    assert run("waive", *ids, "--base", "old", "--reason", "known", cwd=repo).code == 0
    entries = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert {(entry["rule"], json.dumps([entry["old"], entry["new"]])) for entry in entries} == {
        ("bounds-loosened", '[{"maximum": 1}, {"maximum": 3}]'),
        ("pattern-widened", '["^a$", "^[ab]$"]'),
        ("cel-rule-removed", json.dumps([[{"rule": rule, "message": rule * 2}], None])),
    }
    git(repo, "add", "-A")
    assert left(repo) == set()
    commit(repo, {"w.yaml": state(4, "^[ab]$")})
    assert left(repo) == {"bounds-loosened"}
    commit(repo, {"w.yaml": state(3, "^[abc]$")})
    assert left(repo) == {"pattern-widened"}


def test_a_long_keyword_is_held_by_a_digest(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string("x" * 300))))})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string())))})
    assert left(repo) == {"enum-dropped"}
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    (entry,) = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert re.fullmatch("digest:[0-9a-f]{24}", entry["old"]) and entry["new"] is None
    assert left(repo) == set()
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string("y" * 300))))})
    git(repo, "branch", "--force", "old")
    commit(repo, {"w.yaml": crd(root(spec=obj(a=string())))})
    assert left(repo) == {"enum-dropped"}


def test_what_counts_again_says_which_waiver_has_ended(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "feature")
    commit(repo, {"w.yaml": widget("A", "B")})
    assert run("baseline", "--base", "feature", "--until", "2020-01-31", cwd=repo).code == 0
    report = check(repo, "--base", "feature", code=1)
    (finding,) = report["sections"][0]["findings"]
    assert re.fullmatch(r".*\.crdcompat-waivers\.yaml:\d+: until 2020-01-31", finding["ended_waiver"])
    told = "It was accepted once, and its waiver has expired: "
    for name in ("text", "junit", "markdown", "github", "gitlab", "sarif"):
        assert told in run("check", "--base", "feature", "--format", name, cwd=repo).out, name
    assert told in run("diff", "feature", "main", cwd=repo).out


def test_an_end_that_the_branch_does_not_tell_is_said(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "feature")
    commit(repo, {"w.yaml": widget("A", "B")})
    assert run("baseline", "--base", "feature", "--until", "4.17", cwd=repo).code == 0
    (said,) = check(repo, "--base", "feature", code=0)["waivers"]
    assert said.startswith("unending: ") and said.endswith("does not tell its release: it still counts")


def test_waive_names_what_there_is(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    (finding,) = check(repo, "--base", "old", code=1)["sections"][0]["findings"]
    line = f"{finding['id']}  error[enum-value-added] widgets.example.com/v1 status.p (rollback)"
    for wrong, told in (("zz", "no finding zz; there are"), ("", "no finding ; there are")):
        ran = run("waive", wrong, "--base", "old", "--reason", "x", cwd=repo)
        assert (ran.code, ran.err) == (2, f"crdcompat: {told}\n  {line}\n")
    ran = run("waive", finding["id"], "--base", "old", cwd=repo)
    assert (ran.code, ran.err) == (2, "crdcompat: --reason: say why it is accepted\n")


def test_the_baseline_accepts_everything_that_stands(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "old")
    commit(repo, {"w.yaml": widget("A", "B")})
    assert run("baseline", "--base", "old", cwd=repo).code == 0
    (entry,) = load_yaml((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert (entry["baseline"], entry["values"]) == (True, ["B"])
    assert check(repo, "--base", "old", code=0)["summary"]["findings"]["error"] == 0
    assert "0 waivers written" in run("baseline", "--base", "old", cwd=repo).out
    commit(repo, {"w.yaml": widget("A", "B", "C")})
    report = check(repo, "--base", "old", code=1)
    assert [f["added"] for f in report["sections"][0]["findings"] if not f["waiver"]] == [["C"]]


# -- helpers ------------------------------------------------------------------------------


def repository(tmp_path: Path) -> Path:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "config", "user.email", "a@example.com")
    git(repo, "config", "user.name", "A")
    return repo


def widget(*phases: str) -> Json:
    return crd(root(spec=obj(a=string()), status=obj(p=string(*phases))))


def left(repo: Path) -> set[str]:
    """The rules of what counts as a warning or an error against the branch ``old``."""
    found = run("check", "--base", "old", "--format", "json", cwd=repo).report["sections"][0]["findings"]
    return {f["rule"] for f in found if f["severity"] != "info" and f["waiver"] is None}


def write_waivers(repo: Path, *entries: Json) -> None:
    (repo / ".crdcompat-waivers.yaml").write_text(json.dumps({"waivers": entries}))


# -- where it comes from ---------------------------------------------------------------------


_TYPES = """package v1

// +kubebuilder:validation:Enum=A;B
type Phase string

type WidgetStatus struct {
	// p is the phase.
	P Phase `json:"p,omitempty"`
}

type Widget struct {
	Status WidgetStatus `json:"status,omitempty"`
}
"""
_DOC = "// +groupName=example.com\npackage v1\n"


def test_the_marker_in_the_go_source_and_who_brought_the_line(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A"), "api/v1/doc.go": _DOC, "api/v1/types.go": _TYPES.replace(";B", "")})
    git(repo, "branch", "release-4.13")
    commit(repo, {"w.yaml": widget("A", "B"), "api/v1/types.go": _TYPES}, "A new phase: B")
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "branch", "release-4.14")
    report = check(repo, "--base", "release-4.13", code=1)
    (finding,) = report["sections"][0]["findings"]
    places = {(place["side"], place["kind"]): place for place in finding["locations"]}
    go = places["new", "go"]
    assert (go["file"], go["line"]) == ("api/v1/types.go", 3)
    assert _TYPES.splitlines()[2][go["column"] - 1 :].startswith("B")
    told = finding["introduced_by"]
    assert (told["commit"], told["subject"], told["since"]) == (head, "A new phase: B", "release-4.14")
    out = run("check", "--base", "release-4.13", cwd=repo).out
    assert f"introduced by: {head[:12]} {told['date'][:10]} A new phase: B (since release-4.14)" in out
    assert "--> new: api/v1/types.go:3:" in out
    annotations = run("check", "--base", "release-4.13", "--format", "github", cwd=repo).out
    assert annotations.startswith("::error file=api/v1/types.go,line=3,")


def test_a_line_that_is_only_staged_has_no_commit(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    commit(repo, {"w.yaml": widget("A", "B")})
    git(repo, "reset", "--quiet", "--soft", "HEAD~1")
    (finding,) = check(repo, "--base", "HEAD", code=1)["sections"][0]["findings"]
    assert finding["introduced_by"] == {"commit": None, "date": None, "subject": "not committed yet", "since": None}


def test_a_default_branch_that_git_will_not_name_tells_no_release(tmp_path: Path) -> None:
    """A branch called as the remote's HEAD is makes git silent: HEAD's own name is not taken in its place."""
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet", "--initial-branch=release-4.99")
    commit(repo, {"w.yaml": crd(root(spec=obj()))})
    git(tmp_path, "clone", "--quiet", str(repo), "clone")
    clone = tmp_path / "clone"
    found = find_change(repo=str(clone), environment={})
    assert found is not None and found.release == "release-4.99"
    git(clone, "update-ref", "refs/heads/refs/remotes/origin/HEAD", "HEAD")
    found = find_change(repo=str(clone), environment={})
    assert found is not None and (found.release, found.why) == ("", "the remote's default branch")
