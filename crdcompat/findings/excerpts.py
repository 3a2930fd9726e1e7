"""Excerpts of both sides around the places of a report's findings, for formats that show them.

Each file is read once. Limits bound the lines of a finding and the characters of a line and of a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.reader import CrdSet
from crdcompat.errors import SourceError
from crdcompat.findings.contrast import shared_start
from crdcompat.models.diff import DiffReport, UndecidedEntry
from crdcompat.models.finding import Excerpt, Finding, Location
from crdcompat.sources.encoding import to_utf8
from crdcompat.vocabulary import Severity, Side

#: Lines of context around the marked lines, most marked lines, and characters of a line.
_AROUND, _MAX_MARKED, _MAX_WIDE = 4, 12, 120
#: Lines on either side of a place that are compared with the other side to find changed lines.
_COMPARED_LINES = 40
#: Characters of all excerpts of a report; findings are sorted, so that the least severe have none.
_MAX_CHARACTERS = 3_000_000
#: The value of a side without the field, or without the endpoint.
_NOTHING = (None, False)
#: The keys of lists of which only some items may differ.
_LIST_KEYS = ("x-kubernetes-validations:", "required:")
#: Characters that two lines share from their start on, if one is the other one, changed.
_MIN_SHARED = 30
#: The key of a value, with the dash of an item of a list.
_KEY = re.compile(r"\s*(?:- )?[\w-]+: ")
#: Line ends as the YAML reader counts them.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


class _Window(Struct, frozen=True):
    """The lines around a place, ``start`` being the number of the first of them."""

    place: Location
    start: int
    lines: tuple[str, ...]

    @property
    def at(self) -> int:
        """The index of the place's own line."""
        return (self.place.line or 1) - self.start


def with_excerpts(report: DiffReport, old: CrdSet, new: CrdSet, least: Severity) -> DiffReport:
    """The report with excerpts on its findings and undecided differences that have a line.

    Findings below the severity ``least`` have none.
    """

    def wanted(entry: Finding | UndecidedEntry) -> bool:
        return isinstance(entry, UndecidedEntry) or entry.severity.at_least(least)

    entries: tuple[Finding | UndecidedEntry, ...] = (*report.findings, *report.undecided)
    places = [place for entry in entries if wanted(entry) for place in _places(entry)]
    windows = {**_windows(old, places, Side.OLD), **_windows(new, places, Side.NEW)}

    @cache
    def shown(found: tuple[Location, ...], values: frozenset[str], lacking: str) -> tuple[Excerpt, ...]:
        return _excerpts([windows[place] for place in found if place in windows], values, lacking)

    room = _MAX_CHARACTERS

    def excerpts_of(entry: Finding | UndecidedEntry) -> tuple[Excerpt, ...]:
        nonlocal room
        excerpts = shown(_places(entry), _texts(entry), _lacking(entry)) if room > 0 and wanted(entry) else ()
        room -= sum(len(line) for excerpt in excerpts for line in excerpt.lines)
        return excerpts

    return replace(
        report,
        findings=tuple(replace(finding, excerpts=excerpts_of(finding)) for finding in report.findings),
        undecided=tuple(replace(entry, excerpts=excerpts_of(entry)) for entry in report.undecided),
    )


def _places(entry: Finding | UndecidedEntry) -> tuple[Location, ...]:
    """The first place of each side in a manifest; copies have the same text."""
    known = [place for place in entry.locations if place.kind == "yaml" and place.line is not None]
    return tuple({place.side: place for place in reversed(known)}.values())[::-1]


def _texts(entry: Finding | UndecidedEntry) -> frozenset[str]:
    """The added and removed values that are strings."""
    values: Sequence[Any] = (*entry.added, *entry.removed) if isinstance(entry, Finding) else ()
    return frozenset(value for value in values if isinstance(value, str))


def _lacking(entry: Finding | UndecidedEntry) -> str:
    return Side.OLD if entry.old in _NOTHING else Side.NEW if entry.new in _NOTHING else Side.ANY


def _windows(crds: CrdSet, places: Iterable[Location], side: Side) -> dict[Location, _Window]:
    by_file: dict[str, set[Location]] = {}
    for place in places:
        if place.side == side:
            by_file.setdefault(place.file, set()).add(place)
    found: dict[Location, _Window] = {}
    try:
        for file, data in crds.read(sorted(by_file)):
            lines = _lines(to_utf8(data).decode("utf-8", "replace").rstrip("\n"))
            for place in by_file[file]:
                start = max((place.line or 1) - _COMPARED_LINES, 1)
                inside = tuple(lines[start - 1 : start + 2 * _COMPARED_LINES])
                if start + len(inside) > (place.line or 1):
                    found[place] = _Window(place, start, inside)
    except (SourceError, UnicodeError):
        pass  # a file was deleted meanwhile or is not text: its places have no excerpt
    return found


def _lines(text: str) -> list[str]:
    # Most files have one kind of line end: to split at it takes a twentieth of the time.
    return text.split("\n") if text.isascii() and "\r" not in text else _BREAK.split(text)


def _cut(line: str, column: int, others: Sequence[str] = ()) -> str:
    """The line; a long line is cut around the column, or around where it parts from the most similar of ``others``."""
    if len(line) <= _MAX_WIDE:
        return line
    shared = max((shared_start(line.lstrip(), other.lstrip()) for other in others), default=0)
    if shared > _MIN_SHARED:
        column = _indent(line) + shared
    start = 0 if column < _MAX_WIDE * 3 // 4 else column - 20
    key = found[0] if shared > _MIN_SHARED and (found := _KEY.match(line)) else ""
    shown = line[start : start + _MAX_WIDE - len(key)]
    return (f"{key}…" if start else "") + shown + ("…" if start + len(shown) < len(line) else "")


def _excerpts(windows: Sequence[_Window], values: frozenset[str], lacking: str) -> tuple[Excerpt, ...]:
    """The excerpts of one or both sides; ``lacking`` is the side without the value, whose place is its parent."""
    differing = _differing(*windows) if len(windows) == 2 else None
    marked = differing or [
        frozenset() if window.place.side == lacking else _block(window, values) for window in windows
    ]
    listed = [_listed(window) for window in windows]
    for index, window in enumerate(windows):
        if _is_versions(window):
            marked[index] = frozenset()  # what differs below are the lines of the other versions
        elif lacking not in (window.place.side, Side.ANY) and window.at not in marked[index] and not listed[index]:
            marked[index] = _block(window, values)  # an equal line elsewhere is not the other side's line
    for index, mine in enumerate(listed):
        # Lines of another list of the window are not lines of this list, however equal.
        others = {text for other in listed[:index] + listed[index + 1 :] for text in other.values()}
        marked[index] |= {at for at, text in mine.items() if text not in others}
    changed = [[window.lines[at] for at in marks] for window, marks in zip(windows, marked, strict=True)]
    return tuple(
        _excerpt(window, marks, [line for other in changed[:index] + changed[index + 1 :] for line in other])
        for index, (window, marks) in enumerate(zip(windows, marked, strict=True))
    )


def _excerpt(window: _Window, marked: frozenset[int], others: Sequence[str]) -> Excerpt:
    """The lines around the place, with the marked lines next to it; of a block around its first marked line.

    A rule is an item of a list: the list has the place.
    """
    low = high = window.at
    is_key_alone = low + 1 not in marked and any(index in marked for index in _listed(window))
    if (low not in marked or is_key_alone) and not _is_list(window):
        marked -= {low}
        low = high = next((index for index in _below(window) if index in marked), window.at)
    while low - 1 in marked and window.at - low < _MAX_MARKED // 2:
        low -= 1
    if _is_list(window):
        high = min(max(_items(window)), high + _MAX_MARKED)
    while high + 1 in marked and high - low < _MAX_MARKED:
        high += 1
    low, high = max(low - _AROUND, 0), min(high + _AROUND, len(window.lines) - 1)
    changed = frozenset(window.start + index for index in marked if low <= index <= high)
    place = window.place
    lines = tuple(
        _cut(window.lines[index], place.column or 1, others if index in marked else ())
        for index in range(low, high + 1)
    )
    return Excerpt(place.side, place.file, place.line or 1, window.start + low, lines, changed)


def _differing(old: _Window, new: _Window) -> list[frozenset[int]] | None:
    """The indices of lines that only one side has, ignoring indentation; None if the sides have little in common."""
    before, after = ([line.strip() for line in window.lines] for window in (old, new))
    same = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    kept = ({i for block in same for i in range(block.a, block.a + block.size)},
            {i for block in same for i in range(block.b, block.b + block.size)})  # fmt: skip
    for window, known in zip((old, new), kept, strict=True):
        near = range(max(window.at - _AROUND, 0), min(window.at + _AROUND + 1, len(window.lines)))
        if sum(index in known for index in near) * 2 < len(near):
            return None
    return [frozenset(set(range(len(window.lines))) - known) for window, known in zip((old, new), kept, strict=True)]


def _block(window: _Window, values: frozenset[str]) -> frozenset[int]:
    """The lines to mark at the place: the changed values of its list, else the line and its children."""
    listed, line = _is_list(window), window.lines[window.at].strip()
    lines = [*(_items(window) if listed else _below(window))]
    if not values or (not listed and (len(lines) == 1 or _bare(line.partition(":")[0]) in values)):
        return frozenset(lines)
    changed = frozenset(index for index in lines if _bare(window.lines[index]) in values)
    return changed or frozenset(() if listed else lines)  # a text of several lines is on none of them


def _bare(text: str) -> str:
    return text.strip().removeprefix("- ").strip("\"' ")


def _listed(window: _Window) -> dict[int, str]:
    """The lines of the rules or required names whose key is the place, by index; nothing at other places."""
    if window.lines[window.at].strip() not in _LIST_KEYS:
        return {}
    indent = _indent(window.lines[window.at])
    found: dict[int, str] = {}
    for index in range(window.at + 1, len(window.lines)):
        line = window.lines[index]
        # A list may stand at the column of its key.
        is_item = line.lstrip().startswith("- ")
        if line.strip() and _indent(line) < indent + (not is_item):
            break
        found[index] = line.strip()
    return found


def _is_versions(window: _Window) -> bool:
    """Whether the place is the list of versions, because the side lacks one."""
    return window.lines[window.at].strip() == "versions:"


def _is_list(window: _Window) -> bool:
    """Whether the place is an enum, or an item of a list of plain values."""
    line = window.lines[window.at].strip()
    return line == "enum:" or (line.startswith("- ") and ": " not in line)


def _items(window: _Window) -> Iterator[int]:
    """The lines of the list that contains the place, or whose key is the place."""
    for index in range(window.at, len(window.lines)):
        if index > window.at and not window.lines[index].lstrip().startswith("- "):
            return
        yield index


def _below(window: _Window) -> Iterator[int]:
    """The place's line, and the lines indented below it."""
    yield window.at
    indent = _indent(window.lines[window.at])
    for index in range(window.at + 1, len(window.lines)):
        if window.lines[index].strip() and _indent(window.lines[index]) <= indent:
            return
        yield index


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
