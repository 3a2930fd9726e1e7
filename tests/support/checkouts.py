"""Clones of a pull request, made by the commands of clonerefs (Prow), actions/checkout and the GitLab runner.

The commands are those of clonerefs' ``pkg/pod-utils/clone/clone.go``, of actions/checkout's ``git-source-provider.ts``
and ``ref-helper.ts``, and of the runner's ``shells/abstract.go`` with the refspecs of GitLab's
``build_runner_presenter.rb``. Git's ``insteadOf`` maps the addresses of the hosts to a bare repository on the disk.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from helpers import Json, commit, crd, git, obj, root, string
from pipelines import Job, programs

OWNER, NAME, NUMBER = "openshift", "api", "7"
GITHUB, GITLAB = "https://github.com/", "https://gitlab.example.com/"
BEFORE, HARMLESS, BREAKING = (
    crd(root(spec=obj(size=string(), **more), status=obj(phase=string(*phases))))
    for more, phases in (
        ({}, ("Pending", "Ready")),
        ({"colour": string()}, ("Pending", "Ready")),
        ({}, ("Pending", "Ready", "Degraded")),
    )
)
CRD_FILE = "crds/widgets.yaml"
CONFIG = "rollback_targets: {main: [release-4.1]}\n"
_OF_A_CI = ("GITHUB_", "RUNNER_", "PULL_", "CI_", "GITLAB", "ARTIFACT", "PRE_COMMIT", "INPUT_", "CRDCOMPAT_", "REPO_")


@dataclass(frozen=True, slots=True)
class Server:
    """A repository at a host with a pull request: ``base`` is the tip of main, ``merge`` the pull request merged."""

    top: Path
    base: str
    head: str
    merge: str
    env: dict[str, str]

    @property
    def bare(self) -> Path:
        """The repository itself."""
        return self.top / "hosts" / OWNER / f"{NAME}.git"

    def clone(self, *commands: tuple[str, ...]) -> Path:
        """A folder after these git commands."""
        at = self.top / "clone"
        at.mkdir()
        for command in commands:
            subprocess.run(["git", *command], cwd=at, env=self.env, check=True, capture_output=True)
        return at


def server(top: Path, change: Json | None, config: str = CONFIG) -> Server:
    """A host with the release branch release-4.1, main, and a pull request; ``change`` None touches no CRD.

    main has a later change of its own that is as bad; the pull request's report must not contain it. The pull request
    has two commits, so that a clone of one or two commits does not reach the merge base.
    """
    work = top / "author"
    work.mkdir(parents=True)
    git(work, "init", "--quiet", "--initial-branch=main")
    commit(work, {CRD_FILE: BEFORE, "gadgets.yaml": _gadgets("A"), ".crdcompat.yaml": config})
    git(work, "checkout", "--quiet", "-b", "release-4.1")
    commit(work, {"README.md": "the release\n"})
    git(work, "checkout", "--quiet", "main")
    commit(work, {"README.md": "the next release\n"})
    git(work, "checkout", "--quiet", "-b", "feature")
    commit(work, {"docs.md": "why\n"})
    head = commit(work, {"docs.md": "words\n"} if change is None else {CRD_FILE: change})
    git(work, "checkout", "--quiet", "main")
    base = commit(work, {"gadgets.yaml": _gadgets("A", "B")})
    git(work, "checkout", "--quiet", "--detach")
    git(work, "merge", "--quiet", "--no-edit", head)
    merge = git(work, "rev-parse", "HEAD")
    env = {name: value for name, value in os.environ.items() if not name.startswith(_OF_A_CI)} | {
        "PATH": f"{programs(top / 'bin')}{os.pathsep}{os.environ['PATH']}",
        "CI": "true",
        "GIT_CONFIG_COUNT": "2",
    }
    for at, host in enumerate((GITHUB, GITLAB)):
        env |= {f"GIT_CONFIG_KEY_{at}": f"url.{(top / 'hosts').as_uri()}/.insteadOf", f"GIT_CONFIG_VALUE_{at}": host}
    made = Server(top, base, head, merge, env)
    git(top, "init", "--quiet", "--bare", "--initial-branch=main", str(made.bare))
    for allowed in ("allowAnySHA1InWant", "allowFilter"):  # as both hosts do
        git(made.bare, "config", f"uploadpack.{allowed}", "true")
    refs = {f"pull/{NUMBER}/head": head, f"pull/{NUMBER}/merge": merge, "pipelines/1": head, "pipelines/2": merge}
    places = [f"{commit}:refs/{name}" for name, commit in refs.items()]
    git(work, "push", "--quiet", str(made.bare), "main", "release-4.1", "feature", *places)
    return made


def _gadgets(*values: str) -> Json:
    return crd(root(status=obj(mode=string(*values))), kind="Gadget")


def prow(at: Server, artifacts: Path, *, options: tuple[str, ...] = ()) -> Job:
    """A presubmit of Prow. There is no remote. ``options`` of each fetch: of ``clone_depth`` or ``blobless_fetch``."""
    url = f"{GITHUB}{OWNER}/{NAME}.git"
    clone = at.clone(
        ("init",),
        ("config", "user.name", "ci-robot"),
        ("config", "user.email", "ci-robot@k8s.io"),
        ("fetch", *options, url, "--tags", "--prune"),
        ("fetch", *options, url, at.base),
        ("checkout", at.base),
        ("branch", "--force", "main", at.base),
        ("checkout", "main"),
        ("fetch", *options, url, at.head),
        ("merge", "--no-ff", at.head),
        ("submodule", "update", "--init", "--recursive"),
    )
    pull = {"number": int(NUMBER), "sha": at.head, "head_ref": "feature"}
    refs = {"org": OWNER, "repo": NAME, "base_ref": "main", "base_sha": at.base, "pulls": [pull]}
    env = {
        "JOB_SPEC": json.dumps({"type": "presubmit", "refs": refs}),
        "JOB_TYPE": "presubmit",
        "REPO_OWNER": OWNER,
        "REPO_NAME": NAME,
        "PULL_BASE_REF": "main",
        "PULL_BASE_SHA": at.base,
        "PULL_NUMBER": NUMBER,
        "PULL_PULL_SHA": at.head,
        "PULL_HEAD_REF": "feature",
        "PULL_REFS": f"main:{at.base},{NUMBER}:{at.head}",
        "ARTIFACTS": str(artifacts),
    }
    return Job(clone, {**at.env, **env})


def github(at: Server, depth: int, *, ref: str = f"refs/pull/{NUMBER}/merge", event: str = "pull_request") -> Job:
    """A workflow after actions/checkout with this ``fetch-depth``: of a pull request, or of another ref."""
    is_pull = ref.startswith("refs/pull/")
    commit = at.merge if is_pull else at.base
    kept = ref.replace("refs/pull/", "refs/remotes/pull/").replace("refs/heads/", "refs/remotes/origin/")
    all_refs = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
    refspecs = (*(() if depth else all_refs), *((f"+{commit}:{kept}",) if depth or is_pull else ()))
    fetch = ("-c", "protocol.version=2", "fetch", "--no-tags", "--prune", "--no-recurse-submodules")
    branch = ref.removeprefix("refs/heads/")
    clone = at.clone(
        ("init", "."),
        ("remote", "add", "origin", f"{GITHUB}{OWNER}/{NAME}"),
        (*fetch, *((f"--depth={depth}",) if depth else ()), "origin", *refspecs),
        ("checkout", "--progress", "--force", *((kept,) if is_pull else ("-B", branch, kept))),
    )
    env = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": event, "GITHUB_REPOSITORY": f"{OWNER}/{NAME}"}
    if event == "pull_request":
        env |= {"GITHUB_BASE_REF": "main", "GITHUB_HEAD_REF": "feature"}
    return Job(clone, {**at.env, **env})


def gitlab(at: Server, depth: int, *, merged: bool = False) -> Job:
    """A pipeline of a merge request with this ``GIT_DEPTH``: of its source, or of the merged result."""
    pipeline = f"refs/pipelines/{2 if merged else 1}"
    refspecs = [f"+{pipeline}:{pipeline}"]
    if not depth:
        refspecs += ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"]
    deep = ("--depth", str(depth)) if depth else ()
    clone = at.clone(
        ("init", "."),
        ("remote", "add", "origin", f"{GITLAB}{OWNER}/{NAME}.git"),
        ("fetch", "origin", "--no-recurse-submodules", *refspecs, *deep, "--prune", "--quiet"),
        ("-c", "submodule.recurse=false", "checkout", "-f", "-q", at.merge if merged else at.head),
        ("clean", "-ffdx"),
    )
    env = {
        "GITLAB_CI": "true",
        "CI_PIPELINE_SOURCE": "merge_request_event",
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
        "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "feature",
        "CI_MERGE_REQUEST_EVENT_TYPE": "merged_result" if merged else "detached",
    }
    return Job(clone, {**at.env, **env})
