"""Findings counted by severity, rule, direction and owner, as linters count them."""

from __future__ import annotations

from pathlib import Path

from changes import repository, widget
from helpers import both, commit, obj, root, run, string

_DIFF = """\
     2  error    enum-value-added  rollback  status    Enum value added
     1  warning  enum-value-added  rollback  spec      Enum value added
     1  info     property-added    rollback  spec      Field added
r2 -> r1: BLOCKED
rollback: 2 errors, 1 warning, 1 info; upgrade: 0 errors, 0 warnings, 0 info; 0 undecided.
"""


def test_a_diff(tmp_path: Path) -> None:
    def schema(*values: str, **more: object) -> object:
        return root(spec=obj(m=string(*values), **more), status=obj(a=string(*values), b=string(*values, "Z")))

    sides = both(tmp_path, schema("A"), schema("A", "B", n=string()))
    for option in (("--statistics",), ("--format", "statistics")):
        ran = run("diff", *sides, *option)
        assert (ran.code, ran.out.replace("new -> old", "r2 -> r1")) == (1, _DIFF), option


def test_a_check_counts_each_finding_once(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    commit(repo, {"w.yaml": widget("A")})
    commit(repo, {"w.yaml": widget("A", "B")})
    ran = run("check", "--base", "HEAD~1", "--statistics", cwd=repo)
    assert ran.out.splitlines() == [
        "     1  error    enum-value-added  rollback  status    Enum value added",
        "This change: BLOCKED (rollback to the API before this change)",
        "1 error, 0 warnings, 0 info.",
    ]
