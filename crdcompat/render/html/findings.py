"""A diff or a check as parts of a page: a part per comparison, with groups of findings per direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.findings.entries import Entry, entries
from crdcompat.findings.rules import catalogue
from crdcompat.models.check import CheckReport, Section, sections
from crdcompat.models.diff import DiffReport
from crdcompat.render.html.facets import Facets
from crdcompat.render.html.items import DirectionPart, Items, is_large, without_info
from crdcompat.render.pages.blocks import Facet
from crdcompat.render.wording.check import section_title
from crdcompat.render.wording.entries import count_above, listed_above, section_key
from crdcompat.render.wording.findings import compared_line, skipped_lines
from crdcompat.vocabulary import Direction, FindingStatus, Owner, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.findings.rules import Rule
    from crdcompat.models.finding import Finding
    from crdcompat.models.report import Release

SEVERITY = Facet("severity", "Severity", (*Severity, "undecided"))
OWNER = Facet("owner", "Owner", tuple(Owner))
STATUS = Facet("status", "Status", (*FindingStatus, "waived"))
CRD, CONTEXT, RULE = Facet("crd", "CRD"), Facet("context", "Context"), Facet("rule", "Rule")
DIRECTION = Facet("direction", "Direction", tuple(Direction))
_FACETS = (SEVERITY, DIRECTION, OWNER, STATUS, Facet("section", "Compared with"), CRD, CONTEXT, RULE)

#: The JSON report from which ``crdcompat waive`` takes the findings of a diff.
REPORT_FILE = "report.json"
#: An entry of the table of contents: anchor, name, and the links below it.
Link = tuple[str, str, tuple[tuple[str, str], ...]]
#: Headings with their lines: what was compared, and what was not.
Scope = tuple[tuple[str, tuple[str, ...]], ...]


class ComparedPart(Struct, frozen=True):
    """One comparison: its counts, its directions, its scope. ``title`` is empty for a diff.

    ``left_out``: number of items that do not fit on the page.
    """

    key: str
    title: str
    report: DiffReport
    compared: str
    counts: dict[str, int]
    left_out: int
    directions: tuple[DirectionPart, ...]
    scope: Scope


def parts(report: DiffReport | CheckReport, *, existing: bool) -> tuple[tuple[ComparedPart, ...], Facets]:
    """The comparisons of a report, and the filters; ``existing`` as in a style."""
    whole = isinstance(report, CheckReport)
    items = Items(Facets(_FACETS), existing, "" if whole else REPORT_FILE)
    shown = sections(report)
    brief = is_large(section.report for section in shown)
    found = entries(report)
    listed = [each for each in found if not (brief and each.finding.severity == Severity.INFO)]
    left_out = [without_info(section.report)[1] if brief else 0 for section in shown]
    titles = [section_title(section) if whole else "" for section in shown]
    made = tuple(_part(*each, items, listed) for each in zip(shown, titles, left_out, strict=True))
    return made, items.facets


def _part(section: Section, title: str, left_out: int, items: Items, listed: Sequence[Entry]) -> ComparedPart:
    """A comparison; the entries ``listed`` fit on the page."""
    key = section_key(section)
    report = section.report
    items.more = {"section": key}
    own = [entry for entry in listed if entry.stands_in(section)]
    above = count_above(listed, section)
    made = [
        items.direction(report, own, Direction.ROLLBACK),
        items.direction(report, own, Direction.UPGRADE),
        items.undecided(report),
    ]
    return ComparedPart(
        key=key,
        title=title,
        report=report,
        compared=f"{compared_line(report)} {listed_above(above) if above else ''}".strip(),
        counts=_counts(report),
        left_out=left_out,
        directions=tuple(each for each in made if each.groups),
        scope=tuple((name, lines) for name, lines in _scope(report) if lines),
    )


def _counts(report: DiffReport) -> dict[str, int]:
    """Counts of findings by severity, then of undecided, existing and waived ones."""
    severities = report.by_severity()
    return {
        **{severity.value: severities[severity] for severity in Severity},
        "undecided": len(report.undecided),
        "existing": sum(finding.status == FindingStatus.EXISTING for finding in report.findings),
        "waived": sum(finding.waiver is not None for finding in report.findings),
    }


def rules_of(findings: Iterable[Finding]) -> tuple[Rule, ...]:
    """The rules of the findings, by id."""
    used = {finding.rule for finding in findings}
    return tuple(rule for name, rule in catalogue().items() if name in used)


def without_excerpts(findings: Iterable[Finding]) -> int:
    """Number of findings with a line but without an excerpt because the page is full; 0 if none has an excerpt."""
    located = [f for f in findings if any(place.line is not None and place.kind == "yaml" for place in f.locations)]
    without = sum(not finding.excerpts for finding in located)
    return without if without < len(located) else 0


def _scope(report: DiffReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    counted = report.counts
    yield f"Contexts compared: {len(counted.contexts)}", counted.contexts
    for name, lines in (
        (f"CRDs only in {report.old.title}", counted.only_old),
        (f"CRDs only in {report.new.title}", counted.only_new),
        (f"Contexts only in {report.old.title}, not compared", counted.contexts_only_old),
        (f"Contexts only in {report.new.title}, not compared", counted.contexts_only_new),
    ):
        yield f"{name}: {len(lines)}", lines
    if report.not_compared:
        yield f"CRDs not compared: {len(report.not_compared)}", report.not_compared
    if met := tuple(f"{item.object} in {item.source}: {item.error}" for item in report.unexplained):
        yield f"Recorded objects rejected in ways that no finding explains: {len(met)}", met
    yield f"Text-only changes: {len(counted.text_changes)}", tuple(dict.fromkeys(counted.text_changes))
    yield (
        f"Duplicate CRD documents ignored: {len(counted.superseded)}",
        tuple(f"{crd}: {file} is ignored, {by} is used" for crd, file, by in counted.superseded),
    )
    yield f"Files skipped: {len(report.skipped)}", tuple(skipped_lines(report.skipped))
    yield f"Remarks: {len(report.remarks)}", tuple(f"{r.file}:{r.line}: {r.message}" for r in report.remarks)


def side_line(release: Release) -> str:
    """Commit and server version of a side, as far as known."""
    known = [f"commit {release.commit[:12]}"] if release.commit else []
    return ", ".join([*known, *([f"Kubernetes {release.kubernetes}"] if release.kubernetes else [])])


def contents(parts: Sequence[ComparedPart], *, has_rules: bool) -> list[Link]:
    """The directions of each comparison with their groups, then the rules."""
    listed: list[Link] = []
    for number, part in enumerate(parts, 1):
        if part.title:
            listed.append((f"part-{number}", part.title, ()))
        listed += [
            (each.anchor, _name(each), tuple((group.anchor, group.title) for group in each.groups))
            for each in part.directions
        ]
        if not part.title:
            listed.append((f"scope-{number}", "What was compared", ()))
    return [*listed, ("rules", "Rules: why, and fixes", ())] if has_rules else listed


def _name(part: DirectionPart) -> str:
    return part.direction.capitalize() if part.direction is not None else "Not judged"
