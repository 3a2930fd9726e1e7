"""Read a rule: which values it uses, through the variables of its macros and its optionals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from crdcompat.cel.constants import constant
from crdcompat.cel.identifiers import unescape
from crdcompat.cel.macros import macro
from crdcompat.cel.rule import ITEM, ITEMS, PRESENCE, SIZE, VALUE, Pattern, Place, Rule, Use
from crdcompat.cel.syntax import Expr, Parsed

_MAX_RULES = 8192
_OLD = "oldSelf"
#: Functions and operators whose result is one of their operands, or an optional of it.
_NON_ZERO = frozenset({"ofNonZeroValue", "optional.ofNonZeroValue"})
_SAME = _NON_ZERO | {"dyn", "value", "orValue", "or", "of", "optional.of"}
_SAME_ITEMS = frozenset({"distinct", "reverse", "slice", "sort", "flatten"})
_ELEMENT = frozenset({"_[_]", "_[?_]", "_?._"})
_ORDER = frozenset({"_<_", "_<=_", "_>_", "_>=_"})
_SEARCHES = frozenset({"matches", "find", "findAll"})
_LETTERS = frozenset({"lowerAscii", "upperAscii"})
#: Functions whose result is a limit of a prefix in rules about networks.
_PREFIXES = frozenset({"prefixLength", "int"})

#: A place, and whether it is in the stored object.
_At = tuple[Place, bool]


class _Value(Struct, frozen=True):
    """What an expression denotes: values of the object, and the items of a list that the rule makes."""

    places: tuple[_At, ...] = ()
    items: tuple[_At, ...] = ()

    def member(self, name: str) -> _Value:
        return _Value(tuple(((*place, name), old) for place, old in self.places))

    def element(self) -> _Value:
        return _Value((*self.member(ITEM).places, *self.items))


_NONE = _Value()
_Scope = Mapping[str, _Value]


def rule_of(text: Any) -> Rule | None:
    """The rule of a text; None if it is no text that the CEL library parses."""
    return _read(text) if isinstance(text, str) and text.strip() else None


@lru_cache(maxsize=_MAX_RULES)
def _read(text: str) -> Rule | None:
    from crdcompat.cel.parse import RefusedError, parse  # it loads the CEL library

    try:
        return _named(parse(text))
    except (RefusedError, RecursionError):
        return None


def uses_old(text: Any) -> bool:
    """Whether a rule compares with the stored value: it is a transition rule."""
    rule = rule_of(text)
    return rule is not None and rule.uses_old


def _named(parsed: Parsed) -> Rule:
    """What a parsed rule names."""
    found = _Reader(parsed.offsets)
    found.visit(parsed.root, {}, VALUE)
    found.literals += list(found.computed())
    return Rule(
        tree=parsed.root,
        uses=_in_order(found.uses),
        literals=_in_order(found.literals, key=repr),
        calls=_in_order(found.calls),
        variables=_in_order(found.variables),
        patterns=_in_order(found.patterns),
        separators=_in_order(found.separators),
        limits=_in_order(found.limits),
        uses_old=found.uses_old,
    )


def _in_order(found: Iterable[tuple[int, Any]], key: Any = None) -> tuple[Any, ...]:
    """The things found, in the order of the text, each once."""
    ordered = [thing for _, thing in sorted(found, key=lambda each: each[0])]
    return tuple({(key(thing) if key else thing): thing for thing in ordered}.values())


class _Reader:
    """The things found in one tree, each with its offset in the text."""

    def __init__(self, offsets: Mapping[int, int]) -> None:
        self._offsets = offsets
        self._negated = False
        self.uses: list[tuple[int, Use]] = []
        self.literals: list[tuple[int, Any]] = []
        self.calls: list[tuple[int, str]] = []
        self.variables: list[tuple[int, str]] = []
        self.patterns: list[tuple[int, Pattern]] = []
        self.separators: list[tuple[int, str]] = []
        self.limits: list[tuple[int, int]] = []
        self.uses_old = False
        #: Texts that the rule adds to others, and whether before them.
        self._affixes: list[tuple[Any, bool]] = []

    def computed(self) -> Iterator[tuple[int, Any]]:
        """The values of which the rule makes its literals: without what it adds, in other letters, negated."""
        texts = [(at, text) for at, text in self.literals if isinstance(text, str)]
        for affix, before in self._affixes:
            cut = str.removeprefix if before else str.removesuffix
            yield from ((at, cut(text, affix)) for at, text in texts if isinstance(affix, str) and text != affix)
        called = {name for _, name in self.calls}
        if called & _LETTERS:
            yield from ((at, text.swapcase()) for at, text in texts)
        if "-_" in called:
            yield from ((at, -number) for at, number in self.literals if type(number) is int)

    def visit(self, expr: Expr, scope: _Scope, how: str) -> None:
        """Read an expression whose value the rule uses."""
        self._use(expr, self._denoted(expr, scope), how)

    def _use(self, expr: Expr, value: _Value, how: str) -> None:
        at = self._at(expr)
        self.uses += [(at, Use(place, how, of_old=old)) for place, old in value.places]
        if how == VALUE:
            self.uses += [(at, Use(place, how, of_old=old)) for place, old in value.items]

    def _at(self, expr: Expr) -> int:
        return self._offsets.get(expr.id, 0)

    def _denoted(self, expr: Expr, scope: _Scope) -> _Value:
        match expr.kind:
            case "const":
                self.literals.append((self._at(expr), expr.value))
                return _NONE
            case "ident":
                return self._variable(expr, scope)
            case "select":
                assert expr.target is not None
                member = self._denoted(expr.target, scope).member(unescape(expr.name))
                if not expr.test_only:
                    return member
                self._use(expr, member, PRESENCE)
                return _NONE
            case "list":
                parts = [self._denoted(part, scope) for part in expr.args]
                for each in parts:  # a list in a list
                    self.uses += [(self._at(expr), Use(place, VALUE, of_old=old)) for place, old in each.items]
                return _Value(items=tuple(at for each in parts for at in each.places))
            case "call":
                return self._call(expr, scope)
            case "fold":
                return self._fold(expr, scope)
        for part in expr.parts():
            self.visit(part, scope, VALUE)
        return _NONE

    def _variable(self, expr: Expr, scope: _Scope) -> _Value:
        if expr.name in scope:
            return scope[expr.name]
        if expr.name == _OLD:
            self.uses_old = True
        return _Value((((), expr.name == _OLD),)) if expr.name in ("self", _OLD) else _NONE

    def _call(self, expr: Expr, scope: _Scope) -> _Value:
        name, args = expr.name, expr.args
        operands = [*([expr.target] if expr.target is not None else []), *args]
        self.calls.append((self._at(expr), name))
        if name in _ELEMENT:
            return self._element(expr, scope)
        if name == "_?_:_":
            self.visit(args[0], scope, VALUE)
            return _joined(self._denoted(arg, scope) for arg in args[1:])
        if name in _SAME:
            value = _joined(self._denoted(operand, scope) for operand in operands)
            if name in _NON_ZERO:  # whether there is an optional depends on the value
                self._use(expr, value, VALUE)
            return value
        if name in _SAME_ITEMS and operands:
            for operand in operands[1:]:
                self.visit(operand, scope, VALUE)
            return self._denoted(operands[0], scope)
        if name in ("first", "last") and len(operands) == 1:
            return self._denoted(operands[0], scope).element()
        if name == "!_":
            self._negated = not self._negated
            self.visit(args[0], scope, VALUE)
            self._negated = not self._negated
            return _NONE
        if name in _SEARCHES and len(operands) == 2:
            return self._search(expr, operands, scope)
        self._note(expr, operands)
        how = SIZE if name == "size" else PRESENCE if name == "hasValue" else VALUE
        for operand in operands:
            self.visit(operand, scope, how)
        return _NONE

    def _search(self, expr: Expr, operands: list[Expr], scope: _Scope) -> _Value:
        """A search for a pattern in a text, or in a part of one. A pattern is no value of a member."""
        searched, part = _part_of(operands[0])
        value, text = self._denoted(searched, scope), constant(operands[1])
        self._use(searched, value, VALUE)
        if not isinstance(text, str):
            self.visit(operands[1], scope, VALUE)
            return _NONE
        at = self._at(expr)
        self.patterns += [(at, Pattern(place, text, part, self._negated)) for place, _ in value.places]
        if part is not None:
            self.separators.append((at, part[0]))
        return _NONE

    def _element(self, expr: Expr, scope: _Scope) -> _Value:
        """A member or an item by its key."""
        held, key = expr.args
        if expr.name == "_?._" and isinstance(key.value, str):
            return self._denoted(held, scope).member(unescape(key.value))
        value = self._denoted(held, scope)
        self.visit(key, scope, VALUE)
        return value.member(key.value) if isinstance(key.value, str) else value.element()

    def _note(self, expr: Expr, operands: list[Expr]) -> None:
        """Note the separators, limits and computed texts of a call."""
        at = self._at(expr)
        if expr.name == "split" and len(operands) == 2 and isinstance(text := operands[1].value, str):
            self.separators.append((at, text))
        elif expr.name in _ORDER:
            for limit, other in (operands, reversed(operands)):
                prefix = other.kind == "ident" or (other.kind == "call" and other.name in _PREFIXES)
                if prefix and type(limit.value) is int:
                    self.limits.append((at, limit.value))
        elif (value := constant(expr)) is not None:
            self.literals.append((at, value))
        elif expr.name == "_+_" and len(operands) == 2:
            self._affixes += [(text, index == 0) for index, part in enumerate(operands) if (text := constant(part))]

    def _fold(self, expr: Expr, scope: _Scope) -> _Value:
        assert expr.over is not None and expr.initial is not None and expr.step is not None
        self.variables += [(self._at(expr), name) for name in expr.variables if name and name[0] not in "#@"]
        if expr.over.kind == "list" and not expr.over.args and expr.result is not None:  # a variable, as of optMap
            return self._denoted(expr.result, {**scope, expr.accumulator: self._denoted(expr.initial, scope)})
        over = self._denoted(expr.over, scope)
        self._use(expr.over, over, ITEMS)
        element, (first, second) = over.element(), expr.variables
        inner = {**scope, first: _NONE, expr.accumulator: _NONE, (second or first): element}
        of_macro = macro(expr)
        if of_macro is not None:
            self.visit(of_macro[1], inner, VALUE)
            return _Value(items=element.places) if of_macro[0] == "filter" else _NONE
        made = [part for part in expr.step.walk() if part.kind == "list"]
        if expr.initial.kind == "list" and len(made) == 1:  # ``map``, or with a condition ``filter`` and ``map``
            if expr.step.name == "_?_:_":
                self.visit(expr.step.args[0], inner, VALUE)
            return _Value(items=_joined(self._denoted(part, inner) for part in made[0].args).places)
        self.visit(expr.step, inner, VALUE)
        return _NONE


def _joined(values: Iterable[_Value]) -> _Value:
    known = tuple(values)
    places = dict.fromkeys(at for value in known for at in value.places)
    items = dict.fromkeys(at for value in known for at in value.items)
    return _Value(tuple(places), tuple(items))


def _part_of(expr: Expr) -> tuple[Expr, tuple[str, int] | None]:
    """The text that an expression takes a part of, and which part: ``x.split('@')[0]``; else itself and None."""
    if expr.kind == "call" and expr.name == "_[_]" and type(index := expr.args[1].value) is int:
        split = expr.args[0]
        if split.kind == "call" and split.name == "split" and split.target is not None and len(split.args) == 1:
            at = split.args[0].value
            if isinstance(at, str):
                return split.target, (at, index)
    return expr, None
