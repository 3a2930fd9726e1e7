"""The same check twice: with the files of the change only, and with all files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, run

import crdcompat.features.check.set_reader

Check = Callable[..., tuple[Json, Json]]


@pytest.fixture
def check_twice(monkeypatch: pytest.MonkeyPatch) -> Check:
    """Runs a check of all CRDs with a warm and without a cache, then with every file read; asserts equal results.

    So does the check that compares with targets what the change touches alone. Returns both JSON reports on all CRDs.
    """

    def run_twice(at: Path, *args: str) -> tuple[Json, Json]:
        _twice(at, monkeypatch, *args)
        return _twice(at, monkeypatch, *args, "--all")

    return run_twice


def _twice(at: Path, monkeypatch: pytest.MonkeyPatch, *args: str) -> tuple[Json, Json]:
    command = ("check", "--base", "HEAD", *args, "--format", "json")
    first, ran, alone = (run(*command, *more, cwd=at) for more in ((), (), ("--no-cache",)))
    assert first.report == ran.report == alone.report
    with monkeypatch.context() as everything:
        everything.setattr(crdcompat.features.check.set_reader, "unneeded_files", _none)
        whole = run(*command, cwd=at)
    assert ran.code == whole.code, ran.err or ran.out
    assert said(ran.report) == said(whole.report)
    for one, other in zip(ran.report["sections"], whole.report["sections"], strict=True):
        assert {*one["summary"]["contexts"]} <= {*other["summary"]["contexts"]}  # those in which anything was read
    return ran.report, whole.report


def _none(_: object, targets: Sequence[object], *__: object, **___: object) -> list[frozenset[str]]:
    """No file is left out: those of the change, then those of each target."""
    return [frozenset()] * (1 + len(targets))


def said(report: Json) -> Any:
    kept = ("contexts_only_old", "contexts_only_new", "text_only_changes", "findings")
    sections = [
        (section["findings"], section["undecided"], [section["summary"][name] for name in kept])
        for section in report["sections"]
    ]
    return report["notes"], report["waivers"], report["summary"], sections
