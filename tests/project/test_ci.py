"""The snippets of docs/ci.md: each is taken from the page, parsed, and run in a clone as its CI makes it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import Json, git
from markdown_it import MarkdownIt
from offline import PROJECT
from pipelines import BREAKING, HARMLESS, Job, job, snippet, written

PAGE = (PROJECT / "docs/ci.md").read_text(encoding="utf-8")
CHANGES = [
    pytest.param(BREAKING, 1, id="breaking"),
    pytest.param(HARMLESS, 0, id="harmless"),
    pytest.param(None, 0, id="no CRD touched"),
]


@pytest.mark.parametrize(("change", "code"), CHANGES)
def test_prow(tmp_path: Path, change: Json | None, code: int) -> None:
    ((presubmit,),) = snippet("presubmits")["presubmits"].values()
    (container,) = presubmit["spec"]["containers"]
    assert container["command"] == ["/bin/bash", "-c"]
    (script,) = container["args"]
    artifacts = tmp_path / "artifacts of the job"
    artifacts.mkdir()
    work = _job(tmp_path, change, PULL_BASE_REF="main", ARTIFACTS=str(artifacts))
    ran = work.script(script, "+e", PULL_BASE_SHA=work.base)
    _reported(ran.code, ran.output, code)
    (report,) = artifacts.iterdir()
    assert re.fullmatch(r"junit.*\.xml", report.name)
    assert ("status.phase" in written(report)) == bool(code)


def _targets(work: Job) -> None:
    """Another release at the origin, which the configuration names as target, and which the clone lacks."""
    git(work.at.parent / "origin", "branch", "release-4.1", f"{work.base}~1")
    config = "rollback_targets: {main: [release-4.1]}\n"
    (work.at / ".crdcompat.yaml").write_text(config, encoding="utf-8")


def test_prow_fetches_its_targets(tmp_path: Path) -> None:
    ((presubmit,),) = snippet("presubmits")["presubmits"].values()
    (container,) = presubmit["spec"]["containers"]
    work = _job(tmp_path, BREAKING, PULL_BASE_REF="main", ARTIFACTS=str(tmp_path))
    _targets(work)
    missing = work.script("crdcompat check", PULL_BASE_SHA=work.base)
    assert missing.code == 2, missing.output
    assert "git fetch origin release-4.1:refs/remotes/origin/release-4.1" in missing.output
    ran = work.script(container["args"][0], "+e", PULL_BASE_SHA=work.base)
    assert ran.code == 1, ran.output
    assert "Against the rollback target release-4.1" in ran.output


@pytest.mark.parametrize(("change", "code"), CHANGES)
def test_make_verify(tmp_path: Path, change: Json | None, code: int) -> None:
    """The target of the page, with a base that Prow sets and one that it does not."""
    blocks = [token.content for token in MarkdownIt().parse(PAGE) if token.type == "fence" and token.info == "make"]
    work = _job(tmp_path, change, PULL_BASE_REF="main")
    _targets(work)
    (work.at / "Makefile").write_text(blocks[0], encoding="utf-8")
    for script, env in (("make -s verify-crdcompat", {"PULL_BASE_SHA": work.base}), (_MAKE_MAIN, {})):
        ran = work.script(script, **env)
        assert ran.code == (2 if code else 0), ran.output  # make's own code for a recipe that fails
        assert ("status.phase" in ran.output) == bool(code), ran.output


_MAKE_MAIN = "make -s verify-crdcompat CRDCOMPAT_BASE=origin/main"


@pytest.mark.parametrize(("change", "code"), CHANGES)
def test_gitlab(tmp_path: Path, change: Json | None, code: int) -> None:
    wanted = snippet(".gitlab-ci.yml")["crdcompat"]
    assert wanted["image"]["entrypoint"] == [""]
    assert wanted["variables"]["GIT_DEPTH"] == "0"
    work = _job(tmp_path, change, GITLAB_CI="true", CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    git(work.at, "checkout", "-q", "--detach", "origin/feature")  # GitLab does not merge
    ran = work.script("\n".join(wanted["script"]))
    _reported(ran.code, ran.output, code)
    report = wanted["artifacts"]["reports"]["codequality"]
    assert wanted["artifacts"]["when"] == "always"
    assert ("status.phase" in written(work.at / report)) == bool(code)


def test_github_workflow() -> None:
    """What the action does with these inputs is tested with the action."""
    workflow: dict[Any, Any] = snippet(".github/workflows/crdcompat.yaml")
    assert workflow[True] == "pull_request"  # "on", as YAML 1.1 reads it
    checkout, ours, upload = workflow["jobs"]["check"]["steps"]
    assert checkout["with"]["fetch-depth"] == 0
    declared = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    assert set(ours["with"]) <= set(declared)
    assert upload["with"]["sarif_file"] == ours["with"]["sarif"]
    assert ours["with"]["sarif"] in upload["if"]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", PAGE.partition("| input |")[2].partition("\n\n")[0], re.M)) == set(
        declared
    )


def _finding(work: Job) -> str:
    """The id of the error of the change."""
    ran = work.script("crdcompat check --base origin/main --format json 2>/dev/null || true")
    (found,) = (each for each in json.loads(ran.output)["sections"][0]["findings"] if each["severity"] == "error")
    return str(found["id"])


def _program(work: Job, name: str, text: str) -> None:
    """A program that stands in for one that CI has."""
    file = work.at.parent / "bin" / name
    file.write_text(f"#!/bin/bash\n{text}\n", encoding="utf-8")
    file.chmod(0o755)


def test_github_commits_what_a_comment_accepts(tmp_path: Path) -> None:
    waive = snippet(".github/workflows/crdcompat-waive.yaml")
    assert list(waive[True]) == ["issue_comment"]  # "on", as YAML 1.1 reads it
    *_, step = waive["jobs"]["waive"]["steps"]
    assert "github.event.comment.body" not in step["run"]
    work = _job(tmp_path, BREAKING)
    _program(work, "gh", 'if [[ "$2" == view ]]; then echo main; else git checkout --quiet feature; fi')
    comment = f"Fine with me.\r\n/crdcompat waive {_finding(work)} $(touch injected)\r\n"
    env = {"GH_TOKEN": "", "NUMBER": "7", "AUTHOR": "octocat", "COMMENT": comment}
    assert set(env) == set(step["env"])
    ran = work.script(step["run"], **env)
    assert ran.code == 0, ran.output
    assert not (work.at / "injected").exists()
    git(work.at, "checkout", "--quiet", "--detach", "origin/feature")
    assert git(work.at, "show", "--name-only", "--format=").split() == [".crdcompat-waivers.yaml"]
    assert "owner: octocat" in (work.at / ".crdcompat-waivers.yaml").read_text(encoding="utf-8")
    assert work.script("crdcompat check --base origin/main").code == 0


def test_prow_reads_the_comments_of_members(tmp_path: Path) -> None:
    ((presubmit,),) = snippet("presubmits with waivers")["presubmits"].values()
    (plain,) = snippet("presubmits")["presubmits"]["openshift/api"]
    (container,) = presubmit["spec"]["containers"]
    assert container["args"][0].splitlines()[-1] == plain["spec"]["containers"][0]["args"][0].splitlines()[-1]
    for line in ("/test crdcompat", "/test unit crdcompat", "/crdcompat waive 66d853d1a37e so"):
        assert re.search(presubmit["trigger"], line), line
    work = _job(tmp_path, BREAKING, PULL_BASE_REF="main", ARTIFACTS=str(tmp_path), PULL_NUMBER="7")
    script = (
        container["args"][0]
        .replace("https://api.github.com/repos", tmp_path.as_uri())
        .replace("?per_page", ".per_page")
    )
    (answer := tmp_path / "a/b/issues/7/comments.per_page=100").parent.mkdir(parents=True)
    codes = []
    for association in ("NONE", "MEMBER"):
        texts = ("/crdcompat waive ffffffffffff gone", f"/crdcompat waive {_finding(work)} so be it")
        comments = [{"author_association": association, "user": {"login": "a"}, "body": text} for text in texts]
        answer.write_text(json.dumps(comments), encoding="utf-8")
        ran = work.script(script, "+e", PULL_BASE_SHA=work.base, REPO_OWNER="a", REPO_NAME="b")
        codes.append(ran.code)
        assert ("no finding ffffffffffff" in ran.output) == (association == "MEMBER"), ran.output
    assert codes == [1, 0]


def test_pre_commit() -> None:
    """That pre-commit runs it is tested with the hooks, which are configured by this very snippet."""
    ((repo,),) = snippet(".pre-commit-config.yaml").values()
    offered = {hook["id"] for hook in yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert {hook["id"] for hook in repo["hooks"]} == offered


def test_a_clone_that_is_too_shallow(tmp_path: Path) -> None:
    """Why the page asks for the whole history: exit code 2, and the line that fetches what is missing."""
    work = _job(tmp_path, BREAKING)
    git(tmp_path, "clone", "-q", "--depth", "1", "--branch", "feature", (tmp_path / "origin").as_uri(), "shallow")
    shallow = Job(tmp_path / "shallow", work.base, work.env)
    ran = shallow.script("crdcompat check", PULL_BASE_SHA=work.base)
    assert ran.code == 2, ran.output
    assert f"git fetch origin {work.base}" in ran.output


def test_every_exit_code_is_explained() -> None:
    table = PAGE.partition("## Exit codes")[2]
    assert re.findall(r"^\| (\d) \|", table, re.MULTILINE) == ["0", "1", "2", "3"]


def test_fail_on_never_goes_on(tmp_path: Path) -> None:
    work = _job(tmp_path, BREAKING)
    for options, code in (("", 1), ("--fail-on never", 0), ("--no-such-option", 2)):
        assert work.script(f"crdcompat check {options}", PULL_BASE_SHA=work.base).code == code


def test_every_snippet_is_tested() -> None:
    blocks = [token for token in MarkdownIt().parse(PAGE) if token.type == "fence"]
    names = [block.content.partition("\n")[0].removeprefix("# ") for block in blocks if block.info == "yaml"]
    assert sorted(names) == [
        ".github/workflows/crdcompat-waive.yaml",
        ".github/workflows/crdcompat.yaml",
        ".gitlab-ci.yml",
        ".pre-commit-config.yaml",
        "presubmits",
        "presubmits with waivers",
    ]


def _job(tmp_path: Path, change: Json | None, **env: str) -> Job:
    return job(tmp_path, change, env)


def _reported(code: int, output: str, expected: int) -> None:
    """The pull request's change, and not what came to main meanwhile."""
    assert code == expected, output
    assert ("error[enum-value-added] widgets.example.com" in output) == bool(expected), output
    assert "error[enum-value-added] gadgets.example.com" not in output
