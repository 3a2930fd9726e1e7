"""Operators of CEL on terms: the formulas of when a comparison, a test or a search is true, and when it is false."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from crdcompat.compare.equivalence.connectives import count, each, every, fact, from_number, has, opposite, scalar, some
from crdcompat.compare.equivalence.formula import FALSE, TRUE, Atom, Formula, Kind, Literal
from crdcompat.compare.equivalence.terms import (
    DEFINED,
    Const,
    Listing,
    Maybe,
    Opaque,
    Ref,
    Tally,
    Term,
    Truth,
    element_of,
)
from crdcompat.schema.re2 import Pattern, compile_pattern

_ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: Types of which any two values can be compared.
_PLAIN = ("string", "integer", "number", "boolean")
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def truth_of(term: Term) -> Truth:
    """A term as a boolean."""
    if isinstance(term, Truth):
        return term
    if isinstance(term, Const) and isinstance(term.value, bool):
        return Truth(TRUE, FALSE) if term.value else Truth(FALSE, TRUE)
    if isinstance(term, Ref) and term.is_a("boolean"):
        return _holds(fact(Kind.EQUAL, term.path, True))
    return opaque_truth(term)


def opaque_truth(term: Term) -> Truth:
    """A boolean of which only the expression is known."""
    return Truth(Literal(Atom(Kind.TRUE, (), term)), Literal(Atom(Kind.FALSE, (), term)))


def defined(term: Term) -> Formula:
    """When a term has a value, and is no error."""
    if isinstance(term, Truth):
        return some(term.true, term.false)
    if isinstance(term, Listing):
        return every(*map(defined, term.items))
    if isinstance(term, Tally):
        return _is_decided(term)
    if isinstance(term, Maybe):
        return defined(term.value) if term.value is not None else TRUE
    return Literal(Atom(Kind.TRUE, (), Opaque((term,), DEFINED))) if isinstance(term, Opaque) else TRUE


def negated(truth: Truth) -> Truth:
    return Truth(truth.false, truth.true)


def compared(sign: str, left: Term, right: Term) -> Truth:
    """``left`` ``sign`` ``right``, for ``==`` and the signs of order."""
    if isinstance(left, Const) and not isinstance(right, Const):
        left, right, sign = right, left, _MIRRORED[sign]
    if isinstance(right, Const):
        return _with_literal(sign, left, right)
    if sign == "==":
        return _equal(left, right)
    if sign in (">", ">="):
        left, right, sign = right, left, _MIRRORED[sign]
    if sign == "<=" and _is_ordered(left) and _is_ordered(right):
        return negated(opaque_truth(Opaque((right, left), "<")))
    return opaque_truth(Opaque((left, right), sign))


def contained(item: Term, holder: Term, variable: str) -> Truth:
    """``item in holder``; ``variable`` is the name of an element of ``holder``."""
    if isinstance(item, Const) and isinstance(holder, Ref) and holder.is_a("map") and isinstance(item.value, str):
        return _holds(has((*holder.path, item.value)))
    if isinstance(item, Const) and isinstance(holder, Ref) and holder.is_a("list"):
        element = Ref((variable,), element_of(holder.view))
        if element.is_a("string") and isinstance(item.value, str):
            other = opposite(fact(Kind.EQUAL, element.path, item.value))
            return negated(_holds(each(holder.path, variable, other)))
    if not isinstance(holder, Listing):
        return opaque_truth(Opaque((item, holder), "in"))
    found = [compared("==", item, part) for part in holder.items]
    return Truth(some(*(each.true for each in found)), every(*(each.false for each in found)))


def size_of(term: Term) -> Term:
    """``size(term)``."""
    if isinstance(term, Listing):
        return Const(len(term.items))
    if isinstance(term, Const) and isinstance(term.value, str):
        return Const(len(term.value))
    if isinstance(term, Opaque) and term.name == "map":
        return Const(len(term.parts) // 2)
    return Opaque((term,), "size")


def added(left: Term, right: Term) -> Term:
    """``left + right``."""
    a, b = _tally(left), _tally(right)
    if a is None or b is None:
        return Opaque((left, right), "+")
    whole = Tally(a.offset + b.offset, (*a.truths, *b.truths))
    return whole if whole.truths else Const(whole.offset)


#: Tests of a string by a literal, each as the pattern that is found in the string if the test holds.
SEARCHES: dict[str, Callable[[str], str]] = {
    "matches": lambda text: text,
    "contains": lambda text: _quoted(text),
    "startsWith": lambda text: f"^{_quoted(text)}",
    "endsWith": lambda text: f"{_quoted(text)}$",
}


def searched(name: str, term: Term, wanted: Term) -> Truth:
    """A test of ``SEARCHES`` on a string."""
    if isinstance(wanted, Const) and isinstance(wanted.value, str):
        pattern = SEARCHES[name](wanted.value)
        compiled = compile_pattern(pattern)
        if isinstance(compiled, Pattern):
            if isinstance(term, Ref) and term.is_a("string"):
                return _holds(fact(Kind.MATCHES, term.path, pattern))
            if isinstance(term, Const) and isinstance(term.value, str):
                return _known(compiled.search(term.value))
    return opaque_truth(Opaque((term, wanted), name))


def _with_literal(sign: str, term: Term, literal: Const) -> Truth:
    value = scalar(literal.value)
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(term, Const):
        return _between_literals(sign, term, literal)
    if isinstance(value, bool) and sign == "==":
        return truth_of(term) if value else negated(truth_of(term))
    if isinstance(term, Ref):
        if isinstance(value, str) and sign == "==" and term.is_a("string"):
            return _holds(fact(Kind.EQUAL, term.path, value))
        if number and term.is_a("integer", "number"):
            return _holds(fact(Kind.EQUAL, term.path, value) if sign == "==" else _ordered(sign, term, value))
    if isinstance(value, int) and isinstance(term, Tally):
        return _sized(sign, value, lambda size: _tallied(term, size), _is_decided(term))
    if isinstance(term, Opaque) and isinstance(value, int) and not isinstance(value, bool):
        return _with_number(sign, term, value)
    if sign == "==" and isinstance(term, Listing):
        return _known(value=False)
    return opaque_truth(Opaque((term, literal), sign))


def _with_number(sign: str, term: Opaque, value: int) -> Truth:
    """An operation compared with a whole number."""
    inner = term.parts[0] if term.parts else None
    if term.name == "size":
        if isinstance(inner, Ref) and inner.is_a("string", "list", "map"):
            return _sized(sign, value, lambda size: fact(Kind.SIZE, inner.path, size), TRUE)
        if sign in (">", "<="):
            return _with_number(">=" if sign == ">" else "<", term, value + 1)
    if (term.name, sign, value) == ("_%_", "==", 0) and isinstance(inner, Ref) and inner.is_a("integer"):
        factor = term.parts[1]
        if isinstance(factor, Const) and type(factor.value) is int and factor.value:
            return _holds(fact(Kind.MULTIPLE, inner.path, abs(factor.value)))
    if term.name == "size" and sign == "<":
        return negated(_with_number(">=", term, value))
    found = opaque_truth(Opaque((term, Const(value)), sign))
    if term.name == "size" and isinstance(inner, Opaque) and inner.name == "filter" and (sign == "==" or value > 0):
        return _with_none_selected(found, inner, is_true=value == 0)
    return found


def _with_none_selected(found: Truth, items: Opaque, *, is_true: bool) -> Truth:
    """A statement on the number of filtered items; where the filter takes no item, it is ``is_true``, and no error."""
    over, variable, taken = items.parts
    if not (isinstance(over, Ref) and over.is_a("list") and isinstance(variable, Const) and isinstance(taken, Truth)):
        return found
    none = every(has(over.path), each(over.path, variable.value, taken.false))
    return Truth(some(found.true, none), found.false) if is_true else Truth(found.true, some(found.false, none))


def _ordered(sign: str, term: Ref, value: float) -> Formula:
    """A number compared with a literal by order."""
    found = from_number(term.path, value, excluded=sign in (">", "<="), whole=term.is_a("integer"))
    return found if sign in (">", ">=") else opposite(found)


def _between_literals(sign: str, left: Const, right: Const) -> Truth:
    a, b = left.value, right.value
    same_type = type(a) is type(b) or not ({type(a), type(b)} - {int, float})
    if sign == "==":
        return _known(same_type and a == b)
    if same_type and type(a) in (int, float, str):
        return _known(_ORDERS[sign](a, b))
    return opaque_truth(Opaque((left, right), sign))


def _sized(sign: str, size: int, from_size: Callable[[int], Formula], decided: Formula) -> Truth:
    """A comparison of a count, from the formulas of "at least" and of "there is a count"."""
    least, beyond = from_size(size), from_size(size + 1)
    true = {
        "==": every(least, opposite(beyond)),
        ">=": least,
        ">": beyond,
        "<": opposite(least),
        "<=": opposite(beyond),
    }[sign]
    return Truth(every(decided, true), every(decided, opposite(true)))


def _tally(term: Term) -> Tally | None:
    """A whole number as a tally."""
    if isinstance(term, Const):
        return Tally(term.value, ()) if type(term.value) is int else None
    return term if isinstance(term, Tally) else None


def _tallied(tally: Tally, least: int) -> Formula:
    return count(least - tally.offset, (truth.true for truth in tally.truths))


def _is_decided(tally: Tally) -> Formula:
    return every(*(some(truth.true, truth.false) for truth in tally.truths))


def _equal(left: Term, right: Term) -> Truth:
    if isinstance(left, Truth) or isinstance(right, Truth):
        a, b = truth_of(left), truth_of(right)
        same = some(every(a.true, b.true), every(a.false, b.false))
        return Truth(same, some(every(a.true, b.false), every(a.false, b.true)))
    if isinstance(left, Maybe) and isinstance(right, Maybe):
        if left.value is None or right.value is None:
            return _known(left.value is right.value)
        return compared("==", left.value, right.value)
    if isinstance(left, Listing) and isinstance(right, Listing):
        if len(left.items) != len(right.items):
            return _known(value=False)
        pairs = [compared("==", a, b) for a, b in zip(left.items, right.items, strict=True)]
        return Truth(every(*(each.true for each in pairs)), some(*(each.false for each in pairs)))
    if isinstance(left, Ref) and left == right:
        return _known(value=True)
    first, second = sorted((left, right), key=lambda term: term.text)
    equal = opaque_truth(Opaque((first, second), "=="))
    refs = [term for term in (left, right) if isinstance(term, Ref)]
    never_fails = len(refs) == 2 and any(all(ref.is_a(kind) for ref in refs) for kind in _PLAIN)
    return _holds(equal.true) if never_fails else equal


def _is_ordered(term: Term) -> bool:
    """Whether no part of the term can be NaN, which is neither less than a number nor not."""
    return "/(" not in term.text and "double(" not in term.text


def _holds(formula: Formula) -> Truth:
    """A statement that is never an error where its path has a value."""
    return Truth(formula, opposite(formula))


def _known(value: bool) -> Truth:
    return Truth(TRUE, FALSE) if value else Truth(FALSE, TRUE)


def _quoted(text: str) -> str:
    return "".join(f"\\{char}" if char in r"\.+*?()|[]{}^$" else char for char in text)
