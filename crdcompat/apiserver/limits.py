"""Limits of scalars: bounds, multiples and ranges of numbers, lengths and patterns of strings.

Source: docs/semantics.md#limits. Numbers keep Go's distinction between int64 and float64.
"""

from __future__ import annotations

import math
import struct
from typing import Any

from msgspec import Struct, field

from crdcompat.apiserver.field_errors import INVALID, TOO_LONG, FieldError, Unknown
from crdcompat.apiserver.field_paths import schema_field
from crdcompat.apiserver.formats import supported
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Trail, pointer_at
from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern
from crdcompat.schema.structural import Node

_MAX_SAFE_INTEGER = 2**53 - 1
_TOLERANCE = 1e-9


def is_integer_like(value: float, server: Server) -> bool:
    """Whether the server accepts a float64 as an integer: within +-(2^53-1), and whole up to a tolerance.

    Source: go-openapi/swag, IsFloat64AJSONInteger. It compares with the value without its fraction, by a conversion to
    uint64 that makes another number of a negative one. The tolerance is half as large from 1.36 on.
    """
    if not math.isfinite(value) or abs(value) > _MAX_SAFE_INTEGER:
        return False
    whole = math.trunc(value)
    size = whole if server.does("halved_tolerance") else value + whole
    return value == whole or (whole > 0 and (value - whole) / size < _TOLERANCE)


def integer_range(number_format: str) -> tuple[int, int]:
    """The least and the greatest integer of a format."""
    bits = 31 if number_format == "int32" else 63
    return -(2**bits), 2**bits - 1


def _int64(value: float) -> int:
    """Go's conversion of a float64 to int64 on amd64: the least int64 for all that is out of range."""
    return math.trunc(value) if -(2.0**63) <= value < 2.0**63 else -(2**63)


class Bounds(Struct, frozen=True):
    """The number keywords of one node."""

    server: Server
    type: str
    format: str
    in_range: bool
    multiple_of: float | None
    minimum: float | None
    maximum: float | None
    exclusive_minimum: bool
    exclusive_maximum: bool

    @classmethod
    def read(cls, node: Node, number_format: str, server: Server) -> Bounds | None:
        """The bounds of a node; None if it has none."""
        raw = node.raw
        # The server checks ranges only for nodes with a single type, so not for int-or-string.
        in_range = server.does("integer_range") and not node.int_or_string and node.type in ("integer", "number")
        found = cls(
            server=server,
            type=node.type,
            format=number_format,
            in_range=in_range,
            multiple_of=_number(raw.get("multipleOf")),
            minimum=_number(raw.get("minimum")),
            maximum=_number(raw.get("maximum")),
            exclusive_minimum=raw.get("exclusiveMinimum") is True,
            exclusive_maximum=raw.get("exclusiveMaximum") is True,
        )
        return found if in_range or (found.multiple_of, found.minimum, found.maximum) != (None,) * 3 else None

    def check(self, value: int | float, path: Trail, out: list[FieldError]) -> None:
        """Append the errors of a number at ``path`` to ``out``, in the server's order."""
        if self.in_range:
            self._range(value, None, path, out)
        if self.multiple_of is not None:
            self._multiple(value, self.multiple_of, path, out)
        if self.maximum is not None:
            self._maximum(value, self.maximum, path, out)
        if self.minimum is not None:
            self._minimum(value, self.minimum, path, out)

    def misfits(self) -> tuple[str, ...]:
        """The keywords whose values are outside the range of the type: they make every number invalid."""
        limits = (("multipleOf", self.multiple_of), ("maximum", self.maximum), ("minimum", self.minimum))
        return tuple(key for key, limit in limits if self.in_range and limit is not None and not self._fits(limit))

    def _maximum(self, value: int | float, bound: int | float, path: Trail, out: list[FieldError]) -> None:
        maximum = self._bound(value, bound, Keyword.MAXIMUM, path, out)
        if value >= maximum if self.exclusive_maximum else value > maximum:
            keyword = Keyword.EXCLUSIVE_MAXIMUM if self.exclusive_maximum else Keyword.MAXIMUM
            out.append(FieldError(INVALID, pointer_at(path), keyword, value, self.server, maximum))

    def _minimum(self, value: int | float, bound: int | float, path: Trail, out: list[FieldError]) -> None:
        minimum = self._bound(value, bound, Keyword.MINIMUM, path, out)
        if value <= minimum if self.exclusive_minimum else value < minimum:
            keyword = Keyword.EXCLUSIVE_MINIMUM if self.exclusive_minimum else Keyword.MINIMUM
            out.append(FieldError(INVALID, pointer_at(path), keyword, value, self.server, minimum))

    def _bound(
        self, value: int | float, bound: int | float, keyword: Keyword, path: Trail, out: list[FieldError]
    ) -> int | float:
        """The limit to compare ``value`` with: the server converts one that fits to an int64 for int64 values."""
        misfit = self._range(bound, keyword, path, out)
        return _int64(bound) if isinstance(value, int) and not misfit else bound

    def _multiple(self, value: int | float, given: int | float, path: Trail, out: list[FieldError]) -> None:
        factor = self._bound(value, given, Keyword.MULTIPLE_OF, path, out)
        if factor <= 0:
            out.append(FieldError(INVALID, pointer_at(path), Keyword.MULTIPLE_OF, factor, self.server, factor))
            return
        if isinstance(factor, int):  # and so is the value
            whole = value % factor == 0
        else:
            whole = is_integer_like(1 / factor * value if factor < 1 else value / factor, self.server)
        if not whole:
            out.append(FieldError(INVALID, pointer_at(path), Keyword.MULTIPLE_OF, value, self.server, factor))

    def _range(self, value: int | float, bound: Keyword | None, path: Trail, out: list[FieldError]) -> bool:
        """Append an error if a value (``bound`` is None) or a bound is outside the range of its type (from 1.36).

        Returns whether it is.
        """
        if not self.in_range or self._fits(value):
            return False
        demand = (bound, self.type, self.format)
        out.append(FieldError(INVALID, pointer_at(path), Keyword.RANGE, "", self.server, demand))
        return True

    def _fits(self, value: int | float) -> bool:
        if self.type == "integer":
            low, high = integer_range(self.format)
            return value == math.trunc(value) and low <= value <= high
        return self.format != "float" or abs(value) <= struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def misfits(node: Node, server: Server) -> tuple[str, ...]:
    """The limits of a node that its type and format cannot hold: the server refuses every number because of them.

    Servers before 1.36 do not look.
    """
    number_format = node.format if supported(node.format, node.type, server) else ""
    bounds = Bounds.read(node, number_format, server)
    return bounds.misfits() if bounds is not None else ()


def _number(value: Any) -> float | None:
    """A number as Go decodes a float64 keyword; None if it is no finite number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or abs(value) >= 2**1023:
        return None
    return float(value) if math.isfinite(value) else None


#: Limits of the cache of valid strings, in characters and in strings. Short strings recur, such as condition reasons.
_MAX_CACHED_LENGTH, _MAX_CACHED = 64, 256


class StringLimits(Struct, frozen=True):
    """The string keywords of one node; ``unknown`` is the reason why its pattern cannot be evaluated, or "".

    ``passed`` caches strings that satisfy all of them.
    """

    server: Server
    min_length: int | None
    max_length: int | None
    pattern: Pattern | None
    unknown: str
    passed: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, node: Node, server: Server) -> StringLimits | None:
        """The string limits of a node; None if it has none."""
        source = node.raw.get("pattern")
        compiled = compile_pattern(source) if isinstance(source, str) and source else None
        unknown = f"pattern {source}: {compiled}" if isinstance(compiled, PatternError) else ""
        pattern = None if isinstance(compiled, PatternError) else compiled
        found = cls(server, node.count("minLength"), node.count("maxLength"), pattern, unknown)
        has_any = (found.min_length, found.max_length, pattern) != (None,) * 3 or unknown
        return found if has_any else None

    def check(self, value: str, path: Trail, out: list[FieldError], unknown: list[Unknown]) -> None:
        """Append the first error of maxLength, minLength and pattern to ``out``. Lengths are in code points.

        Appends to ``unknown`` if the pattern cannot be evaluated.
        """
        length = len(value)
        if self.max_length is not None and length > self.max_length:
            kind = TOO_LONG if self.server.does("typed_errors") else INVALID
            out.append(FieldError(kind, pointer_at(path), Keyword.MAX_LENGTH, value, self.server, self.max_length))
        elif self.min_length is not None and length < self.min_length:
            out.append(FieldError(INVALID, pointer_at(path), Keyword.MIN_LENGTH, value, self.server, self.min_length))
        elif self.pattern is not None and not self.pattern.search(value):
            source = self.pattern.source
            out.append(FieldError(INVALID, pointer_at(path), Keyword.PATTERN, value, self.server, source))
        elif self.unknown:
            unknown.append(Unknown(schema_field(pointer_at(path), self.server), "pattern", self.unknown))
        elif length <= _MAX_CACHED_LENGTH and len(self.passed) < _MAX_CACHED:
            self.passed.add(value)
