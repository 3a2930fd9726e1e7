"""A diff or a check as a page: what all of its forms show beside the verdict, and the comparisons."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.models.check import CheckReport, Section, sections
from crdcompat.render.escape import Style, shortened
from crdcompat.render.pages.blocks import Block, Cell, Facet, Table
from crdcompat.render.pages.finding import CONTEXT, CRD, DIRECTION, OWNER, RULE, SEVERITY, STATUS, Setting
from crdcompat.render.pages.findings import Findings, is_large, without_excerpts
from crdcompat.render.pages.page import Answer, Compared, Mark, MarkedRow, Number, Page, marked_row
from crdcompat.render.pages.part import Comparisons, Part, part_section, undecided_section
from crdcompat.render.wording.entry_sentences import section_key
from crdcompat.render.wording.findings import compared_line, crd_name, in_contexts, plural, tally
from crdcompat.render.wording.joined_entries import Cause, causes, predicate
from crdcompat.render.wording.summaries import headline, notes, promotions
from crdcompat.vocabulary import Direction, FindingStatus, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding

_FACETS = (SEVERITY, DIRECTION, OWNER, STATUS, Facet("section", "Compared with"), CRD, CONTEXT, RULE)
#: Rows of a table in a comment, and characters of a sentence in it.
_MAX_ROWS, _MAX_SENTENCE = 30, 300


def with_details(page: Page, whole: Comparisons, style: Style) -> Page:
    """The page with everything that a text with ``-v``, an HTML page or a comment shows."""
    report, listed = whole.report, whole.listed
    findings = Findings(existing=style.existing, is_large=is_large(each.report for each in sections(report)))
    found = [[*_found(part, findings, style)] for part in whole.parts]
    made = [part_section(part, at + 1, found[at], style) for at, part in enumerate(whole.parts)]
    answers = tuple(with_overview(*each, listed, findings) for each in zip(page.answers, whole.ways, strict=True))
    judged = {direction for way in whole.ways for direction in way}
    return replace(
        page,
        body=(*page.body, *made),
        problems=report.problems,
        answers=answers,
        views=answers,
        heading=headline(report),
        leads=tuple(promotions(report)),
        compared=tuple(_compared(report, *each) for each in enumerate(sections(report), 1)),
        notes=notes(report),
        overview=_overview(each for each in listed if each.finding.counts and each.finding.direction in judged),
        rules=tuple(dict.fromkeys(finding.rule for finding in report.findings)),
        lacks=without_excerpts(report.findings),
        facets=_FACETS,
        what="findings",
        row="CRD",
        nothing="Nothing to act on.",
    )


def _found(part: Part, findings: Findings, style: Style) -> Iterator[Block]:
    """The findings of a comparison by direction, then what was not judged."""
    report = part.section.report
    setting = Setting(report, {"section": section_key(part.section)}, part.report_file)
    for direction in Direction:
        role = "direction" if direction in part.judged else "direction beside"
        yield from findings.direction(setting, part.listed, direction, role)
    yield from findings.undecided(setting, undecided_section(report, style))


def _compared(whole: DiffReport | CheckReport, number: int, section: Section) -> Compared:
    report = section.report
    sides = f"{report.old.full} -> {report.new.full}"
    severities = report.by_severity()
    counts = {
        **{severity.value: severities[severity] for severity in Severity},
        "undecided": len(report.undecided),
        "existing": sum(finding.status == FindingStatus.EXISTING for finding in report.findings),
        "waived": sum(finding.waiver is not None for finding in report.findings),
    }
    others = f"{counts['existing']} existing, {counts['waived']} waived, {counts['undecided']} undecided"
    key = section_key(section)
    title = f"{key}: {sides}" if isinstance(whole, CheckReport) else sides
    counted = f"{tally(severities)}; {others}"
    return Compared(key, title, counts, counted, compared_line(report), f"part-{number}")


def _overview(listed: Iterable[Entry]) -> Table | None:
    """A row for each cause with an error or a warning, as the text shows them."""
    severe = sorted(listed, key=lambda each: each.finding.severity.rank)
    rows = tuple(map(_cause_row, causes(each for each in severe if each.finding.severity != Severity.INFO)))
    return Table("What changed", ("severity", "field", "what changed"), rows, most=_MAX_ROWS) if rows else None


def _cause_row(cause: Cause) -> tuple[Cell, ...]:
    finding, item = cause.finding, cause.blocks[0]
    known = item.entries[0].home.report.counts.contexts
    crd = f"{crd_name(finding.crd, finding.version)}{in_contexts(finding, known)}"
    field = cause.where if cause.is_shared else f"{crd} {item.path}".strip()
    said = f"{len(cause.blocks)} changes, such as {finding.message}" if cause.is_shared else predicate(finding)
    return Cell(finding.severity, finding.severity), Cell(field), Cell(shortened(said, _MAX_SENTENCE))


#: A finding, and its place on the page.
_Found = tuple["Finding", str]
#: The effect of the findings of each severity on the move.
_MEANING = {
    Severity.ERROR: "block it",
    Severity.WARNING: "may block it",
    Severity.INFO: "lose or set values",
}


def with_overview(
    answer: Answer, directions: Sequence[Direction], listed: Iterable[Entry], findings: Findings
) -> Answer:
    """The answer on these directions with its numbers and its CRDs, the worst first."""
    counted = Counter(
        finding.severity
        for entry in listed
        for finding in entry.findings
        if finding.counts and finding.direction in directions
    )
    rows, quiet = _rows(findings, directions)
    return replace(
        answer,
        numbers=tuple(Number(each, counted[each], _MEANING[each]) for each in Severity),
        rows=rows,
        rest=f"{plural(quiet, 'other CRD')}: only info" if quiet else "",
    )


def _rows(findings: Findings, directions: Sequence[Direction]) -> tuple[tuple[MarkedRow, ...], int]:
    """The CRDs with errors and warnings, the worst first, and the number of CRDs with neither."""
    by_crd: dict[str, list[_Found]] = {}
    for placed in (each for direction in directions for each in findings.placed.get(direction, ())):
        for finding in placed.entry.findings:
            by_crd.setdefault(finding.crd, []).append((finding, placed.anchor))
    counted = {crd: Counter(finding.severity for finding, _ in found) for crd, found in by_crd.items()}
    names = _names(by_crd)
    worst = sorted(
        (crd for crd, counts in counted.items() if counts[Severity.ERROR] or counts[Severity.WARNING]),
        key=lambda crd: (-counted[crd][Severity.ERROR], -counted[crd][Severity.WARNING], names[crd]),
    )
    return tuple(_row(names[crd], by_crd[crd], counted[crd]) for crd in worst), len(by_crd) - len(worst)


def _names(by_crd: dict[str, list[_Found]]) -> dict[str, str]:
    """The name of each CRD on the page: its kind, with the group if several CRDs have this kind."""
    kinds = {crd: found[0][0].kind for crd, found in by_crd.items()}
    same = Counter(kinds.values())
    return {crd: kind if same[kind] == 1 else f"{kind} ({crd.partition('.')[2]})" for crd, kind in kinds.items()}


def _row(name: str, found: Sequence[_Found], counts: Counter[Severity]) -> MarkedRow:
    worst = sorted(found, key=lambda each: each[0].severity.rank)
    marks = [
        Mark(anchor, finding.severity, f"{finding.path or 'the CRD itself'}: {finding.rule}")
        for finding, anchor in worst
        if finding.severity != Severity.INFO
    ]
    parts = [
        f"{count} info" if severity == Severity.INFO else plural(count, severity)
        for severity in Severity
        if (count := counts[severity])
    ]
    return marked_row(name, marks, ", ".join(parts))
