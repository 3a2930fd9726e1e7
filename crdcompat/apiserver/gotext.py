"""Values as Go prints them, for the verbatim messages of the API server (docs/semantics.md#bad-values)."""

from __future__ import annotations

import json
import math
import unicodedata
from decimal import Decimal
from typing import Any

from msgspec import Struct


class GoValue(Struct, frozen=True):
    """A value of a Go type that has no JSON type of its own: as ``%#v`` prints it, and as JSON."""

    go: str
    json: str

    def data(self) -> Any:
        """The value as data of JSON types; its text if that is no JSON, because it was cut for a report."""
        try:
            return json.loads(self.json)
        except (ValueError, RecursionError):
            return self.json


class OutOfRange(str):
    """The spelling of a JSON number that no float64 holds."""

    __slots__ = ()


_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
}
_HTML = str.maketrans({char: f"\\u{ord(char):04x}" for char in "<>&\u2028\u2029"})


def quote(text: str) -> str:
    """``strconv.Quote``: Go's %q."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_quoted, text)) + '"'


def _quoted(char: str) -> str:
    if char in _ESCAPES:
        return _ESCAPES[char]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    if char == " " or (code > 0x20 and unicodedata.category(char)[0] not in "CZ"):
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number(value: float) -> str:
    """Go's %v of a float64: shortest digits; exponent form below 1e-4 and from 1e+06."""
    if not math.isfinite(value):
        return "NaN" if value != value else ("+Inf" if value > 0 else "-Inf")
    digits, exponent = _digits(value)
    if -4 <= exponent < 6:
        return _positional(value)
    sign = "-" if math.copysign(1, value) < 0 else ""
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _digits(value: float) -> tuple[str, int]:
    """The shortest significant digits of a float and its decimal exponent: 1250.0 -> ("125", 3)."""
    parts = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(parts.exponent, int)
    return "".join(map(str, parts.digits)), len(parts.digits) + parts.exponent - 1 if value else 0


def _positional(value: float) -> str:
    text = format(Decimal(repr(value)).normalize(), "f")
    return text if value or math.copysign(1, value) > 0 else "-0"


def compact_json(value: Any) -> str:
    """``json.Marshal``: compact, keys sorted, HTML-safe, floats positional between 1e-6 and 1e21."""
    if isinstance(value, dict):
        return "{" + ",".join(f"{_json_text(key)}:{compact_json(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact_json, value)) + "]"
    if isinstance(value, float):
        if value and not 1e-6 <= abs(value) < 1e21:
            return number(value).replace("e-0", "e-")
        return _positional(value)
    return _json_text(value) if isinstance(value, str) else json.dumps(value)


_JSON_KINDS = {bool: "bool", str: "string", list: "array", dict: "object"}


def json_kind(value: Any, number: str = "") -> str:
    """The kind of a JSON value in errors of Go's ``encoding/json``; ``number``: its text, where Go wants a number."""
    return _JSON_KINDS.get(type(value)) or (f"number {number}" if number else "number")


def range_error(number: OutOfRange | str) -> str:
    """The error of Go's ``encoding/json`` for a number that no float64 holds."""
    return f"json: cannot unmarshal number {number} into Go value of type float64"


def _json_text(text: str) -> str:
    written = json.dumps(text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), ensure_ascii=False)
    return written.translate(_HTML)


def go_syntax(value: Any) -> str:
    """Go's ``%#v`` with sorted keys: the form of bad values up to Kubernetes 1.33."""
    if value is None:
        return "interface {}(nil)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return "map[string]interface {}{" + ", ".join(f"{quote(k)}:{go_syntax(value[k])}" for k in sorted(value)) + "}"
    return "[]interface {}{" + ", ".join(map(go_syntax, value)) + "}"


def plain(value: Any) -> str:
    """Go's ``%v``: maps as ``map[a:1]``, lists as ``[1 2]``, strings without quotes."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{plain(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(plain, value)) + "]"
    return str(value)
