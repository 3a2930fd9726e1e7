"""Random objects of real schemas, of which most are valid, with values around a place of which they hold something."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from helpers import Json

from crdcompat.candidates.sample import sample, values
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath
from crdcompat.schema.structural import ABSENT, Node

_RULES = "x-kubernetes-validations"
_TEXTS = (
    "a", "", "A", "Other", "other", "ab", "a-b", "Zz9", "x" * 63, "x" * 64, "10.0.0.1", "10.0.0.0/8", "fd00::1", "1h",
    "2006-01-02T15:04:05Z", "11111111-2222-3333-4444-555555555555", "https://example.com", "example.com", "100Mi",
    "True", "5",
)  # fmt: skip
_NUMBERS = (0, 1, 2, 3, 4, 5, -1, 63, 64, 80, 443, 65535, 4711)
_FREE = ("a", 1, True, {}, ["a"], {"a": "b"})
_LITERAL = re.compile(r"'([^'\\]*)'|\"([^\"\\]*)\"|(?<![\w.])(\d{1,6})(?![\w.])")


class Sampler:
    """Draws objects of ``schema`` that hold something at ``place``. ``other`` is the schema that is to read them."""

    def __init__(self, schema: Json, other: Json, group_version: str, kind: str, rng: random.Random) -> None:
        self._root, self._other = Node(schema), Node(other)
        self._identity = {"apiVersion": group_version, "kind": kind}
        self._rng = rng

    def objects(self, place: SchemaPath, count: int) -> Iterator[Json]:
        for index in range(count):
            rich = 0.0 if index % 3 == 0 else self._rng.choice((0.1, 0.5))
            body = self._value(self._root, self._other, place, rich, 0)
            if isinstance(body, dict):
                yield {**body, **self._identity, "metadata": {"name": f"a{index}", "namespace": "b"}}

    def _value(self, node: Node, other: Node | None, path: SchemaPath, rich: float, depth: int) -> Any:
        """A value of ``node`` that holds something at ``path``; the chance of optional members grows with ``rich``."""
        rng = self._rng
        if not path or (isinstance(path[0], str) and path[0] not in node.properties):
            return self._leaf(node, other)
        step, rest = path[0], path[1:]
        if step is ITEM:
            below = node.items
            if below is None:
                return ABSENT
            theirs = other.items if other is not None else None
            size = max(node.count("minItems") or 0, rng.choice((1, 1, 2)))
            return [self._value(below, theirs, rest, rich, depth + 1) for _ in range(size)]
        if step is VALUE:
            below = node.additional if isinstance(node.additional, Node) else None
            if below is None:
                return ABSENT
            theirs = other.additional if other is not None and isinstance(other.additional, Node) else None
            return {
                name: self._value(below, theirs, rest, rich, depth + 1)
                for name in rng.sample("abc", rng.choice((1, 2)))
            }
        made = self._members(node, rich, depth, but=str(step))
        theirs = other.properties.get(str(step)) if other is not None else None
        made[str(step)] = self._value(node.properties[str(step)], theirs, rest, rich, depth + 1)
        return {name: value for name, value in made.items() if value is not ABSENT}

    def _members(self, node: Node, rich: float, depth: int, but: str = "") -> Json:
        made: Json = {}
        for name, member in node.properties.items():
            if name == but or (depth == 0 and name in ("apiVersion", "kind", "metadata")):
                continue
            if name in node.required or self._rng.random() < rich / (depth + 1):
                made[name] = sample(member) if rich == 0 else self._leaf(member, None)
        for name in node.required:
            if name not in node.properties:
                made[name] = "a"
        return {name: value for name, value in made.items() if value is not ABSENT}

    def _leaf(self, node: Node, other: Node | None, depth: int = 0) -> Any:
        """A value of a node, often near what one of the two schemas demands."""
        rng = self._rng
        if node.nullable and rng.random() < 0.1:
            return None
        if rng.random() < 0.2 and (made := sample(node)) is not ABSENT:
            return made
        kind = node.type or ("object" if node.properties else "")
        if kind == "array" and node.items is not None and depth < 4:
            theirs = other.items if other is not None else None
            limits = [
                limit + by
                for each in (node, other)
                if each is not None
                for keyword in ("minItems", "maxItems")
                if (limit := each.count(keyword)) is not None and limit < 20
                for by in (-1, 0, 1)
            ]
            size = max(0, rng.choice((0, 1, 2, *limits)))
            made = [self._leaf(node.items, theirs, depth + 1) for _ in range(size)]
            return made + made[:1] if rng.random() < 0.2 else made
        if kind == "object" and depth < 4:
            return self._object(node, other, depth)
        pool = list(self._scalars(node, other))
        return rng.choice(pool) if pool else ABSENT

    def _object(self, node: Node, other: Node | None, depth: int) -> Any:
        rng = self._rng
        chance, made = rng.choice((0.0, 0.3, 0.7)), {}
        for name, member in node.properties.items():
            if name in node.required or rng.random() < chance:
                theirs = other.properties.get(name) if other is not None else None
                made[name] = self._leaf(member, theirs, depth + 1)
        if isinstance(node.additional, Node):
            made |= {
                name: self._leaf(node.additional, None, depth + 1) for name in rng.sample("abc", rng.choice((0, 1, 2)))
            }
        elif node.preserve and rng.random() < 0.7:
            unknown = [name for name in (other.properties if other is not None else ()) if name not in node.properties]
            made[rng.choice((*unknown, "a", "z"))] = rng.choice(_FREE)
        if node.embedded:
            made |= {"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}}
        return {name: value for name, value in made.items() if value is not ABSENT}

    def _scalars(self, node: Node, other: Node | None) -> Iterator[Any]:
        yield from islice(values(node), 8)
        for each in (node, other):
            if each is None:
                continue
            yield from each.enum
            yield from islice(values(each), 4)
            for keyword in ("minimum", "maximum"):
                if isinstance(limit := each.raw.get(keyword), (int, float)):
                    yield from (limit - 1, limit, limit + 1)
            for keyword in ("minLength", "maxLength"):
                if (length := each.count(keyword)) is not None and length < 300:
                    yield from ("a" * max(0, length + by) for by in (-1, 0, 1))
            for rule in each.rules:
                for single, double, number in _LITERAL.findall(str(rule.get("rule", ""))):
                    yield int(number) if number else single or double
        if node.type == "string":
            yield from _TEXTS
        elif node.type in ("integer", "number"):
            yield from _NUMBERS
        elif node.type == "boolean":
            yield from (True, False)
        elif node.int_or_string:
            yield from (*_TEXTS[:8], *_NUMBERS[:8])
        else:
            yield from _FREE
