"""Dates, times and durations as kube-openapi parses them."""

from __future__ import annotations

import string

from crdcompat.apiserver.ascii_sets import DIGITS

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_SPACE = frozenset("\t\n\f\r ")
_UNIT_LETTERS = frozenset(string.ascii_letters + "\u00b5")

#: Go's units in nanoseconds, with both the micro sign and the Greek letter mu.
GO_UNITS = {
    "ns": 1,
    "us": 10**3,
    "\u00b5s": 10**3,
    "\u03bcs": 10**3,
    "ms": 10**6,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
}
#: Scala's units. Short ones match exactly, long ones as prefixes: "secretly" counts as seconds.
_SCALA_UNITS = frozenset({"ns", "us", "\u00b5s", "ms", "s", "m", "h", "hr", "d", "w", "wk"})
_SCALA_PREFIXES = ("nano", "micro", "milli", "sec", "min", "hour", "day", "week")
_LIMIT = 1 << 63
_WRAP = 1 << 64


def is_date(text: str) -> bool:
    """``2006-01-02``: an existing day, from the year 0."""
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        return False
    year, month, day = text[:4], text[5:7], text[8:]
    if not DIGITS.issuperset(year + month + day) or not 1 <= int(month) <= 12:
        return False
    return 1 <= int(day) <= days_in(int(year), int(month))


def days_in(year: int, month: int) -> int:
    """The days of a month of the Gregorian calendar."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _DAYS[month - 1]


def is_date_time(text: str) -> bool:
    """A date, ``T``, and a time with an offset. kube-openapi ignores everything after a second ``T``."""
    date, *rest = text.replace("T", "t").split("t", 2)
    return bool(rest) and is_date(date) and _is_time(rest[0])


def _is_time(text: str) -> bool:
    if text.endswith(("z", "Z")):
        body = text[:-1]
    else:
        body, offset = text[:-6], text[-6:]
        if len(offset) != 6 or offset[0] not in "+-" or offset[3] != ":":
            return False
        if not DIGITS.issuperset(offset[1:3] + offset[4:]):
            return False
    clock, fraction = body[:8], body[8:]
    if len(clock) != 8 or clock[2] != ":" or clock[5] != ":":
        return False
    hour, minute, second = clock[:2], clock[3:5], clock[6:]
    if not DIGITS.issuperset(hour + minute + second) or hour > "23" or minute > "59" or second > "59":
        return False
    # The fraction's separator may be any character but a line feed.
    return not fraction or (len(fraction) > 1 and fraction[0] != "\n" and DIGITS.issuperset(fraction[1:]))


def is_duration(text: str) -> bool:
    """Go's ``time.ParseDuration``, or a number with a unit anywhere in the text (``xx 5 days yy``)."""
    return _is_go_duration(text) or _has_scala_duration(text)


def _is_go_duration(text: str) -> bool:
    rest = text[1:] if text[:1] in ("+", "-") else text
    if rest == "0":
        return True
    total, at = 0, 0
    while at < len(rest):
        whole_end = _run(rest, at, DIGITS)
        end = whole_end
        if rest[end : end + 1] == ".":
            end = _run(rest, end + 1, DIGITS)
            if end == whole_end + 1 and whole_end == at:
                return False
        elif end == at:
            return False
        unit_end = end
        while unit_end < len(rest) and rest[unit_end] != "." and rest[unit_end] not in DIGITS:
            unit_end += 1
        unit = GO_UNITS.get(rest[end:unit_end])
        whole = _int(rest[at:whole_end])
        if unit is None or whole * unit > _LIMIT:
            return False
        total = (total + whole * unit + int(_fraction(rest[whole_end + 1 : end]) * unit)) % _WRAP  # a uint64
        if total > _LIMIT:
            return False
        at = unit_end
    return at > 0 and (total < _LIMIT or text[0] == "-")


def _fraction(digits: str) -> float:
    return int(digits[:18]) / 10 ** len(digits[:18]) if digits else 0.0


def _has_scala_duration(text: str) -> bool:
    found, at = False, 0
    while at < len(text):
        if text[at] not in DIGITS:
            at += 1
            continue
        end = _run(text, at, DIGITS)
        unit_start = _run(text, end, _SPACE)
        unit_end = _run(text, unit_start, _UNIT_LETTERS)
        if unit_end > unit_start:
            if _int(text[at:end]) >= _LIMIT:
                return False
            unit = text[unit_start:unit_end].lower()
            found = found or unit in _SCALA_UNITS or unit.startswith(_SCALA_PREFIXES)
        at = max(unit_end, end)
    return found


def _run(text: str, at: int, chars: frozenset[str]) -> int:
    """The end of the run of ``chars`` that starts at ``at``."""
    while at < len(text) and text[at] in chars:
        at += 1
    return at


def _int(digits: str) -> int:
    """The number, or a number above every limit for more than 19 digits."""
    significant = digits.lstrip("0")
    return int(significant or "0") if len(significant) < 20 else _LIMIT * 2
