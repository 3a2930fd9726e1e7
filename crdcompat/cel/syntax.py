"""The syntax tree of a rule, decoded from the protobuf bytes of an expression of the CEL library.

Source: cel/expr/syntax.proto of the CEL specification, also of the field numbers below. The library expands macros
before it gives the tree, so they are found again in comprehensions.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct, field

_BINARY: dict[str, Callable[[Any, Any], Any]] = {"_+_": operator.add, "_-_": operator.sub, "_*_": operator.mul}
_CONVERSIONS: dict[str, Callable[[Any], Any]] = {"int": int, "double": float, "string": str, "dyn": lambda value: value}
#: Characters of a text that is computed.
_MAX_TEXT = 1000


class Expr(Struct, eq=False):
    """One node: ``kind`` is const, ident, select, call, list, map or fold (a comprehension)."""

    kind: str
    id: int = 0
    name: str = ""  # of the identifier, field or function
    value: Any = None  # of a constant
    target: Expr | None = None  # operand of a select, receiver of a call
    args: list[Expr] = field(default_factory=list)  # arguments, elements, or keys and values in turn
    test_only: bool = False  # has(...)
    variables: tuple[str, str] = ("", "")  # of a fold: one name, or index and element
    accumulator: str = ""
    over: Expr | None = None
    initial: Expr | None = None
    condition: Expr | None = None
    step: Expr | None = None
    result: Expr | None = None

    def parts(self) -> Iterator[Expr]:
        """The direct sub-expressions."""
        for part in (self.target, *self.args, self.over, self.initial, self.condition, self.step, self.result):
            if part is not None:
                yield part

    def walk(self) -> Iterator[Expr]:
        yield self
        for part in self.parts():
            yield from part.walk()

    def form(self) -> str:
        """A text that is equal for equal trees: without white space, comments, quotes and needless parentheses."""
        parts = ",".join(part.form() for part in self.parts())
        facts = (self.name, self.test_only, *self.variables, self.target is not None)
        return f"{self.kind}{facts}{self.value!r}({parts})"


def macro(expr: Expr) -> tuple[str, Expr] | None:
    """The name and the body of all, exists, exists_one or filter with one variable; None for other expressions."""
    initial, step, result = expr.initial, expr.step, expr.result
    if initial is None or step is None or result is None or step.kind != "call" or expr.variables[1]:
        return None
    if initial.kind == "const" and step.name == "_&&_" and initial.value is True:
        return "all", step.args[1]
    if initial.kind == "const" and step.name == "_||_" and initial.value is False:
        return "exists", step.args[1]
    if step.name != "_?_:_":
        return None
    if initial.kind == "const" and initial.value == 0 and result.kind == "call" and result.name == "_==_":
        return "exists_one", step.args[0]
    kept = next((part.args[0] for part in step.args[1].args[1:] if part.kind == "list" and part.args), None)
    if initial.kind == "list" and kept is not None and (kept.kind, kept.name) == ("ident", expr.variables[0]):
        return "filter", step.args[0]
    return None


def constant(expr: Expr) -> Any:
    """The number, text or bytes of ``5 + 5`` or ``int('10')``; None with a variable, and for errors and other kinds."""
    if expr.kind == "const":
        return expr.value
    if expr.kind != "call" or expr.target is not None:
        return None
    parts = [constant(arg) for arg in expr.args]
    if None in parts or any(isinstance(part, bool) for part in parts):
        return None
    try:
        match parts:
            case [value] if expr.name == "-_":
                return -value
            case [int() | float() | str() as value] if expr.name in _CONVERSIONS:
                return _CONVERSIONS[expr.name](value)
            case [left, right] if expr.name in _BINARY and type(left) is type(right):
                found = _BINARY[expr.name](left, right)
                return None if isinstance(found, str) and len(found) > _MAX_TEXT else found
    except (TypeError, ValueError, OverflowError):
        return None
    return None


class Parsed(Struct):
    """A parsed rule, and the code point offsets of its nodes in the text by node id."""

    root: Expr
    offsets: dict[int, int]


def read(serialized: bytes) -> Parsed:
    """The tree of ``Expression.serialize()``: an Any around a ParsedExpr."""
    message = _fields(dict(_each(serialized))[2])
    return Parsed(_expr(message[2][0]), dict(_offsets(message.get(3, []))))


def _each(data: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of one protobuf message: number and raw value (int, or bytes)."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
        elif wire == 2:
            size, at = _varint(data, at)
            yield number, data[at : at + size]
            at += size
        else:
            size = 8 if wire == 1 else 4
            yield number, data[at : at + size]
            at += size


def _fields(data: bytes) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for number, value in _each(data):
        found.setdefault(number, []).append(value)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, at
        shift += 7


def _text(message: dict[int, list[Any]], number: int) -> str:
    found: bytes = message.get(number, [b""])[0]
    return found.decode("utf-8", "replace")


def _sub(message: dict[int, list[Any]], number: int) -> Expr | None:
    return _expr(message[number][0]) if number in message else None


def _expr(data: bytes) -> Expr:
    for number, content in (message := _fields(data)).items():
        if number in _READERS:
            found = _READERS[number](_fields(content[0]))
            break
    else:
        found = Expr("const")
    found.id = message.get(2, [0])[0]
    return found


def _constant(message: dict[int, list[Any]]) -> Expr:
    for number, (raw, *_) in message.items():
        if number == 2:
            return Expr("const", value=bool(raw))
        if number == 3:
            return Expr("const", value=raw - (1 << 64) if raw >> 63 else raw)
        if number == 4:
            return Expr("const", name="uint", value=raw)
        if number == 5:
            return Expr("const", value=struct.unpack("<d", raw)[0])
        if number == 6:
            return Expr("const", value=raw.decode("utf-8", "replace"))
        if number == 7:
            return Expr("const", value=raw)
    return Expr("const")


def _select(message: dict[int, list[Any]]) -> Expr:
    return Expr("select", name=_text(message, 2), target=_sub(message, 1), test_only=bool(message.get(3, [0])[0]))


def _call(message: dict[int, list[Any]]) -> Expr:
    return Expr(
        "call", name=_text(message, 2), target=_sub(message, 1), args=[_expr(arg) for arg in message.get(3, [])]
    )


def _entries(message: dict[int, list[Any]]) -> Expr:
    args = []
    for entry in map(_fields, message.get(2, [])):
        args += [found for number in (3, 4) if (found := _sub(entry, number)) is not None]
    return Expr("map", name=_text(message, 1), args=args)


def _fold(message: dict[int, list[Any]]) -> Expr:
    return Expr(
        "fold",
        variables=(_text(message, 1), _text(message, 8)),
        over=_sub(message, 2),
        accumulator=_text(message, 3),
        initial=_sub(message, 4),
        condition=_sub(message, 5),
        step=_sub(message, 6),
        result=_sub(message, 7),
    )


_READERS = {
    3: _constant,
    4: lambda message: Expr("ident", name=_text(message, 1)),
    5: _select,
    6: _call,
    7: lambda message: Expr("list", args=[_expr(element) for element in message.get(1, [])]),
    8: _entries,
    9: _fold,
}


def _offsets(source_infos: list[bytes]) -> Iterator[tuple[int, int]]:
    for info in source_infos:
        for number, value in _each(info):
            if number == 4:
                entry = dict(_each(value))
                yield entry.get(1, 0), entry.get(2, 0)
