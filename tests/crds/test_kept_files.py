"""Files that an earlier run has read are not read again, and no report depends on that."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from helpers import commit, crd, git, obj, only, root, run, string

from crdcompat.crds import reader
from crdcompat.crds.file import NO_CRD, CrdFile, read_file
from crdcompat.crds.unseen import KUSTOMIZE
from crdcompat.sources.tree import Entry

PLAIN = yaml.dump(crd(root(spec=obj(p=string("A", "B")))))
OTHER = yaml.dump(crd(root(spec=obj(q=string("A", "B"))), kind="Other"))
TWO = OTHER + "---\n" + OTHER.replace("Other", "Third").replace("other", "third")
CONFIG = "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: 'kind: CustomResourceDefinition'\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    return tmp_path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files that are read from now on."""
    paths: list[str] = []

    def counted(data: bytes, entry: Entry) -> CrdFile:
        paths.append(entry.path)
        return read_file(data, entry)

    monkeypatch.setattr(reader, "read_file", counted)
    return paths


def _without_b(text: str) -> str:
    return re.sub(r"\n *- B|, B", "", text)


def releases(repo: Path, files: Mapping[str, Any]) -> None:
    """Two commits, tagged old and new; the values A and B become A alone."""
    for name, change in (("old", _without_b), ("new", str)):
        commit(repo, {path: change(text) for path, text in files.items()}, name)
        git(repo, "tag", name)


def read_again(repo: Path, read: list[str], *refs: str) -> set[str]:
    """The files that a second diff reads; both reports are the same, and so is one without the cache."""
    refs = refs or ("old", "new")
    reports = []
    for option in ((), (), ("--no-cache",)):
        read.clear()
        ran = run("diff", *refs, "--format", "json", *option, cwd=repo)
        reports.append((ran.code, ran.out, ran.err, set(read)))
    assert reports[0] == reports[2]
    assert reports[1][:3] == reports[0][:3]
    return reports[1][3]


def test_a_second_run_reads_no_plain_file(repo: Path, read: list[str]) -> None:
    files = {"a/plain.yaml": PLAIN, "two.yml": TWO, "config.yaml": CONFIG}
    releases(repo, files)
    assert read_again(repo, read) == set()
    found = run("diff", "old", "new", "-v", cwd=repo).out
    assert "--> new: a/plain.yaml:" in found and "--> new: two.yml:" in found  # places are kept, too


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("commented.yaml", f"# by hand\n{PLAIN}".replace("spec:", "spec:  # here", 1)),
        ("flow.yaml", yaml.dump(yaml.safe_load(PLAIN), default_flow_style=True)),
        ("template.yaml", "{{- if .Values.crds }}\n" + PLAIN + "{{- end }}\n"),
    ],
)
def test_other_styles_are_kept_with_their_places_and_remarks(repo: Path, read: list[str], path: str, text: str) -> None:
    releases(repo, {path: text, "other.yaml": OTHER})
    assert read_again(repo, read) == set()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("twice.yaml", PLAIN.replace("kind: Custom", "kind: Other\nkind: Custom", 1)),
        ("list.yaml", yaml.dump({"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(PLAIN)]})),
        ("invalid.yaml", PLAIN.replace("plural: widgets", "plural: 7")),
        ("broken.yaml", f"{PLAIN}---\na: [\n"),
        ("empty.yaml", f"{TWO}---\nkind: CustomResourceDefinition\napiVersion: apiextensions.k8s.io/v1\n"),
    ],
)
def test_what_says_more_than_its_crds_is_read_again(repo: Path, read: list[str], path: str, text: str) -> None:
    releases(repo, {path: text, "plain.yaml": OTHER})
    assert read_again(repo, read) == {path}


def test_a_kustomization_depends_on_its_name(repo: Path, read: list[str]) -> None:
    """The bytes of a kustomization are no CRD under another name, in one run and in the next one."""
    text = "resources: [plain.yaml]\npatches:\n- patch: |-\n    kind: CustomResourceDefinition\n    spec: {}\n"
    names = ("config/kustomization.yaml", "other.yaml")
    releases(repo, {"config/plain.yaml": PLAIN, **dict.fromkeys(names, text)})
    assert read_again(repo, read) == {"config/kustomization.yaml"}
    skipped = run("diff", "old", "new", "--format", "json", cwd=repo).report["summary"]["skipped"]
    reasons = {(each["file"], each["reason"]) for each in skipped}
    assert reasons == {(names[0], KUSTOMIZE), (names[1], NO_CRD)}


def test_a_working_tree_with_other_bytes_keeps_nothing_of_them(repo: Path, read: list[str]) -> None:
    """A filter of git checks out other bytes than the blob has, under the blob's id."""
    git(repo, "config", "filter.more.clean", "sed 's/- A/- Z/'")
    git(repo, "config", "filter.more.smudge", "sed 's/- Z/- A/'")
    commit(repo, {".gitattributes": "*.yaml filter=more\n"})
    releases(repo, {"plain.yaml": PLAIN})
    run("diff", "old", "worktree:", cwd=repo)
    report = run("diff", "old", "new", "--format", "json", cwd=repo)
    without = run("diff", "old", "new", "--format", "json", "--no-cache", cwd=repo)
    assert report.out == without.out
    assert only(report.report, direction="rollback")["added"] == ["B"]


def test_a_damaged_answer_is_read_again(repo: Path, read: list[str], cache: Path) -> None:
    releases(repo, {"plain.yaml": PLAIN})
    first = run("diff", "old", "new", "--format", "json", cwd=repo)
    (file,) = cache.rglob("answers-*")
    with sqlite3.connect(file) as rows:
        rows.execute("UPDATE answers SET answer = answer || 'x'")
    read.clear()
    assert run("diff", "old", "new", "--format", "json", cwd=repo).out == first.out
    assert read == ["plain.yaml", "plain.yaml"]


def test_a_file_larger_than_an_answer_is_read_again(repo: Path, read: list[str]) -> None:
    releases(
        repo, {"plain.yaml": PLAIN.replace("type: string", f"type: string\n          description: {'x' * (1 << 20)}")}
    )
    assert read_again(repo, read) == {"plain.yaml"}


def test_check_reads_all_that_it_compares(repo: Path, read: list[str]) -> None:
    """A check judges the work of others: what ran before it must not decide."""
    releases(repo, {"plain.yaml": PLAIN})
    run("diff", "old", "new", cwd=repo)
    read.clear()
    assert run("check", "--base", "old", "--head", "new", "--all", cwd=repo).code == 0
    assert set(read) == {"plain.yaml"}
