"""The items that a rule asks of a list: ``self.ports.exists(p, p.name == 'https' && p.port == self.port)``.

They are hints for the search for valid objects: a rule may ask for them only under a condition, which is not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, product
from typing import Any

from msgspec import Struct

from crdcompat.cel.constants import constant
from crdcompat.cel.identifiers import unescape
from crdcompat.cel.macros import macro
from crdcompat.cel.rule import Place
from crdcompat.cel.syntax import Expr
from crdcompat.cel.uses import rule_of

_MACROS = ("exists", "exists_one", "filter")
#: Ways to satisfy one condition that are read.
_MAX_WAYS = 8


class Same(Struct, frozen=True):
    """The value at a place of the object that has the rule."""

    place: Place


#: Members of an item, each with the scalar that it has to equal, or where that is; () is the item itself.
Members = tuple[tuple[Place, Any], ...]


class Asked(Struct, frozen=True):
    """An item of the list at ``holder``, below the value that has the rule: one of the ``ways`` is asked for."""

    holder: Place
    ways: tuple[Members, ...]


@lru_cache(maxsize=1024)
def asked_items(text: str) -> tuple[Asked, ...]:
    """The items that a rule asks for, each once; none of a rule that is not read, or only rejects such items."""
    rule = rule_of(text)
    return () if rule is None else tuple(dict.fromkeys(_asked(rule.tree)))


def _asked(expr: Expr) -> Iterator[Asked]:
    if expr.kind == "call" and expr.name == "!_":
        return
    of_macro = macro(expr) if expr.kind == "fold" else None
    if of_macro is not None and of_macro[0] in _MACROS and expr.over is not None:
        holder = _place(expr.over, "self")
        ways = tuple(filter(None, islice(_ways(of_macro[1], expr.variables[0]), _MAX_WAYS)))
        if holder is not None and ways:
            yield Asked(holder, ways)
        return
    for part in expr.parts():
        yield from _asked(part)


def _ways(body: Expr, variable: str) -> Iterator[Members]:
    """Members with which an item satisfies a condition, as far as it is read."""
    parts = body.args if body.kind == "call" else []
    match body.name if parts else "":
        case "_&&_":
            left, right = (tuple(islice(_ways(part, variable), _MAX_WAYS)) for part in parts)
            yield from ((*one, *other) for one, other in product(left, right))
        case "_||_":
            for part in parts:
                yield from _ways(part, variable)
        case "_==_":
            yield _equal(parts[0], parts[1], variable) or _equal(parts[1], parts[0], variable)
        case "@in" if parts[1].kind == "list":
            yield from (_equal(parts[0], each, variable) for each in parts[1].args)
        case _:
            member = _place(body, variable)
            yield ((member, True),) if member is not None else ()


def _equal(one: Expr, other: Expr, variable: str) -> Members:
    """The member of the item that has to equal the other operand; none if the comparison is about anything else."""
    member, value = _place(one, variable), constant(other)
    if member is None:
        return ()
    if value is not None:
        return ((member, value),)
    place = _place(other, "self")
    return ((member, Same(place)),) if place is not None else ()


def _place(expr: Expr, variable: str) -> Place | None:
    """The names on the way from a variable to a value; None for other expressions."""
    if expr.kind == "ident":
        return () if expr.name == variable else None
    if expr.kind != "select" or expr.test_only or expr.target is None:
        return None
    above = _place(expr.target, variable)
    return None if above is None else (*above, unescape(expr.name))
