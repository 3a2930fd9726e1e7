"""A diff as a page: the verdicts, what was found in each direction, and the first fixes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.findings.entries import Entry, entries
from crdcompat.models.check import sections
from crdcompat.render.pages.blocks import Fold, Line
from crdcompat.render.pages.comparisons import with_parts
from crdcompat.render.pages.page import Page
from crdcompat.render.pages.part import Comparisons, Part
from crdcompat.render.pages.short import fix_lines
from crdcompat.render.wording.findings import promoted_lines
from crdcompat.render.wording.growth import declared_lines
from crdcompat.render.wording.installers import installer_lines
from crdcompat.render.wording.verdict import counts_line, shown_directions, verdicts, with_allowed
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.models.diff import DiffReport
    from crdcompat.render.escape import Style

#: The JSON report from which ``crdcompat waive`` takes the findings of a diff.
_REPORT_FILE = "report.json"


def page(report: DiffReport, style: Style) -> Page:
    """The page; a quiet one has only errors and input that could not be read."""
    listed = entries(report)
    if style.verbosity < 0 and not (any(map(_is_error, listed)) or report.problems or report.unexplained):
        return Page("diff", (), ())
    judged = shown_directions(report)
    (section,) = sections(report)
    part = Part(
        section,
        title="",
        listed=[entry for entry in listed if style.verbosity > 0 or _is_shown(entry, report)],
        shown=judged,
        judged=judged,
        said=(*promoted_lines(report), *declared_lines(report)),
        report_file=_REPORT_FILE,
    )
    whole = Comparisons(report, listed, [part], [(each,) for each in judged])
    made = with_parts(verdict(report, listed, style), whole, style)
    fixes = fix_lines(entry for entry in listed if _is_worked_on(entry, report)) if style.verbosity == 0 else ()
    return replace(made, body=(*made.body, *fixes))


def verdict(report: DiffReport, listed: Sequence[Entry], style: Style) -> Page:
    """The verdicts alone, with what blocks, then all counts in one line; on a terminal the option for a page, too."""
    option = " Page: --format html=FILE." if style.width else ""
    lines = (*installer_lines(report), f"{counts_line(report)}{option}")
    return Page(
        command="diff",
        answers=tuple(with_allowed(each, style) for each in verdicts(report, listed)),
        body=(),
        head=tuple(Line(line, depth=0, fold=Fold.ALWAYS) for line in lines),
        is_last=True,
        name=f"{report.old.title} -> {report.new.title}",
        sides=(("OLD", report.old), ("NEW", report.new)),
    )


def _is_shown(entry: Entry, report: DiffReport) -> bool:
    """Whether the short text shows an entry: of a second direction, which fails the run, it shows what fails it."""
    return entry.finding.direction == report.directions[0] or _is_error(entry)


def _is_worked_on(entry: Entry, report: DiffReport) -> bool:
    """Whether somebody has to do something about the entry."""
    finding = entry.finding
    return finding.counts and finding.severity != Severity.INFO and _is_shown(entry, report)


def _is_error(entry: Entry) -> bool:
    return entry.finding.counts and entry.finding.severity == Severity.ERROR
