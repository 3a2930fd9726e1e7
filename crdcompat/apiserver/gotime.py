"""The errors of Go's ``time.Parse``, for the layouts that the API server uses. Source: Go's time/format.go."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from crdcompat.apiserver.formats.times import days_in

RFC_3339: Final = "2006-01-02T15:04:05Z07:00"

_ELEMENTS: Final = re.compile("(2006|01|02|15|04|05|Z07:00)")
_FRACTION: Final = re.compile(rb"[.,][0-9]+")
#: The form of nearly all times, of which a library judges the day.
_USUAL: Final = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3])(?::[0-5][0-9]){2}Z")
#: Element of a layout -> its name in errors and its limits.
_LIMITS: Final = {"01": ("month", 1, 12), "15": ("hour", 0, 23), "04": ("minute", 0, 59), "05": ("second", 0, 59)}


class _MisfitError(Exception):
    """The text does not fit an element; the message is Go's for a value out of range, or empty."""


def parse_error(text: str, layout: str = RFC_3339) -> str:
    """The error of ``time.Parse(layout, text)``; "" if the text is a time. Errors quote bytes, as Go does."""
    if layout is RFC_3339 and is_usual(text):
        return ""
    whole = rest = text.encode("utf-8", "surrogatepass")
    found: dict[str, int] = {}
    for part in filter(None, _ELEMENTS.split(layout)):
        held = rest
        try:
            rest = _element(part, rest, found) if _ELEMENTS.fullmatch(part) else _literal(part, rest)
        except _MisfitError as misfit:
            if str(misfit):
                return f"parsing time {_quote(whole)}: {misfit}"
            shown = _quote(held), _quote(part.encode())
            return f"parsing time {_quote(whole)} as {_quote(layout.encode())}: cannot parse {shown[0]} as {shown[1]}"
    if rest:
        return f"parsing time {_quote(whole)}: extra text: {_quote(rest)}"
    if not 1 <= found["02"] <= days_in(found["2006"], found["01"]):
        return f"parsing time {_quote(whole)}: day out of range"
    return ""


def is_usual(text: str) -> bool:
    """Whether the text is a time in the usual form: in UTC and whole seconds. False for the year 0."""
    if not _USUAL.fullmatch(text):
        return False
    try:
        date.fromisoformat(text[:10])
    except ValueError:
        return False
    return True


def _literal(part: str, rest: bytes) -> bytes:
    literal = part.encode()
    if not rest.startswith(literal):
        raise _MisfitError
    return rest[len(literal) :]


def _element(part: str, rest: bytes, found: dict[str, int]) -> bytes:
    """The text after one element, whose number is added to ``found``."""
    if part == "Z07:00":
        return _zone(rest)
    size = 4 if part == "2006" else 2
    digits = rest[:size]
    if part == "15" and digits[:1].isdigit() and not digits[1:].isdigit():
        digits = digits[:1]  # Go reads an hour of one digit
    elif len(digits) < size or not digits.isdigit():
        raise _MisfitError
    found[part] = int(digits)
    rest = rest[len(digits) :]
    if part in _LIMITS:
        name, least, most = _LIMITS[part]
        if not least <= found[part] <= most:
            raise _MisfitError(f"{name} out of range")
    if part == "05" and (fraction := _FRACTION.match(rest)):
        rest = rest[fraction.end() :]
    return rest


def _zone(rest: bytes) -> bytes:
    if rest[:1] == b"Z":
        return rest[1:]
    if len(rest) < 6 or rest[3:4] != b":" or not (rest[1:3] + rest[4:6]).isdigit():
        raise _MisfitError
    if int(rest[1:3]) > 24:
        raise _MisfitError("time zone offset hour out of range")
    if int(rest[4:6]) > 60:
        raise _MisfitError("time zone offset minute out of range")
    if rest[:1] not in (b"+", b"-"):
        raise _MisfitError
    return rest[6:]


def _quote(text: bytes) -> str:
    """Go's quote in package time: bytes that are no printable ASCII as ``\\xNN``."""
    return f'"{"".join(map(_shown, text))}"'


def _shown(byte: int) -> str:
    if byte in b'"\\':
        return f"\\{chr(byte)}"
    return chr(byte) if 32 <= byte < 128 else f"\\x{byte:02x}"
