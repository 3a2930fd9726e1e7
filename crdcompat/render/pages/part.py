"""One comparison as a section of a page, without a verdict: what was compared, found, and not judged."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.render.pages.blocks import Block, Brief, Fold, Folded, Line, Listing, Notes, Section
from crdcompat.render.pages.short import WHOLE_CRD
from crdcompat.render.wording.entry_sentences import listed_above
from crdcompat.render.wording.findings import (
    compared_line,
    crd_name,
    only_on_one_side,
    plural,
    skipped_lines,
    undecided_line,
)
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.texts import some

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.errors import Problem
    from crdcompat.findings.entries import Entry
    from crdcompat.models.check import CheckReport
    from crdcompat.models.check import Section as Comparison
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.release import Release
    from crdcompat.render.escape import Style

_MAX_UNDECIDED = 12
_MAX_NAMES = 6
#: Remarks with the same message that have a line each.
_MAX_ALIKE = 3


class Part(Struct, frozen=True):
    """A comparison to show: its entries, the directions that the short text shows, and the directions of the verdicts.

    ``said`` are the sentences on feature gates and on two-step growth: a check shows each in one of the comparisons
    that have it. ``above`` counts the findings that an earlier comparison lists, ``after`` are lines on others that are
    not listed. ``short``: see ``short_findings``.
    """

    section: Comparison
    title: str
    listed: Sequence[Entry]
    shown: Sequence[Direction]
    judged: Sequence[Direction]
    said: Sequence[str]
    above: int = 0
    after: Sequence[str] = ()
    short: bool = False
    report_file: str = ""


class Comparisons(Struct, frozen=True):
    """A report as its comparisons: ``listed`` are all its entries, ``ways`` the directions of each answer."""

    report: DiffReport | CheckReport
    listed: Sequence[Entry]
    parts: Sequence[Part]
    ways: Sequence[Sequence[Direction]]


def part_section(part: Part, number: int, found: Iterable[Block], style: Style) -> Section:
    """The comparison as a section; ``found`` are its findings and undecided differences."""
    report = part.section.report
    sides = Line(f"{_side(report.old)} -> {_side(report.new)}", tone="bold", depth=0)
    above = () if style.verbosity < 0 else (sides, Brief(tuple(_scope(part, style))))
    below = () if style.verbosity < 0 else (_footer(part, number, style),)
    name = "" if part.title else "Findings"
    blocks = (*above, *found, *unexplained(report, number), *below)
    return Section(part.title, blocks, anchor=f"part-{number}", name=name, role="part")


def undecided_section(report: DiffReport, style: Style) -> Section:
    """The undecided differences as text; of many the CRDs and keywords."""
    return Section("Undecided: differences that this version does not judge", tuple(_undecided(report, style)))


def _scope(part: Part, style: Style) -> Iterator[Block]:
    report = part.section.report
    yield Notes(tuple(dict.fromkeys((*report.old.notes, *report.new.notes))), depth=1)
    yield from (Line(line, fold=Fold.ALWAYS) for line in part.said)
    yield from _remarks(report.remarks, style)


def _remarks(remarks: Iterable[Problem], style: Style) -> Iterator[Line]:
    """A line for each remark; one for many remarks that say the same, or begin so: the reasons can be long.

    A place that both sides have is named once.
    """
    short = style.verbosity <= 0
    listed = list(dict.fromkeys((remark.message, f"{remark.file}:{remark.line}") for remark in remarks))
    begun = Counter(message.partition(": ")[0] for message in dict(listed))
    places: dict[str, list[str]] = {}
    for message, place in listed:
        begin = message.partition(": ")[0]
        is_long = short and begun[begin] > _MAX_ALIKE
        places.setdefault(f"{begin} (-v says why)" if is_long else message, []).append(place)
    for message, found in places.items():
        if len(found) > _MAX_ALIKE and short:
            yield Line(f"{message}: {some(found, _MAX_ALIKE)}", fold=Fold.ALWAYS)
        else:
            yield from (Line(f"{place}: {message}", fold=Fold.NEVER) for place in found)


def _side(release: Release) -> str:
    short = (release.commit or "")[:12]
    commit = f" ({short})" if short not in ("", release.full) else ""
    kubernetes = f", Kubernetes {release.kubernetes}" if release.kubernetes else ""
    return f"{release.full}{commit}{kubernetes}"


def _undecided(report: DiffReport, style: Style) -> Iterator[Line]:
    if len(report.undecided) <= _MAX_UNDECIDED or style.verbosity > 0:
        yield from (Line(undecided_line(each), fold=Fold.NEVER) for each in report.undecided)
        return
    by_crd: dict[str, list[str]] = {}
    for (crd, keyword), count in sorted(Counter((each.crd, each.keyword) for each in report.undecided).items()):
        by_crd.setdefault(crd, []).append(f"{keyword} ({count})" if count > 1 else keyword)
    yield from (Line(f"{crd}: {', '.join(keywords)}") for crd, keywords in by_crd.items())
    yield Line("(-v or --format json lists each with its path)", fold=Fold.NEVER)


def unexplained(report: DiffReport, number: int = 1) -> Iterator[Section]:
    """Rejections of recorded objects that no finding explains; each is a bug of crdcompat."""
    if report.unexplained:
        lines = tuple(Line(f"{item.object} in {item.source}: {item.error}") for item in report.unexplained)
        said = "Recorded objects are rejected in ways that no finding explains"
        blocks = (Listing(lines, _MAX_UNDECIDED), Notes(report.notes, depth=1))
        yield Section(said, blocks, tone="error", anchor=f"unexplained-{number}")


def _footer(part: Part, number: int, style: Style) -> Section:
    """What was compared: text has a line for what an HTML page folds."""
    report = part.section.report
    compared = Line(compared_line(report), depth=0, fold=Fold.ALWAYS)
    above = (Line(listed_above(part.above), depth=0, fold=Fold.NEVER),) if part.above else ()
    after = Brief(tuple(Line(line, depth=0, fold=Fold.NEVER) for line in part.after))
    blocks = (compared, Brief(tuple(_beside(report, style))), *above, after, *_folded(report))
    return Section("", blocks, anchor=f"scope-{number}", name="What was compared", role="scope")


def _beside(report: DiffReport, style: Style) -> Iterator[Line]:
    counts, is_all = report.counts, style.verbosity > 0
    said = {finding.crd for finding in report.findings if finding.change in WHOLE_CRD}
    for names, side in only_on_one_side(report):
        if unsaid := [name for name in names if name not in said]:
            yield Line(f"only in {side.title}: {some(unsaid, len(unsaid) if is_all else _MAX_NAMES)}", fold=Fold.ALWAYS)
    if is_all:
        yield from (Line(f"text only: {text}") for text in dict.fromkeys(counts.text_changes))
        yield from (Line(f"no effect: {line}") for line in _harmless(report))
        yield from map(Line, _superseded(report))
    yield from (Line(f"not compared: {line}") for line in report.not_compared)
    if counts.superseded and not is_all:
        ignored = f"{plural(len(counts.superseded), 'duplicate CRD document')} ignored (-v names them)"
        yield Line(ignored, fold=Fold.NEVER)
    one_sided = counts.only_old or counts.only_new or report.not_compared
    if counts.compared and not counts.changed and not one_sided and not (report.problems or report.findings):
        which = " that were compared" if counts.superseded else ""
        yield Line(f"The schemas{which} are the same.", depth=0, fold=Fold.NEVER)


def _harmless(report: DiffReport) -> Iterator[str]:
    for each in report.harmless:
        where = f"{crd_name(each.crd, each.version)} {each.path}".rstrip()
        yield f"{where}: {each.change} ({each.direction}): {each.reason}"


def _superseded(report: DiffReport) -> Iterator[str]:
    return (f"{crd}: {file} is ignored, {by} is used" for crd, file, by in report.counts.superseded)


def _folded(report: DiffReport) -> Iterator[Folded]:
    """What was compared, and what was not, in lists."""
    counts = report.counts
    yield Folded(f"Contexts compared: {len(counts.contexts)}", counts.contexts)
    for title, names in (
        (f"CRDs only in {report.old.title}", counts.only_old),
        (f"CRDs only in {report.new.title}", counts.only_new),
        (f"Contexts only in {report.old.title}, not compared", counts.contexts_only_old),
        (f"Contexts only in {report.new.title}, not compared", counts.contexts_only_new),
        ("CRDs not compared", report.not_compared),
    ):
        yield Folded(f"{title}: {len(names)}", names)
    yield Folded(f"Text-only changes: {len(counts.text_changes)}", tuple(dict.fromkeys(counts.text_changes)))
    yield Folded(f"Duplicate CRD documents ignored: {len(counts.superseded)}", tuple(_superseded(report)))
    yield Folded(f"Files skipped: {len(report.skipped)}", tuple(skipped_lines(report.skipped)))
    remarks = tuple(f"{each.file}:{each.line}: {each.message}" for each in report.remarks)
    yield Folded(f"Remarks: {len(remarks)}", remarks)
