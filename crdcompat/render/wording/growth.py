"""Sentences on two-step growth: what was declared, and how to declare it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.findings.contrast import listed
from crdcompat.findings.growth import grows
from crdcompat.program import typed
from crdcompat.vocabulary import Owner
from crdcompat.vocabulary.growth import GrowthState

if TYPE_CHECKING:
    from collections.abc import Sequence, Sized

    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding, Growth


def declared_lines(report: DiffReport) -> tuple[str, ...]:
    """A line for each declaration because of which findings do not count, with their values."""
    found: dict[str, tuple[Growth, Finding, dict[str, None]]] = {}
    for finding in report.findings:
        growth = finding.growth
        if growth is not None and growth.state is GrowthState.ACCEPTED:
            values = found.setdefault(growth.place, (growth, finding, {}))[2]
            values.update(dict.fromkeys(listed((value,)) for value in finding.added))
    return tuple(
        f"declared: {finding.kind} {finding.path} accepts {', '.join(values)} from {growth.accepted_from}, and nothing "
        f"writes {_them(values)} before {growth.written_from} ({growth.place}: {growth.reason})"
        for growth, finding, values in found.values()
    )


def why_accepted(finding: Finding) -> str:
    """The reason why a finding is accepted; of a declared one with its two releases. "" for one that is not."""
    growth, waiver = finding.growth, finding.waiver
    if waiver is None:
        return ""
    declared = f"accepted from {growth.accepted_from}, written from {growth.written_from}: " if growth else ""
    return f"{declared}{waiver.reason}{f' ({waiver.marker})' if waiver.marker else ''}"


def is_declarable(finding: Finding) -> bool:
    """Whether two-step growth is a way out: controllers alone decide when they write the values of a status."""
    return finding.owner is Owner.STATUS and finding.growth is None and grows(finding)


def growth_fix(finding: Finding, ids: Sequence[str]) -> str:
    """How to accept the values of a finding now and to write them later.

    ``ids`` are the ids of the findings at all places of the change.
    """
    declare = f'{typed()} waive {" ".join(ids)} --growth --reason "…"'
    return (
        f"let nothing write {_them(finding.added)} before the next release, and declare that: {declare} "
        f"({typed()} explain {finding.rule})"
    )


def _them(values: Sized) -> str:
    return "it" if len(values) == 1 else "them"
