"""The rules as a list, family by family, with the severity of each in both directions."""

from __future__ import annotations

from itertools import groupby, zip_longest
from operator import attrgetter
from typing import TYPE_CHECKING

from crdcompat.program import typed
from crdcompat.vocabulary import Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.findings.families import Levels, Member
    from crdcompat.render.escape import Style

#: Characters of a column of severities, with the star; and the gap between columns.
_LEVEL, _GAP = 8, "  "
_LEGEND = (
    "Each severity is the worst that the rule gives on its own; docs/rules.md#severity lists what changes it.",
    "*: in status; elsewhere a warning.",
)
_FAMILY = "{typed} rules FAMILY says what each rule of a family finds, e.g. {typed} rules enum."
_EXPLAIN = "{typed} explain RULE says why it matters and what to do."


def rule_lines(found: Sequence[Member], style: Style, *, brief: bool) -> Iterator[str]:
    """Each rule with its summary; ``brief``: one line for each rule, in two columns if the page is wide enough."""
    width = max(len(member.rule.id) for member in found)
    head = f"{'rule':<{width}}{_GAP}" + _GAP.join(f"{direction:<{_LEVEL}}" for direction in Direction)
    rows = [_row(member, first, width, style) for first, member in _with_first(found)]
    if brief:
        columns = 2 if 2 * len(head) + len(_GAP) <= style.page else 1
        height = -(-len(rows) // columns)
        parts = [rows[at : at + height] for at in range(0, len(rows), height)]
        yield style.paint(_GAP.join([head] * columns).rstrip(), "dim")
        yield from (_GAP.join(line).rstrip() for line in zip_longest(*parts, fillvalue=""))
    else:
        yield style.paint(head.rstrip() if style.width else f"{head}{_GAP}finds", "dim")
        for row, member in zip(rows, found, strict=True):
            summary = member.rule.summary
            yield from (row.rstrip(), style.wrap(summary)) if style.width else (f"{row}{_GAP}{summary}",)
    yield ""
    for line in (*_LEGEND, *((_FAMILY,) if brief else ()), _EXPLAIN):
        yield style.wrap(line.replace("{typed}", typed()), first="")


def _with_first(found: Sequence[Member]) -> Iterator[tuple[bool, Member]]:
    """Each rule, and whether it is the first of its family."""
    for _, family in groupby(found, attrgetter("family")):
        yield from ((not at, member) for at, member in enumerate(family))


def _row(member: Member, first: bool, width: int, style: Style) -> str:
    """The id, with the family in bold for the first rule of a family, then a severity for each direction."""
    name, rest = member.rule.id, " " * (width - len(member.rule.id))
    if first:
        name = style.paint(member.family, "bold") + name.removeprefix(member.family)
    return _GAP.join((name + rest, *(_level(member.levels.get(direction), style) for direction in Direction)))


def _level(levels: Levels | None, style: Style) -> str:
    if levels is None:
        return f"{'-':<{_LEVEL}}"
    star = "" if levels.status == levels.elsewhere else "*"
    return style.paint(f"{levels.status}{star}", levels.status) + " " * (_LEVEL - len(levels.status) - len(star))
