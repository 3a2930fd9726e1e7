"""All cases of a string or number that limits and enums distinguish: one value per case decides what they allow."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from crdcompat.candidates.sample import number
from crdcompat.compare.limits import BOUNDS
from crdcompat.schema.structural import Node

_LENGTHS = ("minLength", "maxLength")
_MAX_LENGTH = 1_000
#: Keywords that distinguish no values of the type.
_NEUTRAL = frozenset({"type", "title", "description", "default", "nullable", "allOf", "anyOf", "oneOf", "not"})
_COVERED = {"string": {*_LENGTHS, "enum"}, "integer": {*BOUNDS, "enum"}, "number": {*BOUNDS, "enum"}}


def scalar_cases(writer: Node, reader: Node) -> list[Any] | None:
    """One value per case that two nodes and their junctors distinguish; None where other keywords distinguish values.

    The cases are those of the writer's type; values of another type are not written.
    """
    nodes = [*_with_branches(writer), *_with_branches(reader)]
    covered = _COVERED.get(writer.type)
    if covered is None or writer.int_or_string or any(node.raw.keys() - _NEUTRAL - covered for node in nodes):
        return None
    members = [member for node in nodes for member in node.enum if member is not None]
    if writer.type == "string":
        return _strings(nodes, [member for member in members if isinstance(member, str)])
    numbers = [member for member in members if number(member, math.inf) < math.inf]
    limits = (number(node.raw.get(keyword), 0) for node in nodes for keyword in BOUNDS[:2])
    edges = sorted({*numbers, *filter(math.isfinite, limits)})
    return [*numbers, *_numbers(edges, whole=writer.type == "integer")]


def _with_branches(node: Node) -> Iterator[Node]:
    yield node
    for branch in node.junctor_branches():
        yield from _with_branches(branch)


def _strings(nodes: list[Node], members: list[str]) -> list[str] | None:
    """The members, and another string of each length at and beside a limit."""
    limits = {node.count(keyword) or 0 for node in nodes for keyword in _LENGTHS}
    if max(limits) > _MAX_LENGTH:
        return None
    letter = next(letter for letter in map(chr, range(97, 0x10000)) if letter not in "".join(members))
    lengths = sorted({max(limit + step, 0) for limit in limits for step in (-1, 0, 1)})
    return [*members, *(letter * length for length in lengths)]


def _numbers(edges: list[float], *, whole: bool) -> Iterator[float]:
    """The edges, and numbers on both sides of each; a server compares an integer with the whole part of a bound."""
    for edge in edges:
        yield from (math.floor(edge) + step for step in (-1, 0, 1, 2))
    if not whole:
        yield from (edge for edge in edges if edge != int(edge))
        yield from (low + (high - low) / 2 for low, high in pairwise((edges[0] - 1, *edges, edges[-1] + 1)))
