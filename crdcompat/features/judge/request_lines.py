"""Lines of ``judge --requests``, with the body of each as a server decodes it.

Two spellings matter to a server and are lost when Python reads them:

* The escape of a surrogate. In JSON it is half of a character, and U+FFFD without the other half. The body of an apply
  is YAML, which refuses the escape.
* A number beyond float64. JSON refuses it; in YAML it is a string.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import orjson
from msgspec import Struct

from crdcompat.apiserver.gotext import OutOfRange
from crdcompat.schema.re2 import go_text

#: The escape of a surrogate. The pattern skips pairs of backslashes: an escaped backslash begins no escape.
_SURROGATE = re.compile(rb"(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]")
_LAST_UNESCAPED = "\uffff"


class Line(Struct, frozen=True):
    """A request, and how its body was spelled.

    ``number`` is the first number of the body beyond float64, or "". ``has_surrogates``: the body escapes a surrogate.
    """

    request: Any
    number: str = ""
    has_surrogates: bool = False


def read_line(line: bytes) -> Line:
    """The request of one line. Raises orjson.JSONDecodeError."""
    has_escapes = _SURROGATE.search(line) is not None
    try:
        request = orjson.loads(line)
        if not has_escapes:
            return Line(request)
    except orjson.JSONDecodeError as error:
        request = _as_in_go(line, error)
    if not isinstance(request, dict):
        return Line(request)
    body = list(_strings(request.get("new")))
    number = next((text for text in body if isinstance(text, OutOfRange)), "")
    # Tools escape either all characters above U+FFFF in a line or none, so one in the body means that it was escaped.
    surrogates = has_escapes and any(char > _LAST_UNESCAPED or _is_surrogate(char) for text in body for char in text)
    return Line(_joined(request), number, surrogates)


def _as_in_go(line: bytes, error: orjson.JSONDecodeError) -> Any:
    """A line that orjson refuses, with lone surrogates, and large numbers as `OutOfRange`. Else raises ``error``."""

    def refuse(_: str) -> NoReturn:
        raise error

    try:
        found = json.loads(line, parse_float=_float, parse_int=_int, parse_constant=refuse)
    except (ValueError, RecursionError):
        raise error from None
    is_stored = isinstance(found, dict) and any(isinstance(text, OutOfRange) for text in _strings(found.get("old")))
    if is_stored:  # a server stores no such number
        raise error
    return found


def _float(text: str) -> float | OutOfRange:
    found = float(text)
    return OutOfRange(text) if math.isinf(found) else found


def _int(text: str) -> float | OutOfRange:
    found = _float(text)
    return found if isinstance(found, OutOfRange) else int(text)


def without_numbers(value: Any) -> Any:
    """A CRD without its numbers beyond float64. In an accepted CRD they are in unknown members, which servers drop."""
    if isinstance(value, dict):
        return {key: without_numbers(each) for key, each in value.items() if not isinstance(each, OutOfRange)}
    if isinstance(value, list):
        return [without_numbers(each) for each in value if not isinstance(each, OutOfRange)]
    return value


def _strings(value: Any) -> Iterator[str]:
    """All strings and keys in a value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _strings(member)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _joined(value: Any) -> Any:
    """A value with U+FFFD for each lone surrogate."""
    if isinstance(value, str):
        return value if isinstance(value, OutOfRange) else go_text(value)
    if isinstance(value, dict):
        return {go_text(key): _joined(member) for key, member in value.items()}
    return [_joined(item) for item in value] if isinstance(value, list) else value
