"""The comparisons of a report below its verdicts: in few lines, or with all details."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.render.pages.blocks import Section
from crdcompat.render.pages.part import Comparisons, Part, part_section, undecided_section
from crdcompat.render.pages.short import short_findings
from crdcompat.render.wording.findings import direction_title
from crdcompat.vocabulary import Direction, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.render.escape import Style
    from crdcompat.render.pages.page import Page


def with_parts(page: Page, whole: Comparisons, style: Style) -> Page:
    """The page of the verdicts with the comparisons below its body; with ``-v`` it has all that any form shows."""
    if style.verbosity > 0:
        from crdcompat.render.pages.comparison_details import with_details

        return with_details(page, whole, style)
    made = (part_section(part, number, _short_blocks(part, style), style) for number, part in enumerate(whole.parts, 1))
    return replace(page, body=(*page.body, *made), problems=whole.report.problems)


def _short_blocks(part: Part, style: Style) -> Iterator[Section]:
    """What was found in few lines, and what was not judged."""
    for direction in part.shown:
        yield from _short(part, direction, style)
    if part.section.report.undecided and style.verbosity >= 0:
        yield undecided_section(part.section.report, style)


def _short(part: Part, direction: Direction, style: Style) -> Iterator[Section]:
    """The entries of a direction as short lines, of a quiet text the errors."""
    found = [each for each in part.listed if each.finding.direction == direction]
    shown = [each for each in found if each.finding.counts or (each.finding.waiver is None and style.existing)]
    if style.verbosity < 0:
        shown = [each for each in shown if each.finding.severity == Severity.ERROR]
    if shown:
        blocks = tuple(short_findings(shown, style, short=part.short))
        yield Section(direction_title(part.section.report, direction), blocks)
