"""Values whose parts are terms of the solver: what a schema describes, with at most two items in a list or map."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import z3

from crdcompat.candidates.sample import sample
from crdcompat.schema.structural import ABSENT, Node

#: Items of a list and of a map: enough for one that breaks a rule beside one that does not.
ITEMS = 2
#: Nodes of a schema that are made symbols; the rest stay absent, or are samples where they are required.
MOST_NODES = 150
_SORTS = {"string": z3.String, "integer": z3.Int, "number": z3.Real, "boolean": z3.Bool}


class UntranslatedError(Exception):
    """A part of a schema or rule that the solver is not asked about."""


@dataclass(frozen=True)
class Entry:
    """A member of an object, an item of a list, or an entry of a map with the term of its key."""

    present: Any
    value: Value
    key: Any = None


@dataclass(frozen=True)
class Value:
    """A value: ``kind`` is a JSON type, ``map`` or ``fixed``; a scalar has a term, ``fixed`` the sample itself."""

    kind: str
    term: Any = None
    members: dict[str, Entry] = field(default_factory=dict)
    entries: tuple[Entry, ...] = ()

    @property
    def size(self) -> Any:
        """The number of items, entries or members."""
        parts = self.entries or tuple(self.members.values())
        return z3.Sum([z3.If(each.present, 1, 0) for each in parts]) if parts else z3.IntVal(0)


class Maker:
    """Makes the symbols of one value, and collects what holds for every value of this form."""

    def __init__(self) -> None:
        self.facts: list[Any] = []
        self._made = 0

    def value(self, node: Node, name: str) -> Value:
        """The symbols of a node; a sample where the node has no single type, or the schema is too large."""
        self._made += 1
        if node.type in _SORTS and not node.int_or_string:
            return Value(node.type, term=_SORTS[node.type](name))
        plain = self._made < MOST_NODES and not (node.preserve or node.embedded or node.int_or_string)
        if plain and node.type == "object" and node.properties:
            return self._object(node, name)
        if plain and node.type == "object" and isinstance(node.additional, Node):
            return Value("map", entries=self._entries(node.additional, name, keyed=True))
        if plain and node.type == "array" and node.items is not None:
            return Value("array", entries=self._entries(node.items, name, keyed=False))
        made = sample(node)
        if made is ABSENT:
            raise UntranslatedError("a value without a sample")
        return Value("fixed", term=made)

    def _object(self, node: Node, name: str) -> Value:
        members = {}
        for member, sub in node.properties.items():
            present = z3.Bool(f"{name}.{member}?")
            try:
                below = self.value(sub, f"{name}.{member}")
            except UntranslatedError:
                self.facts.append(z3.Not(present))
                continue
            if sub.default is not ABSENT:
                self.facts.append(present)  # the server sets the default of an absent member
            elif below.kind == "fixed" and member not in node.required:
                self.facts.append(z3.Not(present))
            members[member] = Entry(present, below)
        return Value("object", members=members)

    def _entries(self, node: Node, name: str, *, keyed: bool) -> tuple[Entry, ...]:
        present = [z3.Bool(f"{name}[{index}]?") for index in range(ITEMS)]
        self.facts += [z3.Implies(later, earlier) for earlier, later in pairwise(present)]
        keys = [z3.String(f"{name}[{index}]!") if keyed else None for index in range(ITEMS)]
        if keyed:
            self.facts.append(z3.Distinct(*keys))
            self.facts += [z3.InRe(key, z3.Plus(z3.Range("a", "z"))) for key in keys]
        return tuple(Entry(present[index], self.value(node, f"{name}[{index}]"), keys[index]) for index in range(ITEMS))


def concrete(model: z3.ModelRef, value: Value) -> Any:
    """The value that a model gives to the symbols."""

    def holds(term: Any) -> bool:
        return z3.is_true(model.eval(term, model_completion=True))

    if value.kind == "fixed":
        return value.term
    if value.kind == "object":
        return {name: concrete(model, each.value) for name, each in value.members.items() if holds(each.present)}
    if value.kind == "map":
        present = [each for each in value.entries if holds(each.present)]
        return {_scalar(model, each.key): concrete(model, each.value) for each in present}
    if value.kind == "array":
        return [concrete(model, each.value) for each in value.entries if holds(each.present)]
    return _scalar(model, value.term)


def _scalar(model: z3.ModelRef, term: Any) -> Any:
    found = model.eval(term, model_completion=True)
    if z3.is_string(found):
        return re.sub(r"\\u\{([0-9a-fA-F]+)\}", lambda match: chr(int(match[1], 16)), found.as_string())
    if z3.is_bool(found):
        return z3.is_true(found)
    if z3.is_int(found):
        return found.as_long()
    number = found.as_fraction()
    return int(number) if number.denominator == 1 else float(number)
