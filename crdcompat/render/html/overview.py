"""First screens: each verdict with its numbers, and the findings as marks that link to them, by CRD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.models.check import CheckReport, sections
from crdcompat.render.html.items import Item
from crdcompat.render.pages.blocks import Answer, Mark, MarkedRow, Number, marked_row
from crdcompat.render.wording.findings import plural, tally, undecided_line
from crdcompat.render.wording.verdict import shown_directions, verdicts
from crdcompat.vocabulary import Direction, FindingStatus, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding
    from crdcompat.render.html.findings import ComparedPart

#: A finding, and the item that contains it.
_Found = tuple["Finding", Item]
#: The effect of the findings of each severity on the move.
_MEANING = {
    Severity.ERROR: "block it",
    Severity.WARNING: "may block it",
    Severity.INFO: "lose or set values",
}


class Overview(Struct, frozen=True):
    """A verdict with its numbers and its CRDs, the worst first."""

    verdict: Answer
    directions: tuple[Direction, ...]
    numbers: tuple[Number, ...]
    rows: Rows
    others: str


def overviews(
    report: DiffReport | CheckReport, listed: Sequence[Entry], parts: Sequence[ComparedPart]
) -> tuple[Overview, ...]:
    """The overview of each verdict; a check has one, over both directions."""
    if not sections(report):
        return ()
    shown = _shown(report)
    moves = [shown] if isinstance(report, CheckReport) else [(each,) for each in shown]
    found = verdicts(report, listed)
    return tuple(_overview(verdict, move, listed, parts) for verdict, move in zip(found, moves, strict=True))


def other_counts(report: DiffReport | CheckReport, listed: Sequence[Entry]) -> str:
    """Counts that no verdict has: of other directions, and of undecided, waived, existing and unreleased findings."""
    shown = _shown(report)
    lines = [
        f"{direction}: {tally(counted)}"
        for direction in Direction
        if direction not in shown and any((counted := _counted(listed, (direction,))).values())
    ]
    open_ = {undecided_line(entry) for section in sections(report) for entry in section.report.undecided}
    status = Counter(
        "waived" if each.waiver is not None else each.status for entry in listed for each in entry.findings
    )
    apart = {
        "undecided": len(open_),
        "waived": status["waived"],
        "from before this change": status[FindingStatus.EXISTING],
        "unreleased": status[FindingStatus.UNRELEASED],
    }
    return "; ".join([*lines, *(f"{count} {name}" for name, count in apart.items() if count)])


def _shown(report: DiffReport | CheckReport) -> tuple[Direction, ...]:
    return tuple(Direction) if isinstance(report, CheckReport) else shown_directions(report)


def _overview(
    verdict: Answer, directions: Sequence[Direction], listed: Sequence[Entry], parts: Sequence[ComparedPart]
) -> Overview:
    counted = _counted(listed, directions)
    rows, quiet = _rows(_items(parts, directions))
    return Overview(
        verdict=arrow(verdict),
        directions=tuple(directions),
        numbers=tuple(Number(each, counted[each], _MEANING[each]) for each in Severity),
        rows=folded(rows),
        others=f"{plural(quiet, 'other CRD')}: only info" if quiet else "",
    )


def _counted(listed: Iterable[Entry], directions: Sequence[Direction]) -> Counter[Severity]:
    return Counter(
        finding.severity
        for entry in listed
        for finding in entry.findings
        if finding.counts and finding.direction in directions
    )


def _items(parts: Sequence[ComparedPart], directions: Sequence[Direction]) -> Iterator[Item]:
    shown = (each for part in parts for each in part.directions if each.direction in directions)
    return (item for each in shown for group in each.groups if group.counts for item in group.items)


def _rows(items: Iterable[Item]) -> tuple[tuple[MarkedRow, ...], int]:
    """The CRDs with errors and warnings, the worst first, and the number of CRDs with neither."""
    by_crd: dict[str, list[_Found]] = {}
    for item in items:
        for finding in item.entry.findings if item.entry is not None else ():
            by_crd.setdefault(finding.crd, []).append((finding, item))
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


def _path(item: Item) -> str:
    return (item.entry.finding.path if item.entry is not None else "") or "the CRD itself"


def _row(name: str, found: Sequence[_Found], counts: Counter[Severity]) -> MarkedRow:
    worst = sorted(found, key=lambda each: each[0].severity.rank)
    marks = [
        Mark(item.anchor, finding.severity, f"{finding.path or _path(item)}: {finding.rule}")
        for finding, item in worst
        if finding.severity != Severity.INFO
    ]
    parts = [
        f"{count} info" if severity == Severity.INFO else plural(count, severity)
        for severity in Severity
        if (count := counts[severity])
    ]
    return marked_row(name, marks, ", ".join(parts))


_MAX_ROWS = 8


class Rows(Struct, frozen=True):
    """Rows that are shown, and ``more`` that are folded away."""

    shown: tuple[MarkedRow, ...]
    more: tuple[MarkedRow, ...]


def folded(rows: Sequence[MarkedRow]) -> Rows:
    """The rows that fit on a first screen, and those that are folded away."""
    return Rows(tuple(rows[:_MAX_ROWS]), tuple(rows[_MAX_ROWS:]))


def arrow(verdict: Answer) -> Answer:
    """The verdict with ``→`` for ``->``, which terminals show."""
    return replace(verdict, question=verdict.question.replace(" -> ", " → "), reason=verdict.reason.strip())
