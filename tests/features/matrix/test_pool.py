"""Reports keep what they say when they share parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from report_samples import NEW, OLD, compared

from crdcompat.features.matrix.pool import Pool
from crdcompat.models.diff import DiffReport


@pytest.fixture
def report(tmp_path: Path) -> DiffReport:
    made = compared(tmp_path, OLD, NEW)
    assert len(made.findings) == 3
    return made


def _again(report: DiffReport) -> DiffReport:
    """An equal report without a part of the first."""
    findings = (
        replace(each, message=each.message + "", witness=replace(each.witness), contexts=(*each.contexts, ""))
        for each in report.findings
    )
    return replace(report, findings=tuple(replace(each, contexts=each.contexts[:-1]) for each in findings))


def test_equal_parts_are_held_once(report: DiffReport) -> None:
    pool, other = Pool(), _again(report)
    first, second = pool.report(report), pool.report(other)
    assert (first, second) == (report, other)
    for one, same in zip(first.findings, second.findings, strict=True):
        assert one.witness is same.witness
        assert one.contexts is same.contexts


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), ("a", b"a"), ({1: 2}, {"1": 2}), (None, float("inf"))])
def test_values_that_look_alike_stay_apart(report: DiffReport, one: Any, other: Any) -> None:
    pool = Pool()
    for value in (one, other):
        finding = replace(report.findings[0], old={"x": value}, added=(value,))
        (found,) = pool.report(replace(report, findings=(finding,))).findings
        assert (repr(found.old), repr(found.added)) == (repr({"x": value}), repr((value,)))
