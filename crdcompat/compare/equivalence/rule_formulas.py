"""CEL rules as formulas, read from their syntax trees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, reduce

from crdcompat.apiserver.cel.library_format import LANGUAGES
from crdcompat.apiserver.cel.rule_programs import program
from crdcompat.apiserver.cel.views import View
from crdcompat.cel.parse import RefusedError
from crdcompat.cel.syntax import Expr, macro
from crdcompat.compare.equivalence import cases
from crdcompat.compare.equivalence.cases import Body, Case
from crdcompat.compare.equivalence.computed import view_of
from crdcompat.compare.equivalence.connectives import each, every, opposite
from crdcompat.compare.equivalence.formula import TRUE, Path, TooComplexError
from crdcompat.compare.equivalence.operators import (
    SEARCHES,
    added,
    compared,
    contained,
    negated,
    opaque_truth,
    searched,
    size_of,
)
from crdcompat.compare.equivalence.terms import ALL, Const, Listing, Opaque, Ref, Tally, Term, Truth, element_of
from crdcompat.schema.structural import Node

_SIGNS = {"_==_": "==", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}

#: The kind and the name of the expression before the name of a format.
_FORMAT = ("ident", "format")

#: Equations, and the function that gives the type of a value.
_EQUATIONS, _TYPE = ("_==_", "_!=_"), "type"
#: The types of scalars, by the kind of their view.
_TYPES = {"integer": "int", "number": "double", "string": "string", "boolean": "bool"}
#: The variable of the stored value, and the root of its paths.
OLD = "oldSelf"

_Scope = Mapping[str, Term]


@lru_cache(maxsize=1024)
def truth_of_rule(text: str, here: Path, node: Node, *, resource: bool) -> Truth | None:
    """When a rule of ``node`` at the value ``here`` is true, and when it is false; None if the rule cannot be read.

    ``here`` is known to have a value. The variable ``oldSelf`` is the stored value at the same place.
    ``resource``: the value is a whole resource.
    """
    view = View(node, resource=resource)
    scope = {"self": Ref(here, view), OLD: Ref((OLD, *here[1:]), view)}
    try:
        return _truth(program(text).tree, scope)
    except (RefusedError, RecursionError, TooComplexError):
        return None


def _truth(expr: Expr, scope: _Scope) -> Truth:
    return cases.united(_cases(expr, scope))


def _cases(expr: Expr, scope: _Scope) -> list[Case]:
    match expr.kind:
        case "const":
            return [(TRUE, Const(expr.value))]
        case "ident":
            return [(TRUE, scope.get(expr.name) or Opaque((), expr.name))]
        case "select":
            assert expr.target is not None
            found = _cases(expr.target, scope)
            return [(TRUE, cases.presence(found, expr.name))] if expr.test_only else cases.member(found, expr.name)
        case "list":
            return cases.literal([_cases(item, scope) for item in expr.args], lambda *parts: Listing(parts))
        case "map":
            return cases.literal([_cases(item, scope) for item in expr.args], lambda *parts: Opaque(parts, "map"))
        case "fold":
            return _fold(expr, scope)
    return _call(expr, scope)


def _call(expr: Expr, scope: _Scope) -> list[Case]:
    name, operands = expr.name, [*([expr.target] if expr.target is not None else []), *expr.args]
    if name == "!_":
        return [(TRUE, negated(_truth(operands[0], scope)))]
    if name == "_&&_":
        return [(TRUE, cases.both(_truth(operand, scope) for operand in operands))]
    if name == "_||_":
        return [(TRUE, negated(cases.both(negated(_truth(operand, scope)) for operand in operands)))]
    if name == "_?_:_":
        return _choice(operands, scope)
    if name in _EQUATIONS and _TYPE in (operands[0].name, operands[1].name) and (same := _same_type(operands, scope)):
        return [(TRUE, same if name == "_==_" else negated(same))]
    if name == "size" and len(operands) == 1 and (kept := _kept(operands[0], scope)) is not None:
        return kept
    if name == "_+_":
        operands = list(_summands(expr))
    found = [_cases(operand, scope) for operand in operands]
    try:
        special = _special(name, operands, found, scope)
        return special if special is not None else cases.combined(found, lambda *parts: Opaque(parts, name))
    except TooComplexError:
        return [(TRUE, Opaque(tuple(Body(tuple(each)) for each in found), name))]


def _same_type(operands: Sequence[Expr], scope: _Scope) -> Truth | None:
    """The truth of ``type(self) == int``; None for other equations, and where the type is not known."""
    of, named = operands if operands[0].name == _TYPE else operands[::-1]
    if of.kind != "call" or len(of.args) != 1 or named.kind != "ident" or named.name in scope:
        return None
    value = scope.get(of.args[0].name) if of.args[0].kind == "ident" else None
    known = [name for kind, name in _TYPES.items() if isinstance(value, Ref) and value.is_a(kind)]
    return compared("==", Const(known[0]), Const(named.name)) if known else None


def _summands(expr: Expr) -> Iterator[Expr]:
    """The operands of a sum of sums; ``+`` associates to the left."""
    if expr.kind == "call" and expr.name == "_+_":
        yield from _summands(expr.args[0])
        yield expr.args[1]
    else:
        yield expr


def _special(name: str, operands: Sequence[Expr], found: list[list[Case]], scope: _Scope) -> list[Case] | None:
    """The cases of an operation that is not opaque; None for the others."""
    key = operands[1].value if len(operands) == 2 and operands[1].kind == "const" else None
    match name:
        case "_!=_":
            return cases.decided(found, lambda left, right: negated(compared("==", left, right)))
        case "@in":
            return cases.decided(found, lambda item, holder: contained(item, holder, _variable(scope)))
        case "size" if len(found) == 1:
            return cases.combined(found, size_of)
        case "_+_":
            return cases.combined(found, lambda *parts: reduce(added, parts))
        case "dyn":
            return found[0]
        case "validate" if (language := _format(operands[0])) is not None:
            return cases.validated(found[1], *language)
        case "hasValue" | "value" | "orValue" | "or":
            return cases.unwrapped(name, found[0], lambda: found[1])
        case "_?._" if isinstance(key, str):
            return cases.optional_member(found[0], key)
        case "_[_]" if isinstance(key, str):
            return cases.element(found[0], key)
        case "_[?_]" if isinstance(key, str):
            return cases.optional_element(found[0], key)
    if name in _SIGNS:
        return cases.decided(found, lambda left, right: compared(_SIGNS[name], left, right))
    if name in SEARCHES and len(found) == 2:
        return cases.decided(found, lambda term, wanted: searched(name, term, wanted))
    return None


def _format(expr: Expr) -> tuple[str, int] | None:
    """The pattern and the greatest length of a format such as ``format.dns1123Label()``; None for others."""
    is_format = expr.kind == "call" and expr.target is not None and (expr.target.kind, expr.target.name) == _FORMAT
    return LANGUAGES.get(expr.name) if is_format else None


def _choice(operands: Sequence[Expr], scope: _Scope) -> list[Case]:
    """``condition ? one : other``; of 1 and 0 a tally."""
    condition, one, other = _truth(operands[0], scope), _cases(operands[1], scope), _cases(operands[2], scope)
    for counted, first, second in ((condition, one, other), (negated(condition), other, one)):
        if first == [(TRUE, Const(1))] and second == [(TRUE, Const(0))]:
            return [(TRUE, Tally(0, (counted,)))]
    return cases.merged(
        (every(when, inner), term)
        for when, found in ((condition.true, one), (condition.false, other))
        for inner, term in found
    )


def _kept(operand: Expr, scope: _Scope) -> list[Case] | None:
    """The size of a filtered list literal, or of a list of at most one item; None for other expressions."""
    of_macro = macro(operand)
    if of_macro is None or of_macro[0] != "filter" or operand.over is None:
        return None
    found: list[Case] = []
    for condition, over in _run_over(operand.over, scope):
        if isinstance(over, Listing):
            counted = tuple(_bodies(operand, of_macro[1], over, scope))
        elif _is_short(over):
            counted = (_quantified("exists", of_macro[1], operand, over, scope),)
        else:
            return None
        found.append((condition, Tally(0, counted)))
    return cases.merged(found)


def _fold(expr: Expr, scope: _Scope) -> list[Case]:
    """A comprehension: a macro over a literal list or over the elements of a value, else an opaque term."""
    assert expr.over is not None
    found, of_macro = _run_over(expr.over, scope), macro(expr)
    if of_macro is None:
        return cases.combined([found], lambda over: _opaque_fold(expr, over, scope))
    if of_macro[0] == "filter":
        return cases.combined([found], lambda over: _selected(*of_macro, expr, over, scope))
    return cases.decided([found], lambda over: _quantified(*of_macro, expr, over, scope))


def _quantified(name: str, body: Expr, expr: Expr, over: Term, scope: _Scope) -> Truth:
    """``all``, ``exists`` or ``exists_one``."""
    if isinstance(over, Opaque) and over.name == "map" and not over.parts:
        over = Listing(())
    if isinstance(over, Listing):
        truths = tuple(_bodies(expr, body, over, scope))
        if name == "exists_one":
            return compared("==", Tally(0, truths), Const(1))
        return cases.both(truths) if name == "all" else negated(cases.both(map(negated, truths)))
    short, one = _is_short(over), _one_of(over)
    if short and one in scope:  # inside of a macro over the same list: there is an item, the same one
        return _truth(body, {**scope, expr.variables[0]: scope[one]})
    variable = _variable(scope)
    if name == "exists_one" and not short:
        return opaque_truth(_selected(name, body, expr, over, scope))
    element = _element(over, variable)
    inner = _truth(body, {**scope, expr.variables[0]: element, **({one: element} if short else {})})
    wanted = inner if name == "all" else negated(inner)
    found = opaque_truth(Opaque((over, Const(variable), wanted), ALL))
    if isinstance(over, Ref) and over.is_a("list", "map"):
        fails = opposite(each(over.path, variable, opposite(wanted.false)))
        found = Truth(each(over.path, variable, wanted.true), fails)
    return found if name == "all" else negated(found)


def _selected(name: str, body: Expr, expr: Expr, over: Term, scope: _Scope) -> Opaque:
    """``filter`` or ``exists_one``: the list, the name of the variable, and the truth of the body."""
    variable = _variable(scope)
    return Opaque((over, Const(variable), _truth(body, {**scope, expr.variables[0]: _element(over, variable)})), name)


def _run_over(expr: Expr, scope: _Scope) -> list[Case]:
    """The cases of what a macro runs over. A short list over which a macro around it runs is there."""
    found = _cases(expr, scope)
    return next(([(TRUE, over)] for _, over in found if _one_of(over) in scope), found)


def _is_short(over: Term) -> bool:
    """Whether a value is a list of at most one item, so that its macros are all about the same item."""
    most = over.view.node.count("maxItems") if isinstance(over, Ref) and over.is_a("list") and over.view else None
    return most is not None and most <= 1


def _one_of(over: Term) -> str:
    """The name in a scope of the one item of a short list; rules cannot have such a name."""
    return f"[{over.text}]"


def _bodies(expr: Expr, body: Expr, over: Listing, scope: _Scope) -> Iterator[Truth]:
    """The body for each item of a literal list."""
    for item in over.items:
        yield _truth(body, {**scope, expr.variables[0]: item})


def _opaque_fold(expr: Expr, over: Term, scope: _Scope) -> Term:
    variable = _variable(scope)
    first, second = expr.variables
    inner: dict[str, Term] = {**scope, expr.accumulator: Ref((f"{variable}result",), None)}
    if second:
        inner[first] = Ref((f"{variable}index",), None)
    inner[second or first] = _element(over, variable)
    parts = (expr.initial, expr.condition, expr.step, expr.result)
    bodies = (Body(tuple(_cases(part, inner))) for part in parts if part is not None)
    return Opaque((over, *bodies), "fold")


def _variable(scope: _Scope) -> str:
    """The name of the next variable: its depth below lists, so that the names that a rule chooses do not matter."""
    roots = {term.path[0] for term in scope.values() if isinstance(term, Ref)}
    depths = [int(root[1:]) + 1 for root in roots if root.startswith("#") and root[1:].isdigit()]
    return f"#{max(depths, default=0)}"


def _element(over: Term, variable: str) -> Ref:
    return Ref((variable,), element_of(view_of(over)))
