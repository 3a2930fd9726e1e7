"""Values of plain scalars in Go's YAML 1.1 reader: ``y`` is true, ``010`` is 8, ``12:30:45`` is a string.

Source: sigs.k8s.io/yaml, which converts YAML to JSON; map keys become strings.
"""

from __future__ import annotations

import math
import re
import struct
from decimal import Decimal
from functools import lru_cache
from typing import Any

INT64_MAX = 2**63 - 1
TYPED_FIRST = frozenset("yYnNtTfFoO~+-.0123456789<")
"""The first characters of scalars that are not strings; the empty scalar is null."""

_WORDS: dict[str, bool | float | None] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_INT_TEXT = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<x>[0-9a-fA-F]+)|0[bB](?P<b>[01]+)|0[oO]?(?P<o>[0-7]+)|(?P<d>0|[1-9][0-9]*))"
)
_BASES = {"x": 16, "b": 2, "o": 8, "d": 10}
_FLOAT_TEXT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INT64_END = INT64_MAX + 1
_MAX_DIGITS = 400  # no float64 has more integer digits; Python parses long decimals in quadratic time


def plain_value(text: str) -> Any:
    """The value of an unquoted, untagged scalar: None, bool, int, float or the text itself."""
    return _short_value(text) if len(text) <= _MAX_CACHED else _value(text)


def _value(text: str) -> Any:
    try:
        return _WORDS[text]
    except KeyError:
        return _number(text) if text[0] in "+-.0123456789" else text


#: Short scalars (ports, times, words) recur; long ones are not cached.
_short_value = lru_cache(maxsize=2048)(_value)
_MAX_CACHED = 32


def key_text(value: Any) -> str:
    """The JSON key for a scalar that is the key of a map."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    return str(value) if isinstance(value, int) else _go_float32(value)


def json_number(value: float) -> int | float:
    """The number that a server reads from the JSON of a float: Go writes whole floats without a point.

    Go pads the shortest digits with zeros: 2**60 as a float becomes 1152921504606847000.
    """
    if not value.is_integer() or abs(value) >= _INT64_END:
        return value
    whole = int(Decimal(repr(value)))
    return whole if -_INT64_END <= whole < _INT64_END else value


def _number(text: str) -> int | float | str:
    """Parse a number as Go's ``strconv`` does with base 0; the text itself if it is not a number.

    Integers range from the minimum of int64 to the maximum of uint64; others are floats, and so is ``08``.
    """
    plain = text.replace("_", "") if text[0] != "." else text
    whole = _integer(plain)
    if whole is not None and -(2**63) <= whole < 2**64 and (whole < 2**63 or plain[0] != "+"):
        return whole
    if _FLOAT_TEXT.fullmatch(plain):
        value = float(plain)
    elif whole is not None:
        value = _to_float(whole)
    else:
        return text
    return value if math.isfinite(value) else text


def _integer(plain: str) -> int | None:
    match = _INT_TEXT.fullmatch(plain)
    if match is None:
        return None
    base = match.lastgroup or "d"
    digits = match[base]
    if base == "d" and len(digits) > _MAX_DIGITS:
        return None
    value = int(digits, _BASES[base])
    return -value if match["sign"] == "-" else value


def _to_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _go_float32(value: float) -> str:
    """Format as Go's ``FormatFloat(value, 'g', -1, 32)``, which sigs.k8s.io/yaml uses for float keys."""
    single = _single(value)
    if math.isnan(single):
        return ".nan"
    if math.isinf(single):
        return ".inf" if single > 0 else "-.inf"
    shortest = next(text for n in range(9) if _single(float(text := f"{single:.{n}e}")) == single)
    if -4 <= int(shortest.partition("e")[2]) < 6:
        return f"{Decimal(shortest):f}"
    return shortest


def _single(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)
