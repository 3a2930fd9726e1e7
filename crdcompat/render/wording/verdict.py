"""The verdict on a comparison: may the cluster move, what blocks it, and what the verdict rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.findings.finding import listed as listed_values
from crdcompat.findings.rules import rule
from crdcompat.models.outcome import outcome, severities, unjudged
from crdcompat.render.wording.blocks import Block, blocks
from crdcompat.render.wording.entries import causes_of, counted
from crdcompat.render.wording.findings import plural, tally
from crdcompat.vocabulary import Direction, Effect, Owner, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.check import CheckReport, Section
    from crdcompat.models.diff import DiffReport
    from crdcompat.render.escape import Style

#: The colour of each verdict.
COLOURS: Mapping[ReleaseVerdict, str] = {
    ReleaseVerdict.BLOCKED: "error",
    ReleaseVerdict.UNKNOWN: "path",
    ReleaseVerdict.AT_RISK: "warning",
    ReleaseVerdict.CLEAN: "good",
}
#: What blocks, at most, in the verdict.
_MAX_BLOCKS = 4


def verdict_lines(report: DiffReport, listed: Sequence[Entry], style: Style) -> Iterator[str]:
    """The verdict of each direction that matters with what blocks it, then all counts in one line."""
    for direction in shown_directions(report):
        result = outcome(report, direction)
        yield style.paint(f"{_way(report, direction)}: {result.upper()}{_reason(report, direction)}", COLOURS[result])
        yield from blocking_lines(listed, direction, style)
    yield style.fill(counts_line(report), indent="  ", first="")


def check_verdict_lines(report: CheckReport, listed: Sequence[Entry], style: Style) -> Iterator[str]:
    """The verdict on a change with what blocks, then all counts."""
    result, sentence = _on_change(report)
    yield style.paint(f"This change: {sentence}", COLOURS[result])
    for direction in Direction:
        yield from blocking_lines(listed, direction, style)
    yield f"{counted(report)}."


def _on_change(report: CheckReport) -> tuple[ReleaseVerdict, str]:
    """The verdict on a change, and ``BLOCKED (rollback to main, release-4.15)`` with what it rests on."""
    ways = [
        f"{direction} {'to' if direction == Direction.ROLLBACK else 'from'} {', '.join(names)}"
        for direction in Direction
        if (names := [each.report.old.title for each in report.sections if _blocks(each, direction)])
    ]
    if ways:
        return ReleaseVerdict.BLOCKED, f"BLOCKED ({'; '.join(ways)})"
    reasons = dict.fromkeys(reason for section in report.sections for reason in unjudged(section.report))
    if reasons:
        first, *others = reasons
        more = f", and {len(others)} more" if others else ""
        return ReleaseVerdict.UNKNOWN, f"UNKNOWN (not judged: {first}{more})"
    result = ReleaseVerdict.AT_RISK if report.by_severity()[Severity.WARNING] else ReleaseVerdict.CLEAN
    compared = " and ".join(dict.fromkeys(section.report.old.title for section in report.sections))
    return result, f"{result.upper()} (compared with {compared})"


def _blocks(section: Section, direction: Direction) -> bool:
    return bool(severities(section.report, direction)[Severity.ERROR])


def blocking_lines(listed: Sequence[Entry], direction: Direction, style: Style) -> Iterator[str]:
    """The errors of one direction: the fields, and what the reader does; the worst only, if there are many."""
    errors = (
        entry
        for entry in listed
        if entry.finding.direction == direction and entry.finding.counts and entry.finding.severity == Severity.ERROR
    )
    found = blocks(errors)
    for block in found[:_MAX_BLOCKS]:
        yield f"  {block.finding.kind}  {style.paint(block.path or 'the CRD', 'path')}"
        yield style.clip(_what_happens(block), indent="    ", lines=1)
    if len(found) > _MAX_BLOCKS:
        yield f"  and {len(found) - _MAX_BLOCKS} more"


def _what_happens(block: Block) -> str:
    """What the reader does, in a few words: ``release-4.13 rejects "A", "B": the controller cannot write status``."""
    finding, report = block.finding, block.entries[0].home.report
    reader = report.old.title if finding.direction == Direction.ROLLBACK else report.new.title
    match finding.effect:
        case Effect.CRD_REJECTED:
            return f"{reader}: the API server refuses the CRD"
        case Effect.REQUEST_FAILED:
            return f"{reader}: requests fail"
    values = finding.added if finding.direction == Direction.ROLLBACK else finding.removed
    title = rule(finding.rule).title
    what = listed_values(values) if values else f"writes ({title[:1].lower()}{title[1:]})"
    stuck = ": the controller cannot write status" if finding.owner == Owner.STATUS else ""
    return f"{reader} rejects {what}{stuck}"


def shown_directions(report: DiffReport) -> tuple[Direction, ...]:
    """The first direction that was judged, and each other one that has an error."""
    first, *others = report.directions
    return (first, *(each for each in others if severities(report, each)[Severity.ERROR]))


def counts_line(report: DiffReport) -> str:
    """The counts by direction, then what was not judged and what is waived."""
    shown = shown_directions(report)
    parts = []
    for direction in report.directions:
        hint = "" if direction in shown or not _any(report, direction) else f" (--direction {direction})"
        parts.append(f"{direction}: {tally(severities(report, direction))}{hint}")
    waived = sum(finding.waiver is not None for finding in report.findings)
    problems = f", {plural(len(report.problems), 'problem')}" if report.problems else ""
    return f"{'; '.join(parts)}; {len(report.undecided)} undecided, {waived} waived{problems}{causes_of(report)}."


def _any(report: DiffReport, direction: Direction) -> bool:
    return any(severities(report, direction).values())


def _way(report: DiffReport, direction: Direction) -> str:
    old, new = report.old.title, report.new.title
    return f"{new} -> {old}" if direction == Direction.ROLLBACK else f"{old} -> {new}"


def _reason(report: DiffReport, direction: Direction) -> str:
    """What a verdict other than blocked rests on."""
    scope = ", as far as the filters go" if report.is_filtered else ""
    match outcome(report, direction):
        case ReleaseVerdict.BLOCKED:
            return ""
        case ReleaseVerdict.UNKNOWN:
            return f" (not judged: {_unjudged(report)}){scope}"
        case ReleaseVerdict.AT_RISK:
            return f" (no error, {plural(severities(report, direction)[Severity.WARNING], 'warning')}{scope})"
        case ReleaseVerdict.CLEAN:
            return f" (no error and no warning in {plural(report.counts.compared, 'CRD')}{scope})"


def _unjudged(report: DiffReport) -> str:
    parts = [
        plural(len(found), what)
        for found, what in (
            (report.problems, "problem"),
            (report.undecided, "undecided difference"),
            (report.not_compared, "CRD"),
        )
        if found
    ]
    return ", ".join(parts) or report.why_nothing
