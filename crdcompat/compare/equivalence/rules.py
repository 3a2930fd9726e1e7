"""CEL rules as formulas, read from their syntax trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from math import prod

from crdcompat.apiserver.cel.environment import RefusedError
from crdcompat.apiserver.cel.rules import program
from crdcompat.apiserver.cel.syntax import Expr
from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.formula import (
    FALSE,
    TRUE,
    Canonical,
    Formula,
    Path,
    TooComplexError,
    each,
    every,
    has,
    opposite,
    some,
)
from crdcompat.compare.equivalence.terms import (
    SEARCHES,
    Const,
    Listing,
    Maybe,
    Opaque,
    Ref,
    Tally,
    Term,
    Truth,
    added,
    compared,
    contained,
    element_of,
    negated,
    opaque_truth,
    searched,
    size_of,
    truth_of,
)

#: Combinations of the cases of an operation's operands.
_MAX_CASES = 64
_SIGNS = {"_==_": "==", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}

#: A formula, and the term that an expression has if it holds. The formulas of the cases of one expression exclude each
#: other; the expression is an error if none holds.
_Case = tuple[Formula, Term]
_Scope = Mapping[str, Term]


def truth_of_rule(text: str, here: Path, view: View) -> Truth | None:
    """When a rule at the value ``here`` is true, and when it is false; None if the rule cannot be read.

    ``here`` is known to have a value. The variable ``oldSelf`` stands for the stored value at the same place.
    """
    scope = {"self": Ref(here, view), "oldSelf": Ref(("oldSelf", *here[1:]), view)}
    try:
        return _truth(program(text).tree, scope)
    except (RefusedError, RecursionError, TooComplexError):
        return None


class _Body(Canonical, frozen=True, eq=False):
    """The cases of one part of a comprehension, inside of an opaque term."""

    cases: tuple[_Case, ...]

    def __post_init__(self) -> None:
        self._write(" | ".join(sorted(f"{guard.text}: {term.text}" for guard, term in self.cases)))

    def paths(self) -> Iterator[Path]:
        for guard, term in self.cases:
            yield from guard.paths()
            yield from term.paths()


def _truth(expr: Expr, scope: _Scope) -> Truth:
    return _united((guard, truth_of(term)) for guard, term in _cases(expr, scope))


def _cases(expr: Expr, scope: _Scope) -> list[_Case]:
    match expr.kind:
        case "const":
            return [(TRUE, Const(expr.value))]
        case "ident":
            return [(TRUE, scope.get(expr.name) or Opaque((), expr.name))]
        case "select":
            assert expr.target is not None
            found = _cases(expr.target, scope)
            return [(TRUE, _presence(found, expr.name))] if expr.test_only else _members(found, expr.name)
        case "list":
            return _combined(expr.args, scope, lambda *parts: Listing(parts))
        case "map":
            return _combined(expr.args, scope, lambda *parts: Opaque(parts, "map"))
        case "fold":
            return _fold(expr, scope)
    return _call(expr, scope)


def _call(expr: Expr, scope: _Scope) -> list[_Case]:
    name, operands = expr.name, [*([expr.target] if expr.target is not None else []), *expr.args]
    if name in ("_&&_", "_||_", "!_"):
        truths = [_truth(operand, scope) for operand in operands]
        if name == "!_":
            return [(TRUE, negated(truths[0]))]
        return [(TRUE, _all(truths) if name == "_&&_" else negated(_all(map(negated, truths))))]
    if name == "_?_:_":
        return _choice(operands, scope)
    if name in _SIGNS:
        return _decided(operands, scope, lambda left, right: compared(_SIGNS[name], left, right))
    if name == "_!=_":
        return _decided(operands, scope, lambda left, right: negated(compared("==", left, right)))
    if name == "@in":
        return _decided(operands, scope, _contained)
    if name in SEARCHES and len(operands) == 2:
        return _decided(operands, scope, lambda term, wanted: searched(name, term, wanted))
    if name == "size" and len(operands) == 1:
        return _size(operands[0], scope)
    if name == "_+_":
        return _combined(operands, scope, added)
    if name == "dyn":
        return _cases(operands[0], scope)
    if name in ("_[_]", "_?._", "_[?_]", "hasValue", "value", "orValue", "or"):
        return _access(name, operands, scope)
    return _combined(operands, scope, lambda *parts: Opaque(parts, name))


def _choice(operands: Sequence[Expr], scope: _Scope) -> list[_Case]:
    """``condition ? one : other``; of 1 and 0 a tally."""
    condition, one, other = _truth(operands[0], scope), _cases(operands[1], scope), _cases(operands[2], scope)
    if one == [(TRUE, Const(1))] and other == [(TRUE, Const(0))]:
        return [(TRUE, Tally(0, (condition,)))]
    if one == [(TRUE, Const(0))] and other == [(TRUE, Const(1))]:
        return [(TRUE, Tally(0, (negated(condition),)))]
    return _merged(
        (every(when, guard), term)
        for when, found in ((condition.true, one), (condition.false, other))
        for guard, term in found
    )


def _contained(item: Term, holder: Term) -> Truth:
    if isinstance(item, Const) and isinstance(holder, Ref) and holder.is_a("map") and isinstance(item.value, str):
        there = has((*holder.path, item.value))
        return Truth(there, opposite(there))
    return contained(item, holder)


def _size(operand: Expr, scope: _Scope) -> list[_Case]:
    """The size of a list literal, filtered or not, is a number; others have the size as a term."""
    kept = _macro(operand) if operand.kind == "fold" else None
    if kept is None or kept[0] != "filter" or operand.over is None:
        return _combined([operand], scope, size_of)
    found: list[_Case] = []
    for guard, holder in _cases(operand.over, scope):
        if not isinstance(holder, Listing):
            return _combined([operand], scope, size_of)
        found.append((guard, Tally(0, tuple(_bodies(operand, kept[1], holder, scope)))))
    return _merged(found)


def _access(name: str, operands: Sequence[Expr], scope: _Scope) -> list[_Case]:
    """Elements of maps by key, and optionals."""
    first = _cases(operands[0], scope)
    if name in ("_[_]", "_?._", "_[?_]"):
        key = operands[1].value if operands[1].kind == "const" else None
        if isinstance(key, str) and (name == "_?._" or all(_is_map(term) for _, term in first)):
            return _members(first, key) if name == "_[_]" else _merged(_optional_members(first, key))
        return _combined(operands, scope, lambda *parts: Opaque(parts, name))
    if not all(isinstance(term, Maybe) for _, term in first):
        return _combined(operands, scope, lambda *parts: Opaque(parts, name))
    with_value = [(guard, term.value) for guard, term in first if isinstance(term, Maybe) and term.value is not None]
    without = some(*(guard for guard, term in first if isinstance(term, Maybe) and term.value is None))
    if name == "hasValue":
        return [(TRUE, Truth(some(*(guard for guard, _ in with_value)), without))]
    if name == "value":
        return _merged(with_value)
    kept: list[_Case] = [(g, Maybe(value)) for g, value in with_value] if name == "or" else [*with_value]
    return _merged([*kept, *((every(without, guard), term) for guard, term in _cases(operands[1], scope))])


def _is_map(term: Term) -> bool:
    held = term.value if isinstance(term, Maybe) else term
    return (isinstance(term, Maybe) and held is None) or (isinstance(held, Ref) and held.is_a("map"))


def _members(found: list[_Case], name: str) -> list[_Case]:
    """``.name`` of each case: an error where it is absent."""
    return _merged(
        (every(guard, has((*term.path, name))), _member(term, name))
        if isinstance(term, Ref)
        else (guard, Opaque((term, Const(name)), "select"))
        for guard, term in found
    )


def _optional_members(found: list[_Case], name: str) -> Iterator[_Case]:
    for guard, term in found:
        held = term.value if isinstance(term, Maybe) else term
        if held is None:
            yield guard, Maybe(None)
        elif isinstance(held, Ref):
            there = has((*held.path, name))
            yield every(guard, there), Maybe(_member(held, name))
            yield every(guard, opposite(there)), Maybe(None)
        else:
            yield guard, Opaque((term, Const(name)), "_?._")


def _member(holder: Ref, name: str) -> Ref:
    view = holder.view.member(name) if holder.view is not None and holder.view.kind in ("object", "map") else None
    return Ref((*holder.path, name), view)


def _presence(found: list[_Case], name: str) -> Truth:
    """``has(e.name)``."""
    pieces: list[tuple[Formula, Truth]] = []
    for guard, term in found:
        if isinstance(term, Ref):
            there = has((*term.path, name))
            pieces.append((guard, Truth(there, opposite(there))))
        else:
            pieces.append((guard, opaque_truth(Opaque((term, Const(name)), "has"))))
    return _united(pieces)


def _fold(expr: Expr, scope: _Scope) -> list[_Case]:
    """A comprehension: a macro over a literal list or over the elements of a value, else an opaque term."""
    assert expr.over is not None
    macro = _macro(expr)
    if macro is None or macro[0] not in ("all", "exists", "exists_one"):
        return _merged((guard, _opaque_fold(expr, over, scope)) for guard, over in _cases(expr.over, scope))
    name, body = macro
    return [(TRUE, _united((g, _quantified(name, expr, body, over, scope)) for g, over in _cases(expr.over, scope)))]


def _quantified(name: str, expr: Expr, body: Expr, over: Term, scope: _Scope) -> Truth:
    if isinstance(over, Opaque) and over.name == "map" and not over.parts:
        over = Listing(())
    if isinstance(over, Listing):
        truths = tuple(_bodies(expr, body, over, scope))
        if name == "exists_one":
            return compared("==", Tally(0, truths), Const(1)) if truths else truth_of(Const(value=False))
        return _all(truths) if name == "all" else negated(_all(map(negated, truths)))
    variable = _variable(scope)
    element = Ref((variable,), element_of(over.view if isinstance(over, Ref) else None))
    inner = _truth(body, {**scope, expr.variables[0]: element})
    if name == "exists_one":
        return opaque_truth(Opaque((over, inner), name))
    wanted = inner if name == "all" else negated(inner)
    if isinstance(over, Ref) and over.is_a("list", "map"):
        found = Truth(
            each(over.path, variable, wanted.true), opposite(each(over.path, variable, opposite(wanted.false)))
        )
    else:
        found = opaque_truth(Opaque((over, wanted), "all"))
    return found if name == "all" else negated(found)


def _bodies(expr: Expr, body: Expr, over: Listing, scope: _Scope) -> Iterator[Truth]:
    """The body for each item of a literal list."""
    for item in over.items:
        yield _truth(body, {**scope, expr.variables[0]: item})


def _opaque_fold(expr: Expr, over: Term, scope: _Scope) -> Term:
    variable = _variable(scope)
    element = Ref((variable,), element_of(over.view if isinstance(over, Ref) else None))
    first, second = expr.variables
    bound = {expr.accumulator: Ref((f"{variable}result",), None), first: element}
    if second:
        bound |= {first: Ref((f"{variable}index",), None), second: element}
    inner = {**scope, **bound}
    parts = (expr.initial, expr.condition, expr.step, expr.result)
    bodies = (_Body(tuple(_cases(part, inner))) for part in parts if part is not None)
    return Opaque((over, *bodies), "fold")


def _macro(expr: Expr) -> tuple[str, Expr] | None:
    """The name and the body of all, exists, exists_one or filter with one variable; None for other comprehensions."""
    initial, step, result = expr.initial, expr.step, expr.result
    if initial is None or step is None or result is None or step.kind != "call" or expr.variables[1]:
        return None
    if initial.kind == "const" and step.name == "_&&_" and initial.value is True:
        return "all", step.args[1]
    if initial.kind == "const" and step.name == "_||_" and initial.value is False:
        return "exists", step.args[1]
    if step.name != "_?_:_":
        return None
    grown = step.args[1].args[1:]
    if initial.kind == "const" and initial.value == 0 and result.kind == "call" and result.name == "_==_":
        return "exists_one", step.args[0]
    kept = grown[0].args[0] if grown and grown[0].kind == "list" and grown[0].args else None
    if initial.kind == "list" and kept is not None and (kept.kind, kept.name) == ("ident", expr.variables[0]):
        return "filter", step.args[0]
    return None


def _variable(scope: _Scope) -> str:
    """The name of the next variable: its depth, so that the names that a rule chooses do not matter."""
    roots = {term.path[0] for term in scope.values() if isinstance(term, Ref)}
    return f"#{sum(root.startswith('#') for root in roots)}"


def _combined(operands: Sequence[Expr], scope: _Scope, made: Callable[..., Term]) -> list[_Case]:
    """The cases of an operation on all combinations of its operands' cases."""
    return _merged((guard, made(*terms)) for guard, terms in _combinations(operands, scope))


def _decided(operands: Sequence[Expr], scope: _Scope, made: Callable[..., Truth]) -> list[_Case]:
    """As ``_combined``, of an operation with a boolean result."""
    return [(TRUE, _united((guard, made(*terms)) for guard, terms in _combinations(operands, scope)))]


def _combinations(operands: Sequence[Expr], scope: _Scope) -> Iterator[tuple[Formula, tuple[Term, ...]]]:
    found = [_cases(operand, scope) for operand in operands]
    if prod(map(len, found)) > _MAX_CASES:
        raise TooComplexError
    for combination in product(*found):
        yield every(*(guard for guard, _ in combination)), tuple(term for _, term in combination)


def _merged(found: Iterator[_Case] | Sequence[_Case]) -> list[_Case]:
    """The cases with each term once; those that never hold are dropped."""
    terms: dict[Term, list[Formula]] = {}
    for guard, term in found:
        if guard != FALSE:
            terms.setdefault(term, []).append(guard)
    return [(some(*guards), term) for term, guards in terms.items()]


def _united(pieces: Iterator[tuple[Formula, Truth]] | Sequence[tuple[Formula, Truth]]) -> Truth:
    """One boolean from the booleans of cases."""
    listed = list(pieces)
    return Truth(
        some(*(every(guard, truth.true) for guard, truth in listed)),
        some(*(every(guard, truth.false) for guard, truth in listed)),
    )


def _all(truths: Iterator[Truth] | Sequence[Truth]) -> Truth:
    """The conjunction as CEL has it: false if one is false, even if another is an error."""
    listed = list(truths)
    return Truth(every(*(truth.true for truth in listed)), some(*(truth.false for truth in listed)))
