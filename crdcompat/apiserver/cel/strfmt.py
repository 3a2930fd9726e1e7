"""Parsing of the string formats that have a CEL type of their own: byte, date, date-time, duration.

Source: kube-openapi strfmt (docs/semantics.md#formats), Go's time.ParseDuration.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import re

from crdcompat.apiserver.formats.times import GO_UNITS

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?([Zz]|[+-][0-9]{2}:[0-9]{2})?"
)
_GO_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_LOOSE_DURATION = re.compile(r"([0-9]+)\s?([A-Za-zµ]+)")
_UNITS = {
    **dict.fromkeys(("ns", "nano"), 1),
    **dict.fromkeys(("us", "µs", "micro"), 10**3),
    **dict.fromkeys(("ms", "milli"), 10**6),
    **dict.fromkeys(("s", "sec"), 10**9),
    **dict.fromkeys(("m", "min"), 60 * 10**9),
    **dict.fromkeys(("h", "hr", "hour"), 3600 * 10**9),
    **dict.fromkeys(("d", "day"), 86400 * 10**9),
    **dict.fromkeys(("w", "week", "wk"), 7 * 86400 * 10**9),
}
_EPOCH = datetime.date(1970, 1, 1)


def decode_base64(text: str) -> bytes | None:
    """Decode base64 of the standard alphabet with padding; None if malformed. Go ignores line breaks."""
    try:
        return base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return None


def is_base64(text: str) -> bool:
    return bool(text) and decode_base64(text) is not None


def date_seconds(text: str) -> int | None:
    """Seconds since the epoch of a calendar date; None if malformed."""
    if not _DATE.fullmatch(text):
        return None
    try:
        day = datetime.date.fromisoformat(text)
    except ValueError:
        return None
    return (day - _EPOCH).days * 86400


def is_date(text: str) -> bool:
    return date_seconds(text) is not None


def datetime_nanos(text: str) -> int | None:
    """Nanoseconds since the epoch of a date-time; None if malformed."""
    found = _TIME.fullmatch(text)
    seconds = date_seconds(found[1]) if found else None
    if found is None or seconds is None:
        return None
    hour, minute, second = int(found[2]), int(found[3]), int(found[4])
    if hour > 23 or minute > 59 or second > 59:
        return None
    seconds += hour * 3600 + minute * 60 + second
    zone = found[6] or "Z"
    if zone not in "Zz":
        offset = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
        seconds += -offset if zone[0] == "+" else offset
    return seconds * 10**9 + int((found[5] or "0")[:9].ljust(9, "0"))


def is_datetime(text: str) -> bool:
    found = _TIME.fullmatch(text)
    return found is not None and found[6] is not None and datetime_nanos(text) is not None


def duration_nanos(text: str) -> int | None:
    """Nanoseconds of a Go duration or of strfmt's other forms ("1 day"); None if malformed."""
    sign, rest = (-1, text[1:]) if text.startswith("-") else (1, text.removeprefix("+"))
    if rest == "0":
        return 0
    parts = _GO_DURATION.findall(rest)
    if parts and "".join(number + unit for number, unit in parts) == rest:
        return sign * sum(_scaled(number, GO_UNITS[unit]) for number, unit in parts)
    for number, unit in _LOOSE_DURATION.findall(text):
        name = unit.lower()
        for known in sorted(_UNITS, key=len, reverse=True):
            if name == known or (len(known) > 2 and name.startswith(known)) or name == f"{known}s":
                return int(number) * _UNITS[known]
    return None


def _scaled(number: str, unit: int) -> int:
    whole, _, fraction = number.partition(".")
    nanos = int(whole or "0") * unit
    return nanos + (int(fraction) * unit // 10 ** len(fraction) if fraction else 0)
