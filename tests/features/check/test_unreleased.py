"""Findings that no rollback target meets, the branch of a base that is a commit, and the names of the sides."""

from __future__ import annotations

from pathlib import Path

import pytest
from changes import check, repository, widget
from helpers import commit, crd, git, obj, root, run, string
from msgspec.structs import replace
from report_samples import compared

from crdcompat.compare.refused import REFUSED
from crdcompat.features.check.unreleased import mark_unreleased
from crdcompat.vocabulary import Direction


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """main has B since release-1 forked; the last commit removes B and adds C."""
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    git(repo, "branch", "release-1")
    commit(repo, {"w.yaml": widget("A", "B")})
    commit(repo, {"w.yaml": widget("A", "C")})
    return repo


def _found(report: object, against: str) -> list[tuple[str, list[str], list[str], str]]:
    assert isinstance(report, dict)
    return [
        (item["direction"], item["added"], item["removed"], item["status"])
        for section in report["sections"]
        if section["against"] == against
        for item in section["findings"]
    ]


def test_what_no_target_meets_does_not_fail(repo: Path) -> None:
    """B was never released: its removal breaks no released object. C breaks a rollback to release-1."""
    report = check(repo, "--base", "HEAD~1", "--head", "HEAD", "--target", "release-1", code=1)
    assert _found(report, "base") == [
        ("rollback", ["C"], [], "new"),
        ("upgrade", [], ["B"], "unreleased"),
    ]
    assert _found(report, "target") == [("rollback", ["C"], [], "new")]
    assert (
        "1 finding unreleased"
        in run("check", "--base", "HEAD~1", "--head", "HEAD", "--target", "release-1", cwd=repo).out
    )


def test_a_repair_of_a_lack_beside_an_older_value(tmp_path: Path) -> None:
    """The target rejects a value of the field since long; that only the base requires the field is another thing."""
    repo = repository(tmp_path)
    before, released, broken = (root(status=obj(mode=string(*values))) for values in ("A", "AB", "AB"))
    broken["properties"]["status"]["required"] = ["mode"]
    commit(repo, {"w.yaml": crd(before)})
    git(repo, "branch", "release-1")
    for schema in (released, broken, released):
        commit(repo, {"w.yaml": crd(schema)})
    report = check(repo, "--base", "HEAD~1", "--head", "HEAD", "--target", "release-1", code=0)
    assert [(item["rule"], item["status"]) for section in report["sections"] for item in section["findings"]] == [
        ("required-removed", "unreleased"),
        ("enum-value-added", "existing"),
    ]


def test_a_repair_brings_back_what_a_release_has(tmp_path: Path) -> None:
    """release-1.2 has B, release-1.1 has not: the commit that lost B blocks, the one that brings it back does not."""
    repo = repository(tmp_path)
    for values, branch in (("A", "release-1.1"), ("AB", "release-1.2"), ("A", "broken"), ("AB", "repaired")):
        commit(repo, {"w.yaml": widget(*values)})
        git(repo, "branch", branch)
    targets = ("--target", "release-1.1", "--target", "release-1.2")
    broken = check(repo, "--base", "broken~1", "--head", "broken", *targets, code=1)
    assert _found(broken, "target") == [("upgrade", [], ["B"], "new")]
    repaired = check(repo, "--base", "broken", "--head", "repaired", *targets, code=0)
    assert _found(repaired, "base") == [("rollback", ["B"], [], "unreleased")]
    assert _found(repaired, "target") == [("rollback", ["B"], [], "existing")]
    assert check(repo, "--base", "broken", "--head", "repaired", *targets[:2], code=1)["verdict"] == "blocked"


def test_without_a_target_the_base_counts(repo: Path) -> None:
    report = check(repo, "--base", "HEAD~1", "--head", "HEAD", code=1)
    assert {status for *_, status in _found(report, "base")} == {"new"}


def test_targets_only_has_no_section_for_the_base(repo: Path) -> None:
    report = check(repo, "--base", "HEAD~1", "--head", "HEAD", "--target", "release-1", "--targets-only", code=1)
    assert [section["against"] for section in report["sections"]] == ["target"]
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--targets-only", cwd=repo)
    assert (ran.code, "needs a rollback target" in ran.err) == (2, True)


def test_a_commit_is_on_the_configured_branch_that_has_it(repo: Path) -> None:
    (repo / ".crdcompat.yaml").write_text('releases: {main: "1.29"}\nrollback_targets: {main: [release-1]}\n')
    report = check(repo, "--base", "HEAD~1", "--head", "HEAD", code=1)
    assert (report["old"]["name"], report["old"]["kubernetes"], report["new"]["name"]) == (
        "main",
        "1.29",
        "this change",
    )
    assert [section["against"] for section in report["sections"]] == ["base", "target"]


def test_a_commit_on_two_configured_branches_is_on_the_main_branch(repo: Path) -> None:
    git(repo, "branch", "other")
    text = "rollback_targets: {main: [release-1], other: []}\n"
    for base, targets in (("", ["target"]), ("base: other\n", [])):
        (repo / ".crdcompat.yaml").write_text(base + text)
        report = check(repo, "--base", "HEAD~1", "--head", "HEAD", code=1)
        assert [section["against"] for section in report["sections"]] == ["base", *targets]


def test_sentences_name_the_sides_of_a_change(repo: Path) -> None:
    text = run("check", "--base", "HEAD~1", "--head", "HEAD", cwd=repo).out
    assert "Rolling back this change -> the API before this change" in text
    assert "after a rollback, the API before this change rejects" in text


def test_the_wrong_order_prints_the_right_one(repo: Path) -> None:
    git(repo, "branch", "release-1.10")
    git(repo, "branch", "release-1.9", "release-1")
    wrong = run("diff", "release-1.10", "release-1.9", cwd=repo)
    assert (wrong.code, "crdcompat diff release-1.9 release-1.10" in wrong.err) == (2, True)
    assert run("diff", "release-1.10", "release-1.9", "--any-order", cwd=repo).code in (0, 1)


def test_a_target_meets_a_finding_at_any_place_of_either(tmp_path: Path) -> None:
    report = compared(tmp_path, root(spec=obj(a=string("A"))), root(spec=obj(a=string("A", "B"))))
    (finding,) = report.findings
    mine, theirs = replace(finding, places=("spec.b",)), replace(finding, path="spec.z", places=("spec.b",))
    others = (theirs, "new"), (replace(theirs, places=()), "unreleased"), (replace(mine, added=("C",)), "unreleased")
    for other, status in others:
        (marked,) = mark_unreleased(replace(report, findings=(mine,)), [replace(report, findings=(other,))]).findings
        assert marked.status == status


@pytest.mark.parametrize(("direction", "status"), [(Direction.UPGRADE, "new"), (Direction.ROLLBACK, "unreleased")])
def test_a_crd_that_no_server_takes_fails_on_every_cluster(tmp_path: Path, direction: Direction, status: str) -> None:
    """A CRD that the change mends fails where a target has it."""
    report = compared(tmp_path, root(spec=obj(a=string("A"))), root(spec=obj(a=string("A", "B"))))
    refused = replace(report, findings=(replace(report.findings[0], change=REFUSED, direction=direction),))
    (marked,) = mark_unreleased(refused, [replace(report, findings=())]).findings
    assert marked.status == status
    (marked,) = mark_unreleased(refused, [refused]).findings
    assert marked.status == "new"
