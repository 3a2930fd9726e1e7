"""Sentences on entries: one finding with all of its places and comparisons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.findings.entries import Entry
from crdcompat.models.check import CheckReport, Section
from crdcompat.render.pages.blocks import Head, Line
from crdcompat.render.wording.findings import contexts, crd_name, finding_lines, plural, tally
from crdcompat.vocabulary import Against, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding

_MAX_MIRRORS = 5


def section_key(section: Section) -> str:
    """``base``, or ``target`` and its name: the same in every run, whichever commit the base is."""
    return Against.BASE if section.against == Against.BASE else f"{section.against} {section.report.old.title}"


def entry_lines(entry: Entry, known_contexts: Sequence[str] = ()) -> Iterator[Head | Line]:
    """The finding, then other contexts, the other places of the same change, and the comparisons that meet it."""
    yield from detail_lines(entry, known_contexts)
    yield from (Line(line, hang=2) for line in mirror_lines(entry, len(entry.mirrors)))


def detail_lines(entry: Entry, known_contexts: Sequence[str] = ()) -> Iterator[Head | Line]:
    """The same without the other places and comparisons."""
    yield from finding_lines(entry.finding, known_contexts)
    yield from (Line(line, hang=2) for line in otherwise_lines(entry, known_contexts))


def otherwise_lines(entry: Entry, known_contexts: Sequence[str]) -> Iterator[str]:
    """What the same change does in contexts where it has another effect, or where no example object was found."""
    for finding in entry.otherwise:
        yield f"in {contexts(finding.contexts, known_contexts)} ({finding.severity}): {finding.message}"


def mirror_lines(entry: Entry, most: int = _MAX_MIRRORS) -> Iterator[str]:
    """The other places of the same change, then the comparisons that meet it if there are several."""
    for mirror in entry.mirrors[:most]:
        yield f"same change: {mirror_line(mirror)}"
    rest = entry.mirrors[most:]
    if rest:
        crds = len({mirror.crd for mirror in rest})
        yield f"same change: in {plural(len(rest), 'more place')} of {plural(crds, 'CRD')}"
    yield from met_line(entry)


def met_line(entry: Entry) -> Iterator[str]:
    """The comparisons that meet an entry, if there are several."""
    if len(entry.met) > 1:
        yield f"against: {', '.join(map(section_key, entry.met))}"


def counted(report: DiffReport | CheckReport) -> str:
    """``2 errors, 1 warning, 0 info, 4 waived``: the findings of all entries, with their mirrors."""
    return tally(report.by_severity()) + waived(report)


def waived(report: DiffReport | CheckReport) -> str:
    """``, 4 waived``: each id once, if no comparison counts it; nothing if none is."""
    counting = {finding.id for finding in report.findings if finding.counts}
    count = len({finding.id for finding in report.findings if finding.waiver is not None} - counting)
    return f", {count} waived" if count else ""


def findings_of(listed: Iterable[Entry], severity: Severity) -> list[Finding]:
    """The findings of one severity: a mirror can be less severe than the finding that represents it."""
    return [finding for entry in listed for finding in entry.findings if finding.severity == severity]


def more_places(alike: Sequence[Entry]) -> str:
    """``2 more places``: the other places of one change, or of changes of siblings, which have theirs in common."""
    mirrors = [mirror for entry in alike for mirror in entry.mirrors]
    holders = {(each.crd, each.version, each.path.rpartition(".")[0]) for each in mirrors}
    return plural(len(holders) if len(alike) > 1 else len(mirrors), "more place")


def and_in_more(entry: Entry) -> str:
    """`` (and in 2 more places)``, for one line on an entry."""
    return f" (and in {more_places((entry,))})" if entry.mirrors else ""


def mirror_line(finding: Finding) -> str:
    """``CRD/version path (severity, id)``."""
    where = f"{crd_name(finding.crd, finding.version)} {finding.path}".rstrip()
    return f"{where} ({finding.severity}, {finding.id})"


def count_above(listed: Iterable[Entry], section: Section) -> int:
    """The number of findings of a comparison that an earlier one lists."""
    above = (each for each in listed if each.is_met_in(section) and not each.stands_in(section))
    return sum(len(entry.findings) for entry in above if entry.finding.counts)


def listed_above(count: int) -> str:
    """How many findings of a comparison are shown in an earlier one."""
    return f"Listed above: {plural(count, 'finding')} of this comparison."
