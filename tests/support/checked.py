"""One change of a repository, given as files before and after, and what ``check`` says of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from changes import repository, widget
from helpers import Json, commit, run

OLD, NEW = widget("A"), widget("A", "B")


def checked(at: Path, before: Mapping[str, Any], after: Mapping[str, Any], *args: str) -> tuple[int, Json]:
    """The exit code and the report of a check of the change from ``before`` to ``after``."""
    repo = repository(at)
    commit(repo, {"README": "a", **before})
    gone = dict.fromkeys(path for path in before if path not in after)
    commit(repo, {"README": "b", **gone, **after})
    ran = run("check", "--base", "HEAD~1", "--head", "HEAD", "--format", "json", *args, cwd=repo)
    assert ran.out, ran.err
    return ran.code, ran.report


def errors(report: Json) -> set[tuple[str, str, str]]:
    return {
        (f["direction"], f["rule"], f["path"])
        for section in report["sections"]
        for f in section["findings"]
        if f["severity"] == "error"
    }


def files(report: Json) -> dict[str, str]:
    return {each["file"]: each["outcome"] for each in report["files"]}
