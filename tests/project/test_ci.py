"""The snippets of docs/ci.md: each is taken from the page, parsed, and run in a clone as its CI makes it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkouts import BREAKING, GITHUB, HARMLESS, NAME, NUMBER, OWNER, github, gitlab, prow, server
from helpers import Json, git
from markdown_it import MarkdownIt
from offline import PROJECT
from pipelines import Job, Ran, snippet, written

from crdcompat.sources.naming import is_manifest_name

CONTRIB = PROJECT / "contrib/openshift-api"
PAGE = (PROJECT / "docs/ci.md").read_text(encoding="utf-8")
CHANGES = [
    pytest.param(BREAKING, 1, id="breaking"),
    pytest.param(HARMLESS, 0, id="harmless"),
    pytest.param(None, 0, id="no CRD touched"),
]
#: How a container starts ``/bin/bash -c``: without the options of ``Job.script``.
_CONTAINER = ("+e",)


def _prow_script(name: str) -> str:
    ((presubmit,),) = snippet(name)["presubmits"].values()
    (container,) = presubmit["spec"]["containers"]
    assert container["command"] == ["/bin/bash", "-c"]
    (script,) = container["args"]
    return str(script)


@pytest.mark.parametrize(("change", "code"), CHANGES)
def test_prow(tmp_path: Path, change: Json | None, code: int) -> None:
    artifacts = tmp_path / "artifacts of the job"
    artifacts.mkdir()
    work = prow(server(tmp_path / "top", change), artifacts)
    assert git(work.at, "remote") == ""
    ran = work.script(_prow_script("presubmits"), *_CONTAINER)
    _reported(ran, code, "release-4.1" if change else "")
    (report,) = artifacts.iterdir()
    assert re.fullmatch(r"junit.*\.xml", report.name)
    assert ("status.phase" in written(report)) == bool(code)


@pytest.mark.parametrize("name", ["presubmits", "presubmits with waivers"])
@pytest.mark.parametrize("missing", ["REPO_OWNER", "REPO_NAME", "PULL_BASE_SHA", "ARTIFACTS"])
def test_prow_names_a_variable_that_is_missing(tmp_path: Path, name: str, missing: str) -> None:
    work = prow(server(tmp_path, BREAKING), tmp_path)
    ran = work.script(_prow_script(name), *_CONTAINER, **{missing: ""})
    assert ran.code not in (0, 1)
    assert f"{missing}: parameter null or not set" in ran.output


def test_prow_without_access_judges_nothing(tmp_path: Path) -> None:
    work = prow(server(tmp_path, BREAKING), tmp_path)
    ran = work.script(_prow_script("presubmits"), *_CONTAINER, REPO_NAME="no-such-repository")
    assert ran.code == 2 and "does not appear to be a git repository" in ran.output, ran.output


@pytest.mark.parametrize(("change", "code"), CHANGES)
@pytest.mark.parametrize("layout", ["prow", "clone", "fork"])
def test_make_verify(tmp_path: Path, layout: str, change: Json | None, code: int) -> None:
    """In Prow; in a contributor's clone; in the clone of a fork that has stale branches of the same names."""
    at = server(tmp_path, change)
    work = prow(at, tmp_path) if layout == "prow" else Job(at.clone(*_CONTRIBUTOR), at.env)
    if layout == "fork":
        for branch in ("main", "release-4.1"):
            git(work.at, "update-ref", f"refs/remotes/origin/{branch}", f"{at.head}~2~1")
    shutil.copytree(CONTRIB, work.at, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".crdcompat.yaml"))
    artifacts = {"ARTIFACT_DIR": str(tmp_path)} if layout == "prow" else {}
    ran = work.script(
        _ci_operator() if layout == "prow" else "make -s verify-crdcompat CRDCOMPAT_BRANCH=main", **artifacts
    )
    _reported(ran, 2 if code else 0, "release-4.1" if change else "")  # make's own code for a recipe that fails
    reports = [written(report) for report in tmp_path.glob("junit*.xml")]
    assert ["status.phase" in report for report in reports] == [bool(code)] * len(artifacts)


def _ci_operator() -> str:
    """What the job of ci-operator runs, in the image that it builds."""
    config: Json = yaml.safe_load((CONTRIB / "ci-operator.yaml").read_text(encoding="utf-8"))
    ((image,), (test,)) = (config[name] for name in ("images", "tests"))
    assert image["dockerfile_literal"].partition("\n")[0] == f"FROM {image['from']}"
    assert test["container"]["from"] == image["to"]
    return str(test["commands"])


def test_make_verify_names_what_is_missing(tmp_path: Path) -> None:
    at = server(tmp_path, BREAKING)
    work = Job(at.clone(*_CONTRIBUTOR), at.env)
    shutil.copytree(CONTRIB / "hack", work.at / "hack")
    told = {
        "CRDCOMPAT": ("no-such-command", "There is no no-such-command command."),
        "CRDCOMPAT_BRANCH": ("no-such-branch", "couldn't find remote ref refs/heads/no-such-branch"),
    }
    for name, (value, message) in told.items():
        ran = work.script("hack/verify-crdcompat.sh", **{name: value})
        assert ran.code == 2 and message in ran.output, ran.output


_CONTRIBUTOR = (
    ("init",),
    ("remote", "add", "origin", f"{GITHUB}{OWNER}/{NAME}"),
    ("fetch", "origin"),
    ("checkout", "-b", "feature", "origin/feature"),
)


@pytest.mark.parametrize(("change", "code"), CHANGES)
@pytest.mark.parametrize("merged", [False, True])
def test_gitlab(tmp_path: Path, merged: bool, change: Json | None, code: int) -> None:
    wanted = snippet(".gitlab-ci.yml")["crdcompat"]
    assert wanted["image"]["entrypoint"] == [""]
    work = gitlab(server(tmp_path, change), int(wanted["variables"]["GIT_DEPTH"]), merged=merged)
    ran = work.script("\n".join(wanted["script"]))
    _reported(ran, code, "release-4.1" if change else "")
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


def _finding(work: Job, *options: str) -> str:
    """The id of the error of the change."""
    ran = work.script(f"crdcompat check {' '.join(options)} --format json 2>/dev/null || true")
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
    checkout, *_, step = waive["jobs"]["waive"]["steps"]
    assert "github.event.comment.body" not in step["run"]
    at = server(tmp_path, BREAKING)
    work = github(at, checkout["with"]["fetch-depth"], ref="refs/heads/main", event="issue_comment")
    _program(work, "gh", 'if [[ "$2" == view ]]; then echo main; else git checkout --quiet feature; fi')
    finding = _finding(work, "--base", at.base, "--head", at.head)
    comment = f"Fine with me.\r\n/crdcompat waive {finding} $(touch injected)\r\n"
    env = {"GH_TOKEN": "", "NUMBER": NUMBER, "AUTHOR": "octocat", "COMMENT": comment}
    assert set(env) == set(step["env"])
    ran = work.script(step["run"], **env)
    assert ran.code == 0, ran.output
    assert not (work.at / "injected").exists()
    pushed = git(at.bare, "show", "--name-only", "--format=", "feature").split()
    assert pushed == [".crdcompat-waivers.yaml"]
    assert "owner: octocat" in git(at.bare, "show", "feature:.crdcompat-waivers.yaml")
    assert work.script("crdcompat check --base origin/main").code == 0


#: Stands for GitHub's API, inside of the python3 that a script starts: an answer per address, and no network.
_API = """
import pathlib, urllib.request, urllib.response

class Api(urllib.request.HTTPSHandler):
    def https_open(self, request):
        name = request.full_url.replace("/", "_")
        answer = (pathlib.Path(__file__).parent / name).open("rb")
        found = urllib.response.addinfourl(answer, {}, request.full_url, 200)
        found.msg = "OK"
        return found

urllib.request.install_opener(urllib.request.build_opener(Api))
"""


def test_prow_reads_the_comments_of_members(tmp_path: Path) -> None:
    ((presubmit,),) = snippet("presubmits with waivers")["presubmits"].values()
    script = _prow_script("presubmits with waivers")
    first, *_, last = _prow_script("presubmits").splitlines()
    assert (script.splitlines()[0], script.splitlines()[-1]) == (first, last)
    for line in ("/test crdcompat", "/test unit crdcompat", "/crdcompat waive 66d853d1a37e so"):
        assert re.search(presubmit["trigger"], line), line
    work = prow(server(tmp_path / "top", BREAKING), tmp_path)
    finding = _finding(work, "--target", work.env["PULL_BASE_SHA"], "--targets-only")
    (api := tmp_path / "api").mkdir()
    (api / "sitecustomize.py").write_text(_API, encoding="utf-8")
    address = f"https://api.github.com/repos/{OWNER}/{NAME}/issues/{NUMBER}/comments?per_page=100"
    codes = []
    for association in ("NONE", "MEMBER"):
        texts = ("/crdcompat waive ffffffffffff gone", f"/crdcompat waive {finding} so be it")
        comments = [{"author_association": association, "user": {"login": "a"}, "body": text} for text in texts]
        (api / address.replace("/", "_")).write_text(json.dumps(comments), encoding="utf-8")
        ran = work.script(script, *_CONTAINER, PYTHONPATH=str(api))
        codes.append(ran.code)
        assert ("no finding ffffffffffff" in ran.output) == (association == "MEMBER"), ran.output
    assert codes == [1, 0]


def test_pre_commit() -> None:
    """That pre-commit runs it is tested with the hooks, which are configured by this very snippet."""
    ((repo,),) = snippet(".pre-commit-config.yaml").values()
    offered = {hook["id"] for hook in yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert {hook["id"] for hook in repo["hooks"]} == offered


@pytest.mark.parametrize(
    "path", ["crd/a.yaml", "b.YML", "c.json", "crds.yaml.in", "w.yml.j2", "a.go", "yaml", "a.yaml.tpl"]
)
def test_the_hook_of_a_check_starts_where_a_manifest_changes(path: str) -> None:
    hooks = yaml.safe_load((PROJECT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert (re.search(hooks[0]["files"], path) is not None) == is_manifest_name(path)


def test_every_exit_code_is_explained() -> None:
    table = PAGE.partition("## Exit codes")[2]
    assert re.findall(r"^\| (\d) \|", table, re.MULTILINE) == ["0", "1", "2", "3"]


def test_fail_on_never_goes_on(tmp_path: Path) -> None:
    work = github(server(tmp_path, BREAKING), 0)
    for options, code in (("", 1), ("--fail-on never", 0), ("--no-such-option", 2)):
        assert work.script(f"crdcompat check {options}").code == code


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


def _reported(ran: Ran, code: int, target: str) -> None:
    """The pull request's change, also against the target, and not what came to main meanwhile."""
    assert ran.code == code, ran.output
    assert ("error[enum-value-added] widgets.example.com" in ran.output) == bool(code), ran.output
    assert "error[enum-value-added] gadgets.example.com" not in ran.output
    # A change that is CLEAN has a short report: the verdict names what was compared.
    said = f"Against the rollback target {target}" if code else f"before this change and {target})"
    assert (said in ran.output) == bool(target), ran.output
