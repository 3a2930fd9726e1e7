"""A check as lines of text: the change itself, then the head against each rollback target; a short text for hooks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.findings.entries import Entry, entries
from crdcompat.models.check import CheckReport, Outcome, Section
from crdcompat.render.text.diff import compared_text, info_lines, unexplained_lines, verdict_lines
from crdcompat.render.text.page import colour_of, with_verdict
from crdcompat.render.wording.blocks import blocks, predicate
from crdcompat.render.wording.check import (
    full_command,
    is_failing,
    next_steps,
    section_title,
    trust_lines,
    unreleased_reason,
)
from crdcompat.render.wording.entries import count_above, counted, listed_above
from crdcompat.render.wording.findings import place, plural, problem_line, promoted_lines, undecided_line
from crdcompat.render.wording.growth import declared_lines
from crdcompat.render.wording.report import first_place
from crdcompat.render.wording.verdict import reaction, verdicts, with_allowed
from crdcompat.vocabulary import FailOn, FindingStatus, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.render.escape import Style
    from crdcompat.render.wording.blocks import Block

#: Lines of a short text on findings, and on undecided differences.
_MAX_SHORT = 20
#: Lines on findings of severity info under the verdict of a clean change; more are counted.
_MAX_CLEAN = 2
_NOT_NEW = {FindingStatus.EXISTING: "from before this change", FindingStatus.UNRELEASED: "unreleased"}
_OUTCOMES = {Outcome.JUDGED: "judged", Outcome.NO_CRD: "without a CRD", Outcome.NOT_JUDGED: "not judged"}


def check_text(report: CheckReport, style: Style) -> Iterator[str]:
    """All lines of the report, then the verdict; a long report begins with it, too. A quiet one is short, for hooks.

    What the change edits in its own rules, and accepts, is first in each.
    """
    listed = entries(report)
    yield from (style.title(line, "warning") for line in trust_lines(report))
    if style.verbosity < 0:
        yield from _short(report, listed, style)
        return
    if _is_short(report, style):
        yield from _clean(report, listed, style)
        return
    body = [*_body(report, listed, style)]
    if report.has_nothing:
        yield from body
        return
    verdict = [*verdict_lines(report, listed, style), *_steps(listed, style)]
    yield from with_verdict(verdict, body, style)


def _is_short(report: CheckReport, style: Style) -> bool:
    """Whether there is nothing to act on, and nobody asked for more."""
    is_plain = style.verbosity == 0 and not style.existing and style.fails is not FailOn.INFO
    return is_plain and report.verdict is ReleaseVerdict.CLEAN and not report.has_nothing


def _clean(report: CheckReport, listed: Sequence[Entry], style: Style) -> Iterator[str]:
    """The verdict and the counts, findings of severity info if they fit, and how much is not listed."""
    yield from (style.title(waiver, "warning") for waiver in report.waivers)
    gates = (line for each in report.sections for line in promoted_lines(each.report))
    yield from (style.clip(line, indent="    ", lines=1, first="") for line in dict.fromkeys(gates))
    said = (line for each in report.sections for line in declared_lines(each.report))
    yield from (style.fill(line, indent="    ", first="") for line in dict.fromkeys(said))
    yield from verdict_lines(report, listed, style)
    infos = [entry for entry in listed if entry.finding.counts]
    lines = [*info_lines(infos, style, most=_MAX_CLEAN)]
    yield from lines
    notes = dict.fromkeys((*report.notes, *(note for each in report.sections for note in each.report.new.notes)))
    notes.update(dict.fromkeys(note for each in report.sections for note in each.report.old.notes))
    hidden = [f"{plural(len(notes), 'note')} (-v)"] * bool(notes)
    counted = Counter(finding.status for finding in report.findings if finding.waiver is None)
    others = [f"{counted[status]} {text}" for status, text in _NOT_NEW.items() if counted[status]]
    hidden += [f"{', '.join(others)} (--all)"] * bool(others)
    if hidden:
        yield style.fill(f"Not listed: {', '.join(hidden)}.", indent="  ", first="")


def _short(report: CheckReport, listed: Sequence[Entry], style: Style) -> Iterator[str]:
    """What was not judged, the verdict, a line for each finding that fails, and what to do; else waivers alone."""
    failing = [entry for entry in listed if is_failing(entry.finding, style.fails)]
    unjudged = [problem_line(problem, style) for problem in report.problems]
    is_unknown = report.verdict is ReleaseVerdict.UNKNOWN
    for section in report.sections:
        unjudged += unexplained_lines(section.report, style)
        unjudged += _undecided(section, style) if is_unknown else ()
    yield from (style.title(waiver, "warning") for waiver in report.waivers)
    yield from dict.fromkeys(unjudged)
    if not (failing or unjudged or is_unknown):
        return
    for verdict in verdicts(report, listed):
        sentence = with_allowed(verdict, style).sentence
        yield style.paint(style.fill(sentence, indent="  ", first=""), colour_of(verdict.tone))
    made = blocks(failing)
    for block in made[:_MAX_SHORT]:
        kind = f"{block.finding.severity}[{block.finding.rule}]"
        line = style.clip(_short_line(block, kind), indent="    ", lines=3, first="")
        yield line.replace(kind, style.paint(kind, block.finding.severity), 1)
    if len(made) > _MAX_SHORT:
        rest = ", ".join(f"{block.finding.kind} {block.path}".rstrip() for block in made[_MAX_SHORT:])
        yield style.clip(f"and {len(made) - _MAX_SHORT} more: {rest}", indent="    ", lines=3, first="")
    yield style.fill(f"{counted(report)}.", indent="  ", first="")
    yield from _steps(listed, style)
    yield f"To see all of it: {full_command(report)}"


def _short_line(block: Block, kind: str) -> str:
    """``crds/w.yaml:44:23: error[enum-value-added] Widget status.phase: this change adds "B"; main rejects it``."""
    finding = block.finding
    location = first_place(finding.locations)
    where = place(location) if location is not None else finding.crd
    what = reaction(block) if finding.severity == Severity.ERROR else predicate(finding)
    return f"{where}: {kind} {f'{finding.kind} {block.path}'.rstrip()}: {what}"


def _undecided(section: Section, style: Style) -> Iterator[str]:
    """The undecided differences: without an error, these fail the check."""
    found = section.report.undecided
    for entry in found[:_MAX_SHORT]:
        yield style.clip(f"undecided: {undecided_line(entry)}", indent="    ", lines=3, first="")
    if len(found) > _MAX_SHORT:
        yield f"and {len(found) - _MAX_SHORT} more undecided differences"


def _steps(listed: Sequence[Entry], style: Style) -> Iterator[str]:
    return (style.fill(line, indent="    ", first="") for line in next_steps(listed, style.fails))


def _files(report: CheckReport, style: Style) -> Iterator[str]:
    """What became of each changed file that may hold a CRD: with -v."""
    for item in report.files:
        if style.verbosity > 0:
            yield style.wrap(f"{item.file}: {_OUTCOMES[item.outcome]}{item.reason and f' ({item.reason})'}", first="")


def _body(report: CheckReport, listed: Sequence[Entry], style: Style) -> Iterator[str]:
    yield from _files(report, style)
    for note in report.notes:
        yield style.wrap(f"note: {note}", first="")
    for waiver in report.waivers:
        yield style.title(waiver, "warning")
    shown: set[str] = set()
    for section in report.sections:
        own = [entry for entry in listed if entry.stands_in(section)]
        lines = (*promoted_lines(section.report), *declared_lines(section.report))
        said = [line for line in lines if line not in shown]
        shown.update(said)
        yield from _section(section, own, said, count_above(listed, section), style)


def _section(section: Section, own: Sequence[Entry], said: Sequence[str], above: int, style: Style) -> Iterator[str]:
    report = section.report
    counts = Counter(finding.status for finding in report.findings if finding.waiver is None)
    existing, unreleased = counts[FindingStatus.EXISTING], counts[FindingStatus.UNRELEASED]
    yield ""
    yield style.title(section_title(section))
    yield from compared_text(report, style, own, report.directions, said=said, short=True)
    if above:
        yield listed_above(above)
    if existing:
        yield f"{plural(existing, 'finding')} existed before this change (--all lists them)."
    if unreleased:
        yield f"{plural(unreleased, 'finding')} unreleased: {unreleased_reason(unreleased)} (--all lists them)."
