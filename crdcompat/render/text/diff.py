"""A diff report as lines of text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crdcompat.findings.entries import Entry, entries
from crdcompat.findings.rules import rule
from crdcompat.models.check import CheckReport
from crdcompat.render.text.blocks import block_lines, count_by_rule, fix_lines
from crdcompat.render.text.page import answer_lines, with_verdict
from crdcompat.render.wording.entries import counted, entry_lines, findings_of, more_places
from crdcompat.render.wording.findings import (
    compared_line,
    crd_name,
    direction_title,
    more_lines,
    only_on_one_side,
    plural,
    problem_line,
    promoted_lines,
    some,
    undecided_line,
)
from crdcompat.render.wording.growth import declared_lines
from crdcompat.render.wording.installers import installer_lines
from crdcompat.render.wording.verdict import counts_line, shown_directions, verdicts, with_allowed
from crdcompat.vocabulary import Direction, Effect, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.errors import Problem
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.models.report import Release
    from crdcompat.render.escape import Style

#: Changes of a CRD as a whole.
_WHOLE_CRD = ("crd.added", "crd.deleted", "crd.removed", "crd.renamed")
#: Effects in one line; advice on what has no effect yet is named by its rule.
_WHAT = {Effect.VALUE_PRUNED: "lost", Effect.VALUE_DEFAULTED: "set to its default", Effect.NONE: ""}
_MAX_UNDECIDED, _MAX_INFOS = 12, 12
_MAX_NAMES = 6
#: Remarks with the same message that have a line each.
_MAX_ALIKE = 3


def diff_text(report: DiffReport, style: Style) -> Iterator[str]:
    """All lines of the report: what was found, then the verdict; a long report begins with it, too.

    A quiet one has only errors and input that could not be read.
    """
    listed = entries(report)
    if style.verbosity < 0 and not (_has_error(listed) or report.problems or report.unexplained):
        return
    directions = report.directions if style.verbosity > 0 else shown_directions(report)
    shown = [entry for entry in listed if _is_shown(entry, report, style)]
    said = (*promoted_lines(report), *declared_lines(report))
    body = [*compared_text(report, style, shown, directions, said=said)]
    if style.verbosity == 0:
        body += fix_lines([entry for entry in listed if _is_worked_on(entry, report, style)], style)
    yield from with_verdict([*verdict_lines(report, listed, style)], body, style)


def verdict_lines(report: DiffReport | CheckReport, listed: Sequence[Entry], style: Style) -> Iterator[str]:
    """The verdicts with what blocks, then all counts in one line; on a terminal the option for the page, too."""
    for verdict in verdicts(report, listed):
        yield from answer_lines(with_allowed(verdict, style), style)
    counts = f"{counted(report)}." if isinstance(report, CheckReport) else counts_line(report)
    yield from (style.fill(line, indent="  ", first="") for line in installer_lines(report))
    page = " Page: --format html=FILE." if style.width and not isinstance(report, CheckReport) else ""
    yield style.fill(f"{counts}{page}", indent="  ", first="")


def compared_text(
    report: DiffReport,
    style: Style,
    listed: Sequence[Entry],
    directions: Sequence[Direction],
    *,
    said: Iterable[str],
    short: bool = False,
) -> Iterator[str]:
    """The lines on one comparison in some directions, without a verdict.

    ``listed`` are the entries to show, ``said`` the sentences on feature gates and on two-step growth: a check shows
    each in one of the comparisons that have it. ``short``: see ``block_lines``.
    """
    quiet = style.verbosity < 0
    if not quiet:
        yield style.title(f"{_side(report.old)} -> {_side(report.new)}")
        for note in dict.fromkeys((*report.old.notes, *report.new.notes)):
            yield style.wrap(f"note: {note}", indent="    ", first="  ")
        for line in said:
            yield style.fill(line, indent="    ", first="  ")
    for problem in report.problems:
        yield problem_line(problem, style)
    if not quiet:
        yield from _remark_lines(report.remarks, style)
    for direction in directions:
        found = [entry for entry in listed if entry.finding.direction == direction]
        yield from _direction(found, direction_title(report, direction), style, report.counts.contexts, short=short)
    yield from _undecided(report, style)
    yield from unexplained_lines(report, style)
    if not quiet:
        yield ""
        yield from _footer(report, style)


def _remark_lines(remarks: Iterable[Problem], style: Style) -> Iterator[str]:
    """A line for each remark; one for many remarks that say the same, or begin so: the reasons can be long."""
    short = style.verbosity <= 0
    listed = [(remark.message, f"{remark.file}:{remark.line}") for remark in remarks]
    begun = Counter(message.partition(": ")[0] for message in dict(listed))
    places: dict[str, list[str]] = {}
    for message, place in listed:
        begin = message.partition(": ")[0]
        is_long = short and begun[begin] > _MAX_ALIKE
        places.setdefault(f"{begin} (-v says why)" if is_long else message, []).append(place)
    for message, found in places.items():
        if len(found) > _MAX_ALIKE and short:
            yield style.fill(f"{message}: {some(found, _MAX_ALIKE)}", indent="    ", first="  ")
        else:
            yield from (f"  {place}: {message}" for place in found)


def _is_shown(entry: Entry, report: DiffReport, style: Style) -> bool:
    """Whether the short text shows an entry: of a second direction, which fails the run, it shows what fails it."""
    return style.verbosity > 0 or entry.finding.direction == report.directions[0] or _is_error(entry)


def _is_worked_on(entry: Entry, report: DiffReport, style: Style) -> bool:
    """Whether somebody has to do something about the entry."""
    finding = entry.finding
    return finding.counts and finding.severity != Severity.INFO and _is_shown(entry, report, style)


def _has_error(listed: Sequence[Entry]) -> bool:
    return any(map(_is_error, listed))


def _is_error(entry: Entry) -> bool:
    return entry.finding.counts and entry.finding.severity == Severity.ERROR


def _side(release: Release) -> str:
    short = (release.commit or "")[:12]
    commit = f" ({short})" if short not in ("", release.full) else ""
    kubernetes = f", Kubernetes {release.kubernetes}" if release.kubernetes else ""
    return f"{release.full}{commit}{kubernetes}"


def _direction(found: Sequence[Entry], title: str, style: Style, known: Sequence[str], *, short: bool) -> Iterator[str]:
    shown = [each for each in found if each.finding.counts or (each.finding.waiver is None and style.existing)]
    if style.verbosity < 0:
        shown = [entry for entry in shown if entry.finding.severity == Severity.ERROR]
    if not shown:
        return
    yield ""
    yield style.title(title)
    if style.verbosity > 0:
        for entry in shown:
            yield ""
            yield from entry_lines(entry, style, known)
        return
    severe = [entry for entry in shown if entry.finding.severity != Severity.INFO]
    yield from block_lines(severe, style, short=short)
    if infos := [entry for entry in shown if entry.finding.severity == Severity.INFO]:
        yield ""
        yield from info_lines(infos, style, findings_of(shown, Severity.INFO))


def info_lines(
    listed: Sequence[Entry], style: Style, found: Sequence[Finding] = (), most: int = _MAX_INFOS
) -> Iterator[str]:
    """A line for each info; if there are more than ``most``, one line that counts the findings.

    ``found`` are those to count, if entries that are more severe hold some of them.
    """
    lines = [*_short_list(listed, style)]
    if len(lines) <= most:
        yield from lines
    else:
        found = found or findings_of(listed, Severity.INFO)
        yield style.fill(f"{len(found)} info: {count_by_rule(found)} (-v lists them)", indent="  ", first="")


def _short_list(found: Sequence[Entry], style: Style) -> Iterator[str]:
    """Findings of severity info, one line each, under their CRD; those on whole CRDs share a line for each rule."""
    whole: dict[str, list[str]] = {}
    for entry in found:
        if entry.finding.change in _WHOLE_CRD:
            whole.setdefault(entry.finding.rule, []).append(entry.finding.crd)
    for name, crds in whole.items():
        what = f"{rule(name).title}: {_names(crds, style)} [{name}]"
        yield f"{style.paint('info', 'info')} {style.wrap(what, indent='    ', first='')}"
    crd = ""
    listed = (entry for entry in found if entry.finding.change not in _WHOLE_CRD)
    for entry in sorted(listed, key=lambda item: (item.finding.crd, item.finding.version, item.finding.path)):
        finding = entry.finding
        name = f"{finding.crd}/{finding.version}".rstrip("/")
        if name != crd:
            crd = name
            yield f"{style.paint('info', 'info')} {name}"
        what = _WHAT.get(finding.effect, finding.effect) or _lowered(rule(finding.rule).title)
        yield f"  {finding.path or 'the CRD'}: {what} [{finding.rule}]{more_places(entry)}"


def _lowered(title: str) -> str:
    """A title inside a sentence; a word of capitals, such as CEL, keeps them."""
    return title if title[:2].isupper() else title[:1].lower() + title[1:]


def _undecided(report: DiffReport, style: Style) -> Iterator[str]:
    entries = report.undecided
    if not entries or style.verbosity < 0:
        return
    yield ""
    yield style.paint("Undecided: differences that this version does not judge", "bold")
    if len(entries) > _MAX_UNDECIDED and style.verbosity <= 0:
        counted = Counter((entry.crd, entry.keyword) for entry in entries)
        by_crd: dict[str, list[str]] = {}
        for (crd, keyword), count in sorted(counted.items()):
            by_crd.setdefault(crd, []).append(f"{keyword} ({count})" if count > 1 else keyword)
        for crd, keywords in by_crd.items():
            yield style.wrap(f"{crd}: {', '.join(keywords)}", indent="    ", first="  ")
        yield "  (-v or --format json lists each with its path)"
        return
    for entry in entries:
        yield f"  {undecided_line(entry)}"


def unexplained_lines(report: DiffReport, style: Style) -> Iterator[str]:
    """Rejections of recorded objects that no finding explains; each is a bug of crdcompat."""
    if not report.unexplained:
        return
    yield ""
    yield style.paint("Recorded objects are rejected in ways that no finding explains", "error")
    shown = report.unexplained if style.verbosity > 0 else report.unexplained[:_MAX_UNDECIDED]
    for item in shown:
        yield style.wrap(f"{item.object} in {item.source}: {item.error}", indent="    ", first="  ")
    yield from more_lines(len(report.unexplained) - len(shown))
    for note in report.notes:
        yield style.wrap(f"note: {note}", indent="    ", first="  ")


def _footer(report: DiffReport, style: Style) -> Iterator[str]:
    counts = report.counts
    yield style.fill(compared_line(report), indent="  ", first="")
    said = {finding.crd for finding in report.findings if finding.change in _WHOLE_CRD}
    for names, side in only_on_one_side(report):
        if unsaid := [name for name in names if name not in said]:
            yield style.fill(f"only in {side.title}: {_names(unsaid, style)}", indent="    ", first="  ")
    for text in dict.fromkeys(counts.text_changes) if style.verbosity > 0 else ():
        yield style.wrap(f"text only: {text}", indent="    ", first="  ")
    for each in report.harmless if style.verbosity > 0 else ():
        where = f"{crd_name(each.crd, each.version)} {each.path}".rstrip()
        line = f"no effect: {where}: {each.change} ({each.direction}): {each.reason}"
        yield style.wrap(line, indent="    ", first="  ")
    for crd, file, by in counts.superseded if style.verbosity > 0 else ():
        yield style.wrap(f"{crd}: {file} is ignored, {by} is used", indent="    ", first="  ")
    for line in report.not_compared:
        yield style.wrap(f"not compared: {line}", indent="    ", first="  ")
    if counts.superseded and style.verbosity == 0:
        yield f"  {plural(len(counts.superseded), 'duplicate CRD document')} ignored (-v names them)"
    one_sided = counts.only_old or counts.only_new or report.not_compared
    if counts.compared and not counts.changed and not one_sided and not (report.problems or report.findings):
        yield f"The schemas{' that were compared' if counts.superseded else ''} are the same."


def _names(names: Sequence[str], style: Style) -> str:
    return some(names, len(names) if style.verbosity > 0 else _MAX_NAMES)
