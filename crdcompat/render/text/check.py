"""A check as lines of text: the change itself, then the head against each rollback target."""

from __future__ import annotations

from collections import Counter
from itertools import dropwhile
from operator import not_
from typing import TYPE_CHECKING

from crdcompat.findings.entries import Entry, entries
from crdcompat.models.check import CheckReport, Section
from crdcompat.render.text.diff import compared_text, has_quiet_output
from crdcompat.render.wording.check import UNRELEASED_REASON, next_steps, section_title
from crdcompat.render.wording.entries import listed_above
from crdcompat.render.wording.findings import plural
from crdcompat.render.wording.verdict import verdict_lines, with_verdict
from crdcompat.vocabulary import Against, FindingStatus, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.render.escape import Style


def check_text(report: CheckReport, style: Style) -> Iterator[str]:
    """All lines of the report, then the verdict; a long report begins with it, too.

    A quiet one, for hooks, omits sections without errors or problems, and begins with the first error.
    """
    listed = entries(report)
    body = [*_body(report, listed, style)]
    if style.verbosity < 0:
        body = [*dropwhile(not_, body)]
    if not report.sections or (style.verbosity < 0 and not report.by_severity()[Severity.ERROR]):
        yield from body
        return
    steps = (style.fill(line, indent="    ", first="") for line in next_steps(listed))
    verdict = [*verdict_lines(report, listed, style), *steps]
    yield from with_verdict(body, verdict, style)


def _body(report: CheckReport, listed: Sequence[Entry], style: Style) -> Iterator[str]:
    for note in report.notes if style.verbosity >= 0 else ():
        yield f"note: {note}"
    for waiver in report.waivers:
        yield style.paint(waiver, "warning")
    for section in report.sections:
        own = [entry for entry in listed if entry.stands_in(section)]
        if style.verbosity >= 0 or has_quiet_output(section.report, own):
            above = sum(e.finding.counts and e.is_met_in(section) and not e.stands_in(section) for e in listed)
            yield from _section(section, own, above, style)


def _section(section: Section, own: Sequence[Entry], above: int, style: Style) -> Iterator[str]:
    report = section.report
    counted = Counter(finding.status for finding in report.findings if finding.waiver is None)
    existing, unreleased = counted[FindingStatus.EXISTING], counted[FindingStatus.UNRELEASED]
    if style.verbosity >= 0 or section.against == Against.TARGET:
        yield ""
        yield style.paint(section_title(section), "bold")
    yield from compared_text(report, style, own, report.directions, short=True)
    if above and style.verbosity >= 0:
        yield listed_above(above)
    if existing and style.verbosity >= 0:
        yield f"{plural(existing, 'finding')} stood there before this change (--all lists them)."
    if unreleased and style.verbosity >= 0:
        yield f"{plural(unreleased, 'finding')} unreleased: {UNRELEASED_REASON} (--all lists them)."
