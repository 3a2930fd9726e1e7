"""A comment on a pull request, of bounded length: the verdict, a table of what to act on, then findings to unfold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.findings.entries import entries
from crdcompat.models.check import CheckReport, Section, sections
from crdcompat.models.diff import DiffReport
from crdcompat.models.report import Report
from crdcompat.render.escape import Style, escape_text, shortened
from crdcompat.render.formats import COMPARISONS
from crdcompat.render.markdown.markup import block, bullets, cell, code, details, folded, span, unread
from crdcompat.render.markdown.page import page_markdown
from crdcompat.render.pages import page_of
from crdcompat.render.text.diff import verdict_lines
from crdcompat.render.wording.blocks import predicate
from crdcompat.render.wording.causes import Cause, causes
from crdcompat.render.wording.check import next_steps, trust_lines
from crdcompat.render.wording.entries import (
    entry_lines,
    findings_of,
    mirror_line,
    more_places,
    section_key,
)
from crdcompat.render.wording.findings import compared_line, crd_name, in_contexts, plural, undecided_line
from crdcompat.render.wording.report import (
    counting,
    headline,
    notes,
    plain,
    promotions,
    section_counts,
    subject,
    title,
)
from crdcompat.render.wording.verdict import allowed_line, shown_directions
from crdcompat.vocabulary import Direction, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.versions import VersionsReport

NAME, KINDS = "markdown", (*COMPARISONS, "matrix", "fleet", "preflight", "versions")

#: GitHub limits a comment to 65,536 characters, other services to as many bytes.
_MAX_BYTES = 60_000
_MAX_SECTIONS = 20
_MAX_ROWS, _MAX_SENTENCE = 30, 300
#: Other places of a change that are shown; the others are to unfold.
_MAX_PLACES = 3
_WRAPPED = Style(width=100, verbosity=1)
#: A part that may be left out, and how many findings (or objects) it shows.
_Entry = tuple[str, int]


def render(report: Report | FleetReport | MatrixReport | PreflightReport | VersionsReport, style: Style) -> str:
    """The report as GitHub Markdown; of ``style`` ``fails`` and ``allowed`` count."""
    if report.KIND in ("diff", "check"):
        return _comparison(report, style)
    head, *parts = page_markdown(page_of(report, Style(allowed=style.allowed)))
    return _page([head], [(part, 1) for part in parts], [])


def _comparison(report: DiffReport | CheckReport, style: Style) -> str:
    head = [
        f"## crdcompat: {headline(report)}",
        *_trust(report),
        *_verdict(report),
        *_head(report),
        *_promotions(report),
        *_steps(report, style),
        *_table(report),
    ]
    tail = [*_tail(report), *allowed_line(style)]
    entries = list(_found(report))
    if not entries and not report.problems:
        tail.insert(0, "Nothing to act on.")
    return _page(head, entries, tail)


def _page(head: Sequence[str], entries: Iterable[_Entry], tail: Sequence[str]) -> str:
    """All parts; as many entries as fit."""
    return "\n\n".join([*head, *_fitting(entries, _MAX_BYTES - sum(map(_size, (*head, *tail)))), *tail]) + "\n"


def _fitting(entries: Iterable[_Entry], room: int) -> Iterator[str]:
    """The first entries that fit, and how much was left out."""
    room -= 1_000  # for the sentence on the rest, and the empty lines of head and tail
    remaining = iter(entries)
    for text, count in remaining:
        room -= _size(text) + 2
        if room < 0:
            left = count + sum(count for _, count in remaining)
            yield f"**{left} more left out here**: a comment holds no more. The text and JSON reports have them all."
            return
        yield text


def _size(text: str) -> int:
    return len(text.encode())


def _trust(report: DiffReport | CheckReport) -> Iterator[str]:
    """What the change edits in the rules of its own check, and accepts."""
    if lines := trust_lines(report):
        yield bullets(lines)


def _verdict(report: DiffReport | CheckReport) -> Iterator[str]:
    """The verdict of a diff or a check, with what it rests on or what blocks."""
    if not (isinstance(report, CheckReport) and report.has_nothing):
        yield block(plain(verdict_lines(report, entries(report), _WRAPPED)))


def _table(report: DiffReport | CheckReport) -> Iterator[str]:
    """A row for each cause with an error or a warning, as the text shows them."""
    shown = shown_directions(report) if isinstance(report, DiffReport) else tuple(Direction)
    found = [entry for entry in counting(report) if entry.finding.severity != Severity.INFO]
    rows = [_row(each) for each in causes(entry for entry in found if entry.finding.direction in shown)]
    if rows:
        rest = len(rows) - _MAX_ROWS
        more = [f"| | | and {rest} more |"] if rest > 0 else []
        yield "\n".join(["| severity | field | what changed |", "|---|---|---|", *rows[:_MAX_ROWS], *more])


def _row(cause: Cause) -> str:
    finding, item = cause.finding, cause.blocks[0]
    crd = f"{crd_name(finding.crd, finding.version)}{in_contexts(finding, _known(item.entries[0].home))}"
    field = cause.where if cause.is_shared else f"{crd} {item.path}".strip()
    said = f"{len(cause.blocks)} changes, such as {finding.message}" if cause.is_shared else predicate(finding)
    return f"| {finding.severity} | {cell(field)} | {cell(shortened(said, _MAX_SENTENCE))} |"


# -- what surrounds the findings ---------------------------------------------


def _head(report: DiffReport | CheckReport) -> Iterator[str]:
    lines = [_section(section, report) for section in sections(report)]
    rest = len(lines) - _MAX_SECTIONS
    if lines:
        yield "\n".join([*lines[:_MAX_SECTIONS], *([f"- and {rest} more targets"] if rest > 0 else [])])
    yield from unread(report.problems)


def _promotions(report: DiffReport | CheckReport) -> Iterator[str]:
    """What the feature gates expose that the change turns on in Default."""
    if lines := promotions(report):
        yield bullets([*lines])


def _steps(report: DiffReport | CheckReport, style: Style) -> Iterator[str]:
    """What to do next, for a check that fails."""
    if isinstance(report, CheckReport) and (steps := next_steps(entries(report), style.fails)):
        yield block("\n".join(escape_text(line) for line in steps))


def _section(section: Section, report: DiffReport | CheckReport) -> str:
    sides = f"{section.report.old.full} -> {section.report.new.full}"
    name = f"{section_key(section)}: {sides}" if isinstance(report, CheckReport) else sides
    return f"- {span(name)}: {section_counts(section)}\n  {span(compared_line(section.report))}"


def _tail(report: DiffReport | CheckReport) -> Iterator[str]:
    undecided = (undecided_line(entry) for section in sections(report) for entry in section.report.undecided)
    lines = [*dict.fromkeys(undecided)]
    yield from folded(lines, f"{len(lines)} undecided")
    open_ = [item for section in sections(report) for item in section.report.unexplained]
    met = [f"{item.object} in {item.source}: {item.error}" for item in open_]
    yield from folded(met, f"{len(met)} rejected without a finding that explains it")
    if said := notes(report):
        yield bullets(said)


# -- the findings ---------------------------------------------


def _found(report: DiffReport | CheckReport) -> Iterator[_Entry]:
    found = counting(report)
    known = tuple(dict.fromkeys(name for section in sections(report) for name in section.report.counts.contexts))
    made = causes(entry for entry in found if entry.finding.severity != Severity.INFO)
    for severity in (Severity.ERROR, Severity.WARNING):
        alike = [cause for cause in made if cause.finding.severity == severity]
        heading = f"### {plural(len(findings_of(found, severity)), severity).capitalize()}\n\n"
        shown = (each for cause in alike for each in _cause(cause, known))
        for number, (text, count) in enumerate(shown):
            yield (text if number else heading + text), count
    lines = [_line(entry) for entry in found if entry.finding.severity == Severity.INFO]
    for text in folded(lines, f"{len(findings_of(found, Severity.INFO))} info"):
        yield text, len(lines)


def _cause(cause: Cause, known_contexts: Sequence[str]) -> Iterator[_Entry]:
    """Each entry to unfold; several of one cause in one, with its other places once."""
    if not cause.is_shared:
        yield from ((_finding(entry, known_contexts), 1) for entry in cause.entries)
        return
    texts = (plain(entry_lines(entry, _WRAPPED, known_contexts, most=0)) for entry in cause.entries)
    mirrors = [mirror_line(mirror) for entry in cause.entries for mirror in entry.mirrors]
    inner = [*map(block, texts), *folded(mirrors, f"the other places: {len(mirrors)}")]
    yield details(code(cause.heading), "\n\n".join(inner)), len(cause.entries)


def _known(section: Section) -> Sequence[str]:
    return section.report.counts.contexts


def _finding(entry: Entry, known_contexts: Sequence[str]) -> str:
    text = plain(entry_lines(entry, _WRAPPED, known_contexts, most=_MAX_PLACES))
    more = folded([*map(mirror_line, entry.mirrors[_MAX_PLACES:])], f"{len(entry.mirrors) - _MAX_PLACES} more places")
    return details(f"{title(entry.finding)} {code(subject(entry.finding))}", "\n\n".join([block(text), *more]))


def _line(entry: Entry) -> str:
    finding = entry.finding
    return f"{subject(finding)}: {finding.effect} [{title(finding)}]{more_places(entry)}"
