"""A check as a page: the verdict on the change, then the head against its base and each target; few lines for hooks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.findings.entries import Entry, entries
from crdcompat.models.check import CheckReport, Outcome, Section
from crdcompat.render.pages.blocks import Block, Brief, Fold, Line, Notes
from crdcompat.render.pages.comparisons import with_parts
from crdcompat.render.pages.page import Page
from crdcompat.render.pages.part import Comparisons, Part, unexplained
from crdcompat.render.pages.short import info_lines
from crdcompat.render.wording.check import (
    full_command,
    is_failing,
    next_steps,
    section_title,
    trust_lines,
    unreleased_reason,
)
from crdcompat.render.wording.entry_sentences import count_above, counted
from crdcompat.render.wording.findings import place, plural, problem_line, promoted_lines, undecided_line
from crdcompat.render.wording.growth import declared_lines
from crdcompat.render.wording.installers import installer_lines
from crdcompat.render.wording.joined_entries import Block as FindingBlock
from crdcompat.render.wording.joined_entries import blocks, predicate
from crdcompat.render.wording.summaries import first_place
from crdcompat.render.wording.verdict import reaction, verdicts, with_allowed
from crdcompat.vocabulary import Direction, FailOn, FindingStatus, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.render.escape import Style

_OUTCOMES = {Outcome.JUDGED: "judged", Outcome.NO_CRD: "without a CRD", Outcome.NOT_JUDGED: "not judged"}


def page(report: CheckReport, style: Style) -> Page:
    """The page. It is short if it is quiet, as hooks want it, or if the change is clean.

    What the change edits in its own rules, and accepts, is first in each.
    """
    listed = entries(report)
    top = _verdict(report, listed, style)
    if style.verbosity < 0:
        return hook_page(top, report, listed, style)
    if _is_short(report, style):
        return clean_page(top, report, listed)
    top = replace(top, body=tuple(_beside(report, style)), steps=tuple(next_steps(report, listed, style.fails)))
    ways = [tuple(Direction)] * len(top.answers)
    return with_parts(top, Comparisons(report, listed, [*_parts(report, listed)], ways), style)


def _verdict(report: CheckReport, listed: Sequence[Entry], style: Style) -> Page:
    """The verdict alone with what blocks, and all counts; a change without a CRD has none."""
    lines = (*installer_lines(report), f"{counted(report)}.")
    return Page(
        command="check",
        answers=() if report.has_nothing else tuple(with_allowed(each, style) for each in verdicts(report, listed)),
        body=(),
        head=() if report.has_nothing else tuple(Line(line, depth=0, fold=Fold.ALWAYS) for line in lines),
        trust=tuple(trust_lines(report)),
        is_last=True,
        name=f"Check of {report.head.title}",
    )


def _is_short(report: CheckReport, style: Style) -> bool:
    """Whether there is nothing to act on, and nobody asked for more."""
    is_plain = style.verbosity == 0 and not style.existing and style.fails is not FailOn.INFO
    return is_plain and report.verdict is ReleaseVerdict.CLEAN and not report.has_nothing


def _beside(report: CheckReport, style: Style) -> Iterator[Block]:
    """With -v what became of each changed file that may hold a CRD, then what the run assumed."""
    files = report.files if style.verbosity > 0 else ()
    said = (f"{item.file}: {_OUTCOMES[item.outcome]}{item.reason and f' ({item.reason})'}" for item in files)
    yield Brief(
        (
            *(Line(line, depth=0) for line in said),
            Notes(report.notes, hang=1),
            *(Line(waiver, tone="warning", depth=0) for waiver in report.waivers),
        )
    )


def _parts(report: CheckReport, listed: Sequence[Entry]) -> Iterator[Part]:
    shown: set[str] = set()
    for section in report.sections:
        lines = (*promoted_lines(section.report), *declared_lines(section.report))
        said = [line for line in lines if line not in shown]
        shown.update(said)
        yield Part(
            section,
            title=section_title(section),
            listed=[entry for entry in listed if entry.stands_in(section)],
            shown=section.report.directions,
            judged=tuple(Direction),
            said=said,
            above=count_above(listed, section),
            after=tuple(_not_listed(section)),
            short=True,
        )


def _not_listed(section: Section) -> Iterator[str]:
    counts = Counter(finding.status for finding in section.report.findings if finding.waiver is None)
    if existing := counts[FindingStatus.EXISTING]:
        yield f"{plural(existing, 'finding')} existed before this change (--all lists them)."
    if unreleased := counts[FindingStatus.UNRELEASED]:
        yield f"{plural(unreleased, 'finding')} unreleased: {unreleased_reason(unreleased)} (--all lists them)."


#: Lines of a short text on findings, and on undecided differences.
_MAX_SHORT = 20
#: Lines on findings of severity info under the verdict of a clean change; more are counted.
_MAX_CLEAN = 2
_NOT_NEW = {FindingStatus.EXISTING: "from before this change", FindingStatus.UNRELEASED: "unreleased"}


def clean_page(page: Page, report: CheckReport, listed: Sequence[Entry]) -> Page:
    """The verdict and the counts, findings of severity info if they fit, and how much is not listed."""
    gates = dict.fromkeys(line for each in report.sections for line in promoted_lines(each.report))
    said = dict.fromkeys(line for each in report.sections for line in declared_lines(each.report))
    body = (
        *_waivers(report),
        *(Line(line, depth=0, hang=2, most=1) for line in gates),
        *(_filled(line, 2) for line in said),
        *(Line(answer.sentence, tone=answer.tone, depth=0) for answer in page.answers),
        *page.head,
        *info_lines([entry for entry in listed if entry.finding.counts], most=_MAX_CLEAN),
        *_hidden(report),
    )
    return replace(page, answers=(), head=(), body=body)


def hook_page(page: Page, report: CheckReport, listed: Sequence[Entry], style: Style) -> Page:
    """What was not judged, the verdict, a line for each finding that fails, and what to do; else waivers alone."""
    failing = [entry for entry in listed if is_failing(entry.finding, style.fails)]
    is_unknown = report.verdict is ReleaseVerdict.UNKNOWN
    unjudged: list[Block] = [*map(problem_line, report.problems)]
    for section in report.sections:
        unjudged += unexplained(section.report)
        unjudged += _undecided(section) if is_unknown else ()
    body = (*_waivers(report), *dict.fromkeys(unjudged))
    if failing or unjudged or is_unknown:
        verdict = (Line(each.sentence, tone=each.tone, depth=0, fold=Fold.ALWAYS) for each in page.answers)
        steps = (_filled(step, 2) for step in next_steps(report, listed, style.fails))
        full = Line(f"To see all of it: {full_command(report)}", depth=0, fold=Fold.NEVER)
        body = (*body, *verdict, *_failing(failing), _filled(f"{counted(report)}."), *steps, full)
    return replace(page, answers=(), head=(), body=body)


def _waivers(report: CheckReport) -> Iterator[Line]:
    return (Line(waiver, tone="warning", depth=0) for waiver in report.waivers)


def _filled(text: str, hang: int = 1) -> Line:
    return Line(text, depth=0, hang=hang, fold=Fold.ALWAYS)


def _hidden(report: CheckReport) -> Iterator[Line]:
    """How much is not listed, and what lists it."""
    sides = [side for each in report.sections for side in (each.report.old, each.report.new)]
    notes = {*report.notes, *(note for side in sides for note in side.notes)}
    hidden = [f"{plural(len(notes), 'note')} (-v)"] * bool(notes)
    counts = Counter(finding.status for finding in report.findings if finding.waiver is None)
    others = [f"{counts[status]} {text}" for status, text in _NOT_NEW.items() if counts[status]]
    hidden += [f"{', '.join(others)} (--all)"] * bool(others)
    if hidden:
        yield _filled(f"Not listed: {', '.join(hidden)}.")


def _failing(failing: Sequence[Entry]) -> Iterator[Line]:
    """A line for each block of findings that fail, up to a number, then the names of the others."""
    made = blocks(failing)
    yield from map(_short_line, made[:_MAX_SHORT])
    if len(made) > _MAX_SHORT:
        rest = ", ".join(f"{block.finding.kind} {block.path}".rstrip() for block in made[_MAX_SHORT:])
        yield _clipped(f"and {len(made) - _MAX_SHORT} more: {rest}")


def _clipped(text: str, part: str = "", tone: str = "") -> Line:
    return Line(text, part=part, tone=tone, depth=0, hang=2, most=3)


def _short_line(block: FindingBlock) -> Line:
    """``crds/w.yaml:44:23: error[enum-value-added] Widget status.phase: this change adds "B"; main rejects it``."""
    finding = block.finding
    kind = f"{finding.severity}[{finding.rule}]"
    location = first_place(finding.locations)
    where = place(location) if location is not None else finding.crd
    what = reaction(block) if finding.severity == Severity.ERROR else predicate(finding)
    return _clipped(f"{where}: {kind} {f'{finding.kind} {block.path}'.rstrip()}: {what}", kind, finding.severity)


def _undecided(section: Section) -> Iterator[Line]:
    """The undecided differences: without an error, these fail the check."""
    found = section.report.undecided
    yield from (_clipped(f"undecided: {undecided_line(entry)}") for entry in found[:_MAX_SHORT])
    if len(found) > _MAX_SHORT:
        yield Line(f"and {len(found) - _MAX_SHORT} more undecided differences", depth=0, fold=Fold.NEVER)
