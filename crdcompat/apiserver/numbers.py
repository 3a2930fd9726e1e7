"""Bounds, multiples and ranges of numbers, with Go's int64/float64 distinction (reference section 3.2 and 3.3)."""

from __future__ import annotations

import math
import struct
from typing import Any

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import INVALID, FieldError, pathless
from crdcompat.apiserver.gotext import number
from crdcompat.records import dataclass
from crdcompat.schema.structural import Node

_SAFE = 2**53 - 1
_NEAR = 1e-9


def is_integer_like(value: float) -> bool:
    """Whether the server takes a float64 for an integer: within +-(2^53-1), and whole or nearly so."""
    if not math.isfinite(value) or abs(value) > _SAFE:
        return False
    if value == math.trunc(value):
        return True
    distance = abs(value - round(value))
    return distance / max(abs(value), abs(round(value)), 1e-300) < _NEAR


@dataclass(frozen=True, slots=True)
class Bounds:
    """The number keywords of one node."""

    type: str
    format: str
    in_range: bool
    multiple_of: float | int | None
    minimum: float | int | None
    maximum: float | int | None
    exclusive_minimum: bool
    exclusive_maximum: bool

    @classmethod
    def read(cls, node: Node, number_format: str, server: Server) -> Bounds | None:
        """The bounds of a node, None where it has none."""
        raw = node.raw
        # Two types (int-or-string) exempt a node from the range check: the server looks at a single one.
        in_range = server.does("integer_range") and not node.int_or_string and node.type in ("integer", "number")
        found = cls(
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

    def check(self, value: int | float, path: str, out: list[FieldError]) -> None:
        """Append the errors of a number at ``path``, in the server's order."""
        if self.in_range:
            self._range(value, "Checked value", path, out)
        if self.multiple_of is not None and not self._range(self.multiple_of, "MultipleOf", path, out):
            self._multiple(value, path, out)
        if self.maximum is not None:
            self._bound(value, self.maximum, "maximum", path, out)
        if self.minimum is not None:
            self._bound(value, self.minimum, "minimum", path, out)

    def _bound(self, value: int | float, bound: int | float, which: str, path: str, out: list[FieldError]) -> None:
        misfit = self._range(
            bound, "Maximum boundary value" if which == "maximum" else "Minimum boundary value", path, out
        )
        native: int | float = bound
        if isinstance(value, int) and not misfit:
            native = math.trunc(bound)  # an int64 meets the bound cut to an int64
        exclusive = self.exclusive_maximum if which == "maximum" else self.exclusive_minimum
        if which == "maximum":
            fails = value >= native if exclusive else value > native
            words = "less than" if exclusive else "less than or equal to"
        else:
            fails = value <= native if exclusive else value < native
            words = "greater than" if exclusive else "greater than or equal to"
        if fails:
            detail = f"{path} in body should be {words} {_shown(native)}"
            out.append(FieldError(INVALID, path or "<nil>", value, detail))

    def _multiple(self, value: int | float, path: str, out: list[FieldError]) -> None:
        factor: int | float = self.multiple_of if self.multiple_of is not None else 0
        if isinstance(value, int):
            factor = math.trunc(factor)
        if factor <= 0:
            detail = f"factor MultipleOf declared for {path} must be positive: {_shown(factor)}"
            out.append(FieldError(INVALID, path or "<nil>", factor, detail))
            return
        if isinstance(value, int):
            whole = value % int(factor) == 0
        else:
            whole = is_integer_like(1 / factor * value if factor < 1 else value / factor)
        if not whole:
            detail = f"{path} in body should be a multiple of {_shown(factor)}"
            out.append(FieldError(INVALID, path or "<nil>", value, detail))

    def _range(self, value: int | float, what: str, path: str, out: list[FieldError]) -> bool:
        """From 1.36 a value or bound outside its type's range is an error of its own, without a path."""
        if not self.in_range or self._fits(value):
            return False
        form = f"with format {self.format}" if self.format else "(default format)"
        sentence = f"{what} must be of type {self.type} {form} in {path}"
        out.append(pathless(sentence))
        return True

    def _fits(self, value: int | float) -> bool:
        if self.type == "integer":
            bits = 31 if self.format == "int32" else 63
            return value == math.trunc(value) and -(2**bits) <= value < 2**bits
        return self.format != "float" or abs(value) <= struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def _number(value: Any) -> int | float | None:
    """A number as Go decodes a float64 keyword; integers that an int64 holds are kept exact."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, int) and abs(value) >= 2**63:
        return float(value) if abs(value) < 2**1023 else None
    return value if math.isfinite(value) else None


def _shown(value: int | float) -> str:
    return str(value) if isinstance(value, int) else number(value)
