"""crdcompat waive --from-comment: requests in the comments of a pull request."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from changes import check, repository, widget
from helpers import Run, commit, run

from crdcompat.errors import UsageError
from crdcompat.findings.waiver_text import Request, requests_in


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    commit(repo, {"w.yaml": widget("A", "B")})
    monkeypatch.setenv("PULL_BASE_SHA", "HEAD~1")
    monkeypatch.chdir(repo)
    return repo


def _waive(repo: Path, comment: str, *args: str) -> Run:
    return run("waive", "--from-comment", "--base", "HEAD~1", *args, cwd=repo, stdin=comment.encode())


def test_a_comment_accepts_a_finding_in_the_name_of_its_author(repo: Path) -> None:
    (finding,) = check(repo, "--base", "HEAD~1", code=1)["sections"][0]["findings"]
    comment = f"Looks good.\r\n\r\n/crdcompat waive {finding['id'][:6]} B is written from 4.18: on\r\nThanks"
    assert _waive(repo, comment, "--owner", "alice").code == 0
    (waiver,) = yaml.safe_load((repo / ".crdcompat-waivers.yaml").read_text())["waivers"]
    assert (waiver["reason"], waiver["owner"]) == ("B is written from 4.18: on", "alice")
    check(repo, "--base", "HEAD~1", code=0)


def test_a_comment_without_a_request_writes_nothing(repo: Path) -> None:
    ran = _waive(repo, "please rebase\n", "--owner", "alice")
    assert (ran.code, (repo / ".crdcompat-waivers.yaml").exists()) == (0, False)


@pytest.mark.parametrize(
    ("comment", "args", "expected"),
    [
        ("/crdcompat waive 000000000000 why", ("--owner", "a"), "no finding 000000000000"),
        ("/crdcompat waive 0000", ("--owner", "a"), "write /crdcompat waive ID REASON"),
        ("/crdcompat waive 0000 why", (), "needs --owner"),
        ("/crdcompat waive 0000 why", ("--owner", "a", "--reason", "b"), "from the comment alone"),
    ],
)
def test_an_invalid_request_is_an_error(repo: Path, comment: str, args: tuple[str, ...], expected: str) -> None:
    ran = _waive(repo, comment, *args)
    assert (ran.code, expected in ran.err) == (2, True)


def test_requests_are_whole_lines() -> None:
    lines = ["  /crdcompat  waive abc  why so ", "see /crdcompat waive abc x", "/crdcompat waiver abc x", "> quoted"]
    assert requests_in(lines) == [Request("abc", "why so")]
    with pytest.raises(UsageError):
        requests_in(["/crdcompat waive"])
