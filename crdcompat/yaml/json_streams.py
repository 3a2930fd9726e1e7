"""JSON streams: one value, or several that each start a line, as in logs and the output of ``kubectl``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import orjson

from crdcompat.yaml.aliases import MAX_DEPTH, TOO_DEEP
from crdcompat.yaml.streams import Fault, Parsed, as_int64, pieces_at

MAX_JSON_VALUES = 6_000_000
"""Values in one JSON text, estimated by `has_too_many_values`. Recorded objects of `MAX_FILE_BYTES` have a third of
it; as many lists or maps take about 1 GB of memory.
"""

_TOO_MANY_VALUES = f"more than {MAX_JSON_VALUES} values: split the list, or record fewer objects in one file"
#: Integers beyond int64 have 19 digits at least. A search for equal bytes is ten times as fast as one for digits.
_DIGITS_ALIKE = bytes.maketrans(b"123456789", b"0" * 9)
_BIG_INTEGER = b"0" * 19
_VALUE_START = re.compile(rb"^(?=[{\[])", re.MULTILINE)


def json_pieces(text: bytes) -> list[tuple[int, bytes]]:
    """Split a file of several JSON values that each start a line into (first line, value).

    [] if there are fewer than two pieces or the first one is not JSON. Raises Fault if there are too many.
    """
    pieces = pieces_at(text, (found.start() for found in _VALUE_START.finditer(text)))
    return pieces if len(pieces) > 1 and _is_json(pieces[0][1]) else []


def has_too_many_values(text: bytes) -> bool:
    """Whether a JSON text may have more than `MAX_JSON_VALUES` values: by its commas and opening brackets.

    Those inside strings count, too: the text must not be parsed to find out.
    """
    return len(text) > MAX_JSON_VALUES < text.count(b",") + text.count(b"[") + text.count(b"{")


def json_values(text: bytes) -> Iterable[Parsed | Fault] | None:
    """Read the values of a file that starts like JSON; None if it is not JSON: YAML can start so, too."""
    is_large = has_too_many_values(text)
    if not is_large:
        try:
            return [_json_value(1, text)]
        except orjson.JSONDecodeError:
            pass
    try:
        pieces = json_pieces(text)
    except Fault as fault:
        return [fault]
    if pieces:
        return (_json_piece(line, piece) for line, piece in pieces)
    return [Fault(1, _TOO_MANY_VALUES)] if is_large else None


def _json_value(first_line: int, text: bytes) -> Parsed | Fault:
    """Read one JSON value. Raises orjson.JSONDecodeError."""
    line = first_line + text.count(b"\n", 0, len(text) - len(text.lstrip()))
    data = orjson.loads(text)
    if _deeper_than(data, MAX_DEPTH, text):
        return Fault(line, TOO_DEEP)
    return Parsed(line, as_int64(data) if _BIG_INTEGER in text.translate(_DIGITS_ALIKE) else data)


def _json_piece(first_line: int, text: bytes) -> Parsed | Fault:
    if has_too_many_values(text):
        return Fault(first_line, _TOO_MANY_VALUES)
    try:
        return _json_value(first_line, text)
    except orjson.JSONDecodeError as error:
        last = text.rstrip().count(b"\n")  # a truncated value ends with its text, not below it
        return Fault(first_line + min(error.lineno - 1, last), f"not valid JSON: {error.msg}")


def _is_json(text: bytes) -> bool:
    if has_too_many_values(text):
        return False
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _deeper_than(data: Any, limit: int, text: bytes) -> bool:
    if text.count(b"{") + text.count(b"[") <= limit:
        return False
    level = [data]
    for _ in range(limit + 1):
        level = [
            child
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return False
    return True
