"""A CEL rule as a formula: true where the server finds the rule true, so false where it finds false or an error."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import z3
from patterns import searched
from symbols import Entry, UntranslatedError, Value

from crdcompat.cel.identifiers import unescape
from crdcompat.cel.macros import macro
from crdcompat.cel.syntax import Expr
from crdcompat.cel.uses import rule_of
from crdcompat.schema.structural import Node


@dataclass(frozen=True)
class Truth:
    """A boolean: when it is true, and when it is false; otherwise its evaluation is an error."""

    true: Any
    false: Any


@dataclass(frozen=True)
class Term:
    """A number or text, and when its evaluation is no error."""

    term: Any
    sound: Any


@dataclass(frozen=True)
class Part:
    """A value of the object with its node, and when it is there."""

    node: Node
    value: Value
    sound: Any


@dataclass(frozen=True)
class Listed:
    """The elements of a list that the rule makes, each with the condition under which it is there.

    ``sound``: when the evaluation of the list is no error.
    """

    items: tuple[tuple[Any, Any], ...]
    sound: Any


_TRUE = z3.BoolVal(True)


def holds(text: Any, node: Node, value: Value) -> Any:
    """The formula of a rule of a node on a value; None for what is not translated, and for transition rules."""
    rule = rule_of(text)
    if rule is None or rule.uses_old or value.kind == "fixed":
        return None
    try:
        return _truth(_read(rule.tree, {"self": _of(node, value, _TRUE)})).true
    except (UntranslatedError, z3.Z3Exception):
        return None


def _of(node: Node, value: Value, sound: Any) -> Any:
    if value.kind == "boolean":
        return Truth(z3.And(sound, value.term), z3.And(sound, z3.Not(value.term)))
    return Part(node, value, sound) if value.term is None or value.kind == "fixed" else Term(value.term, sound)


def _truth(found: Any) -> Truth:
    if not isinstance(found, Truth):
        raise UntranslatedError("no boolean")
    return found


def _term(found: Any) -> Term:
    if not isinstance(found, Term):
        raise UntranslatedError("no number or text")
    return found


def _read(expr: Expr, names: Mapping[str, Any]) -> Any:
    if expr.kind == "const":
        return _constant(expr)
    if expr.kind == "ident" and expr.name in names:
        return names[expr.name]
    if expr.kind == "select":
        return _select(expr, names)
    if expr.kind == "list":
        return Listed(tuple((_TRUE, _read(each, names)) for each in expr.args), _TRUE)
    if expr.kind == "fold":
        return _fold(expr, names)
    if expr.kind == "call" and expr.name in _CALLS:
        operands = [*([expr.target] if expr.target is not None else []), *expr.args]
        return _CALLS[expr.name](*(_read(each, names) for each in operands))
    raise UntranslatedError(expr.name or expr.kind)


def _constant(expr: Expr) -> Any:
    if isinstance(expr.value, bool):
        return Truth(z3.BoolVal(expr.value), z3.BoolVal(not expr.value))
    if isinstance(expr.value, str):
        return Term(z3.StringVal(expr.value), _TRUE)
    if isinstance(expr.value, int) and not expr.name:
        return Term(z3.IntVal(expr.value), _TRUE)
    if isinstance(expr.value, float):
        return Term(z3.RealVal(expr.value), _TRUE)
    raise UntranslatedError("a constant")


def _select(expr: Expr, names: Mapping[str, Any]) -> Any:
    holder = _read(expr.target, names) if expr.target is not None else None
    name = unescape(expr.name)
    if not isinstance(holder, Part) or holder.value.kind != "object":
        raise UntranslatedError("a member of no object")
    node, entry = holder.node.properties.get(name), holder.value.members.get(name)
    if node is None:
        raise UntranslatedError("an unknown member")
    present = entry.present if entry is not None else z3.BoolVal(False)
    if expr.test_only:
        return Truth(z3.And(holder.sound, present), z3.And(holder.sound, z3.Not(present)))
    if entry is None:
        raise UntranslatedError("a member that the writer does not have")
    return _of(node, entry.value, z3.And(holder.sound, present))


def _items(found: Any) -> list[tuple[Any, Any]]:
    """The items of a list, or the keys of a map, each with the condition under which it is there."""
    if isinstance(found, Listed):
        return [*found.items]
    if isinstance(found, Part) and found.value.kind == "array" and found.node.items is not None:
        return [(each.present, _of(found.node.items, each.value, _TRUE)) for each in found.value.entries]
    if isinstance(found, Part) and found.value.kind == "map":
        return [(each.present, Term(each.key, _TRUE)) for each in found.value.entries]
    raise UntranslatedError("items of no list")


def _fold(expr: Expr, names: Mapping[str, Any]) -> Truth | Listed:
    named = macro(expr)
    if named is None or expr.over is None:
        raise UntranslatedError("a comprehension")
    over = _read(expr.over, names)
    sound, items = over.sound, _items(over)
    each = [(there, _truth(_read(named[1], {**names, expr.variables[0]: item}))) for there, item in items]
    if named[0] in ("filter", "exists_one"):
        decided = (z3.Implies(there, z3.Or(body.true, body.false)) for there, body in each)
        whole = z3.And(sound, *decided)
        kept = [(z3.And(there, body.true), item) for (there, body), (_, item) in zip(each, items, strict=True)]
        found = Listed(tuple(kept), whole)
        return found if named[0] == "filter" else _equal(_size(found), Term(z3.IntVal(1), _TRUE))
    if named[0] == "all":
        true = z3.And(*(z3.Implies(there, body.true) for there, body in each))
        false = z3.Or(*(z3.And(there, body.false) for there, body in each))
    else:
        true = z3.Or(*(z3.And(there, body.true) for there, body in each))
        false = z3.And(*(z3.Implies(there, body.false) for there, body in each))
    return Truth(z3.And(sound, true), z3.And(sound, false))


def _and(left: Any, right: Any) -> Truth:
    a, b = _truth(left), _truth(right)
    return Truth(z3.And(a.true, b.true), z3.Or(a.false, b.false))


def _not(found: Any) -> Truth:
    truth = _truth(found)
    return Truth(truth.false, truth.true)


def _or(left: Any, right: Any) -> Truth:
    return _not(_and(_not(left), _not(right)))


def _choice(test: Any, yes: Any, no: Any) -> Truth:
    condition, first, second = map(_truth, (test, yes, no))
    return Truth(
        z3.Or(z3.And(condition.true, first.true), z3.And(condition.false, second.true)),
        z3.Or(z3.And(condition.true, first.false), z3.And(condition.false, second.false)),
    )


def _equal(left: Any, right: Any) -> Truth:
    if isinstance(left, Truth) and isinstance(right, Truth):
        true = z3.Or(z3.And(left.true, right.true), z3.And(left.false, right.false))
        false = z3.Or(z3.And(left.true, right.false), z3.And(left.false, right.true))
        return Truth(true, false)
    return _compared(lambda a, b: a == b, left, right)


def _compared(compare: Callable[[Any, Any], Any], left: Any, right: Any) -> Truth:
    a, b = _term(left), _term(right)
    if z3.is_string(a.term) != z3.is_string(b.term):
        raise UntranslatedError("a comparison of a text with a number")
    sound, found = z3.And(a.sound, b.sound), compare(a.term, b.term)
    return Truth(z3.And(sound, found), z3.And(sound, z3.Not(found)))


def _in(item: Any, holder: Any) -> Truth:
    sound = holder.sound if isinstance(holder, (Part, Listed)) else _TRUE
    equal = [(there, _equal(item, each)) for there, each in _items(holder)]
    none = Truth(z3.BoolVal(False), _TRUE)
    found = reduce(_or, (Truth(z3.And(there, e.true), z3.Or(z3.Not(there), e.false)) for there, e in equal), none)
    return Truth(z3.And(sound, found.true), z3.And(sound, found.false))


def _size(found: Any) -> Term:
    if isinstance(found, Part) and found.value.kind in ("array", "map"):
        return Term(found.value.size, found.sound)
    if isinstance(found, Listed):
        return Term(z3.Sum([z3.IntVal(0), *(z3.If(there, 1, 0) for there, _ in found.items)]), found.sound)
    term = _term(found)
    if not z3.is_string(term.term):
        raise UntranslatedError("the size of a number")
    return Term(z3.Length(term.term), term.sound)


def _matches(text: Any, pattern: Any) -> Truth:
    if not isinstance(pattern, Term) or not z3.is_string_value(pattern.term):
        raise UntranslatedError("a pattern that is no constant")
    language = searched(pattern.term.as_string())
    return _compared(lambda a, _: z3.InRe(a, language), text, pattern)


def _reckoned(reckon: Callable[[Any, Any], Any], left: Any, right: Any) -> Term:
    a, b = _term(left), _term(right)
    if z3.is_string(a.term) or z3.is_string(b.term):
        raise UntranslatedError("text that is joined")
    return Term(reckon(a.term, b.term), z3.And(a.sound, b.sound))


def _at(holder: Any, index: Any) -> Any:
    if isinstance(holder, Part) and holder.value.kind == "array" and isinstance(index, Term):
        items = _items(holder)
        if z3.is_int_value(index.term) and (at := index.term.as_long()) < len(items) and holder.node.items is not None:
            entry: Entry = holder.value.entries[at]
            return _of(holder.node.items, entry.value, z3.And(holder.sound, entry.present))
    raise UntranslatedError("an index")


_CALLS: dict[str, Callable[..., Any]] = {
    "_&&_": _and,
    "_||_": _or,
    "!_": _not,
    "_?_:_": _choice,
    "_==_": _equal,
    "_!=_": lambda left, right: _not(_equal(left, right)),
    "_<_": partial(_compared, lambda a, b: a < b),
    "_<=_": partial(_compared, lambda a, b: a <= b),
    "_>_": partial(_compared, lambda a, b: a > b),
    "_>=_": partial(_compared, lambda a, b: a >= b),
    "_+_": partial(_reckoned, lambda a, b: a + b),
    "_-_": partial(_reckoned, lambda a, b: a - b),
    "_[_]": _at,
    "@in": _in,
    "size": _size,
    "matches": _matches,
    "startsWith": partial(_compared, lambda a, b: z3.PrefixOf(b, a)),
    "endsWith": partial(_compared, lambda a, b: z3.SuffixOf(b, a)),
    "contains": partial(_compared, lambda a, b: z3.Contains(a, b)),
}
