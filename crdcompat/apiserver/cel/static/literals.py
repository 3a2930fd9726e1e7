"""Checks of literals after the type check: equal types of elements, patterns, times, and texts that are formatted.

Source: cel-go, cel/validator.go (since 0.17: Kubernetes 1.29) and ext/formatting.go (since 0.18: Kubernetes 1.31).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from crdcompat.apiserver.cel.static import types
from crdcompat.apiserver.cel.static.checker import Checker
from crdcompat.apiserver.cel.static.types import Type
from crdcompat.cel.syntax import Expr
from crdcompat.schema.re2 import syntax_error

#: Function -> the form of its literal, and the type in the error of servers that read it when the program is made.
_TIMES = {
    "timestamp": (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII), "Timestamp"),
    "duration": (re.compile(r"[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)", re.ASCII), "Duration"),
}
_ANY = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
    "timestamps"
)
#: Clause of a format -> the kinds of value that it takes, and the words about another one.
_CLAUSES: dict[str, tuple[frozenset[str], str]] = {
    "d": (frozenset({"int", "uint"}), "decimal clause can only be used on integers"),
    "f": (frozenset({"double", "string"}), "fixed-point clause can only be used on doubles"),
    "e": (frozenset({"double", "string"}), "scientific clause can only be used on doubles"),
    "b": (frozenset({"int", "uint", "bool"}), "only integers and bools can be formatted as binary"),
    "o": (frozenset({"int", "uint"}), "octal clause can only be used on integers"),
    **dict.fromkeys(
        "xX",
        (
            frozenset({"int", "uint", "string", "bytes"}),
            "only integers, byte buffers, and strings can be formatted as hex",
        ),
    ),
    "s": (
        frozenset(
            ("list", "map", "int", "uint", "double", "bool", "string", "timestamp", "bytes", "duration", "type", "null")
        ),
        _ANY,
    ),
}
_CLAUSE = re.compile(r"%(?:%|(?P<precision>\.[0-9]*)?(?P<letter>.)?)", re.DOTALL)
_LONG_NAMES = {"timestamp": "google.protobuf.Timestamp", "duration": "google.protobuf.Duration", "null": "null_type"}


def mixed(root: Expr, checker: Checker) -> Iterator[tuple[int, str]]:
    """The first element of each list, and the keys and values of each map, of another type than the first one.

    Not inside the arguments of ``format``.
    """
    for expr in _unformatted(root, exempt=False):
        if expr.kind == "list":
            yield from islice(_others(expr.args, checker), 1)
        else:
            yield from _others(expr.args[::2], checker)
            yield from _others(expr.args[1::2], checker)


def _unformatted(expr: Expr, *, exempt: bool) -> Iterator[Expr]:
    """The lists and maps but those that ``format`` shows, and those directly inside these."""
    holds = expr.kind in ("list", "map")
    if holds and not exempt:
        yield expr
    below = (exempt and holds) or (expr.kind == "call" and expr.name == "format")
    for part in expr.parts():
        yield from _unformatted(part, exempt=below)


def _others(elements: Iterable[Expr], checker: Checker) -> Iterator[tuple[int, str]]:
    first: Type | None = None
    for each in elements:
        found = checker.types[each.id]
        first = first or found
        if found != first:
            yield each.id, f"expected type '{types.shown(first)}' but found '{types.shown(found)}'"


def unreadable(root: Expr, checker: Checker) -> Iterator[tuple[Expr, str, str]]:
    """The literals that are no pattern, time or duration: the literal, the function, and what is wrong."""
    for call in root.walk():
        literal = call.args[-1] if call.kind == "call" and call.args else None
        if literal is None or literal.kind != "const" or not isinstance(literal.value, str):
            continue
        if call.id not in checker.overloads:
            continue
        if call.name == "matches" and (reason := syntax_error(literal.value)):
            yield literal, call.name, reason
        if call.name in _TIMES:
            pattern, kind = _TIMES[call.name]
            if not pattern.fullmatch(literal.value):
                yield literal, call.name, f"type conversion error from 'string' to 'google.protobuf.{kind}'"


def misformatted(root: Expr, checker: Checker) -> Iterator[tuple[int, str]]:
    """The faults of literal texts that are formatted with a list of arguments: one for each call at most."""
    for call in root.walk():
        text, lists = call.target, call.args
        if call.kind != "call" or call.name != "format" or text is None or len(lists) != 1:
            continue
        if text.kind == "const" and isinstance(text.value, str) and lists[0].kind == "list":
            yield from _misfit(call, text.value, lists[0].args, checker)


def _misfit(call: Expr, text: str, elements: list[Expr], checker: Checker) -> Iterator[tuple[int, str]]:
    used = 0
    for clause in _CLAUSE.finditer(text):
        if clause.group() == "%%":
            continue
        fault = _clause_fault(clause, text, elements[used] if used < len(elements) else None, used, checker)
        if fault is not None:
            at, said = fault
            yield at or call.id, said
            return
        used += 1
    if used < len(elements):
        said = f"too many arguments supplied to string.format (expected {used}, got {len(elements)})"
        yield call.id, said


def _clause_fault(
    clause: re.Match[str], text: str, element: Expr | None, index: int, checker: Checker
) -> tuple[int, str] | None:
    """The node at fault (0: the call) and the words; None without a fault."""
    precision, letter = clause["precision"], clause["letter"]
    if clause.end() == clause.start() + 1 == len(text):
        return 0, "unexpected end of string"
    if element is None:
        return 0, f"index {index} out of range"
    if precision is not None and letter is None:
        said = "could not find end of precision specifier"
        return 0, f"could not parse formatting clause: error while parsing precision: {said}"
    if precision == ".":
        said = 'error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax'
        return 0, f"could not parse formatting clause: error while parsing precision: {said}"
    if letter not in _CLAUSES:
        byte = letter.encode("utf-8", "replace")[:1].decode("latin-1")  # Go reads the text byte by byte
        return 0, f'could not parse formatting clause: unrecognized formatting clause "{byte}"'
    kinds, said = _CLAUSES[letter]
    wrong = _first_wrong(element, kinds, checker, deep=letter == "s")
    if wrong is None:
        return None
    return wrong.id, f"error during formatting: {said}, was given {_name(checker.types[wrong.id])}"


def _first_wrong(expr: Expr, kinds: frozenset[str], checker: Checker, *, deep: bool) -> Expr | None:
    """The value itself, or with ``deep`` the first one in a literal of lists and maps, that is of another kind."""
    found = checker.types[expr.id]
    if found.kind not in kinds and found.kind != "dyn":
        return expr
    inside = expr.args if deep and expr.kind in ("list", "map") else ()
    return next((wrong for each in inside if (wrong := _first_wrong(each, kinds, checker, deep=True))), None)


def _name(found: Type) -> str:
    return found.name if found.kind in ("struct", "opaque") else _LONG_NAMES.get(found.kind, found.kind)
