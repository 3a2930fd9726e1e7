"""The lines of both sides around the places of a report's findings, for formats that show them.

Each file is read once. What is kept is bounded: lines of a finding, characters of a line, characters of a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from crdcompat.crds.reader import CrdSet
from crdcompat.errors import SourceError
from crdcompat.models.diff import DiffReport, UndecidedEntry
from crdcompat.models.finding import Excerpt, Finding, Location
from crdcompat.sources.encoding import to_utf8
from crdcompat.vocabulary import Severity, Side

#: Lines shown before and after what is marked, lines marked at most, and characters of a line.
_AROUND, _MAX_MARKED, _MAX_WIDE = 4, 12, 120
#: Lines on either side of a place that are compared to tell which of those shown have changed.
_REACH = 40
#: Characters of all excerpts of a report; findings come most severe first, so the least go without.
_MAX_CHARACTERS = 3_000_000
#: What ends a line for the YAML reader that the line numbers come from.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@dataclass(frozen=True, slots=True)
class _Window:
    """The lines around a place, ``start`` being the number of the first of them."""

    place: Location
    start: int
    lines: tuple[str, ...]

    @property
    def at(self) -> int:
        """The index of the place's own line."""
        return (self.place.line or 1) - self.start


def with_excerpts(report: DiffReport, old: CrdSet, new: CrdSet, *, brief: bool = False) -> DiffReport:
    """The report with the lines of both sides on what has a line: its findings, and what is undecided.

    ``brief``: findings that only lose or gain a value go without.
    """

    def wanted(entry: Finding | UndecidedEntry) -> bool:
        return not brief or isinstance(entry, UndecidedEntry) or entry.severity != Severity.INFO

    entries: tuple[Finding | UndecidedEntry, ...] = (*report.findings, *report.undecided)
    places = [place for entry in entries if wanted(entry) for place in _places(entry)]
    windows = {**_windows(old, places, Side.OLD), **_windows(new, places, Side.NEW)}

    @cache
    def shown(found: tuple[Location, ...], values: frozenset[str], lacking: str) -> tuple[Excerpt, ...]:
        return _excerpts([windows[place] for place in found if place in windows], values, lacking)

    room = _MAX_CHARACTERS

    def told(entry: Finding | UndecidedEntry) -> tuple[Excerpt, ...]:
        nonlocal room
        excerpts = shown(_places(entry), _texts(entry), _lacking(entry)) if room > 0 and wanted(entry) else ()
        room -= sum(len(line) for excerpt in excerpts for line in excerpt.lines)
        return excerpts

    return replace(
        report,
        findings=tuple(replace(finding, excerpts=told(finding)) for finding in report.findings),
        undecided=tuple(replace(entry, excerpts=told(entry)) for entry in report.undecided),
    )


def _places(entry: Finding | UndecidedEntry) -> tuple[Location, ...]:
    """The first place of each side in a manifest: the copies say the same."""
    known = [place for place in entry.locations if place.kind == "yaml" and place.line is not None]
    return tuple({place.side: place for place in reversed(known)}.values())[::-1]


def _texts(entry: Finding | UndecidedEntry) -> frozenset[str]:
    """The values that come or go, as they may stand in a list."""
    values: Sequence[Any] = (*entry.added, *entry.removed) if isinstance(entry, Finding) else ()
    return frozenset(value for value in values if isinstance(value, str))


def _lacking(entry: Finding | UndecidedEntry) -> str:
    return Side.OLD if entry.old is None else Side.NEW if entry.new is None else Side.ANY


def _windows(crds: CrdSet, places: Iterable[Location], side: Side) -> dict[Location, _Window]:
    by_file: dict[str, set[Location]] = {}
    for place in places:
        if place.side == side:
            by_file.setdefault(place.file, set()).add(place)
    found: dict[Location, _Window] = {}
    try:
        for file, data in crds.read(sorted(by_file)):
            lines = _BREAK.split(to_utf8(data).decode("utf-8", "replace").rstrip("\n"))
            for place in by_file[file]:
                start = max((place.line or 1) - _REACH, 1)
                inside = tuple(_cut(line, place.column or 1) for line in lines[start - 1 : start + 2 * _REACH])
                if start + len(inside) > (place.line or 1):
                    found[place] = _Window(place, start, inside)
    except (SourceError, UnicodeError):
        pass  # a file went away while we ran, or was no text after all: its places are named, not shown
    return found


def _cut(line: str, column: int) -> str:
    """The line, of a long one what stands about the column."""
    if len(line) <= _MAX_WIDE:
        return line
    start = 0 if column < _MAX_WIDE * 3 // 4 else column - 20
    return ("…" if start else "") + line[start : start + _MAX_WIDE] + ("…" if start + _MAX_WIDE < len(line) else "")


def _excerpts(windows: Sequence[_Window], values: frozenset[str], lacking: str) -> tuple[Excerpt, ...]:
    """The excerpts of one or both sides; ``lacking`` is the side on which the place is only where it would stand."""
    told = _differing(*windows) if len(windows) == 2 else None
    marked = told or [
        frozenset() if window.place.side == lacking else frozenset(_block(window, values)) for window in windows
    ]
    return tuple(_excerpt(window, marks) for window, marks in zip(windows, marked, strict=True))


def _excerpt(window: _Window, marked: frozenset[int]) -> Excerpt:
    """The lines around the place, and those marked that stand together with it."""
    low = high = window.at
    while low - 1 in marked and window.at - low < _MAX_MARKED // 2:
        low -= 1
    if _is_list(window):
        high = min(max(_items(window)), high + _MAX_MARKED)
    while high + 1 in marked and high - low < _MAX_MARKED:
        high += 1
    low, high = max(low - _AROUND, 0), min(high + _AROUND, len(window.lines) - 1)
    changed = frozenset(window.start + index for index in marked if low <= index <= high)
    place = window.place
    return Excerpt(place.side, place.file, place.line or 1, window.start + low, window.lines[low : high + 1], changed)


def _differing(old: _Window, new: _Window) -> list[frozenset[int]] | None:
    """The indices of lines that only one side has, indentation apart; None where the sides have little in common."""
    before, after = ([line.strip() for line in window.lines] for window in (old, new))
    same = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = ({i for block in same for i in range(block.a, block.a + block.size)},
            {i for block in same for i in range(block.b, block.b + block.size)})  # fmt: skip
    for window, known in zip((old, new), kept, strict=True):
        near = range(max(window.at - _AROUND, 0), min(window.at + _AROUND + 1, len(window.lines)))
        if sum(index in known for index in near) * 2 < len(near):
            return None
    return [frozenset(set(range(len(window.lines))) - known) for window, known in zip((old, new), kept, strict=True)]


def _block(window: _Window, values: frozenset[str]) -> Iterator[int]:
    """What stands at the place: of values that come or go those in its list, else the line and what is below it."""
    listed, line = _is_list(window), window.lines[window.at].strip()
    lines = [*(_items(window) if listed else _below(window))]
    known = len(lines) == 1 or line.partition(":")[0].strip("\"' ") in values
    for index in lines:
        text = window.lines[index].strip().removeprefix("- ").strip("\"' ")
        if not values or text in values or (known and not listed):
            yield index


def _is_list(window: _Window) -> bool:
    """Whether the place is an enum, or an item of a list of plain values."""
    line = window.lines[window.at].strip()
    return line == "enum:" or (line.startswith("- ") and ": " not in line)


def _items(window: _Window) -> Iterator[int]:
    """The lines of the list that the place is in, or the key of."""
    for index in range(window.at, len(window.lines)):
        if index > window.at and not window.lines[index].lstrip().startswith("- "):
            return
        yield index


def _below(window: _Window) -> Iterator[int]:
    """The place's line, and those indented below it."""
    yield window.at
    indent = _indent(window.lines[window.at])
    for index in range(window.at + 1, len(window.lines)):
        if window.lines[index].strip() and _indent(window.lines[index]) <= indent:
            return
        yield index


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
