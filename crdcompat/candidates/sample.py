"""Construct small values that a schema accepts, the plainest first.

The values are candidates: callers have to judge junctors and CEL rules. ABSENT as a result means that no value was
found, not that none exists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from crdcompat.candidates.plausible import plausible_integers
from crdcompat.candidates.strings import string_limits, strings
from crdcompat.schema.listed_values import enum_members, member_key
from crdcompat.schema.paths import ITEM, VALUE, Pointer, SchemaPath
from crdcompat.schema.structural import ABSENT, MAX_SIZE, Node
from crdcompat.schema.work import WORK

#: What making a required member costs.
_STEPS_OF_A_MEMBER = 6
_MAX_DEPTH = 40
#: Nodes whose first string is kept.
_MAX_NODES = 4096
#: The types of the nodes that a value may be of.
_TYPES: dict[type, tuple[str, ...]] = {str: ("string",), bool: ("boolean",), int: ("integer", "number")}
_TYPES |= {float: ("number",), list: ("array",), dict: ("object",)}
#: So many items are too large only if each of them is.
_FEW = 8
_MAX_ITEMS = 10_001  # one more than a round limit
MAX_WEIGHT = 1_000_000
"""About the bytes of JSON of the largest example value; etcd stores objects of up to 1.5 MB."""


def sample(node: Node, *, depth: int = 0) -> Any:
    """A minimal value for ``node``, with required members only; ABSENT if none is found."""
    if depth > _MAX_DEPTH:
        return ABSENT
    if node.default is not ABSENT and not node.enum and isinstance(node.default, (str, int, float, bool)):
        return node.default
    return _first_string(node) if node.type == "string" else next(values(node, depth=depth), ABSENT)


@lru_cache(maxsize=_MAX_NODES)
def _first_string(node: Node) -> Any:
    """The first of the values; each proof makes the required members beside the field that it is about."""
    return next(values(node), ABSENT)


def values(node: Node, *, depth: int = 0) -> Iterator[Any]:
    """Candidate values for ``node``, plainest first."""
    members = enum_members(node)
    if members is not None:
        yield from sorted((member for member in members if member is not None), key=lambda member: member == "")
        return
    kind = node.type or ("object" if node.properties else "")
    if node.int_or_string:
        yield from integers(node)
        yield from strings(node)
    elif kind == "string":
        yield from strings(node)
    elif kind == "integer":
        yield from integers(node)
    elif kind == "number":
        yield from integers(node)
        yield 0.5
    elif kind == "boolean":
        yield from (True, False)
    elif kind == "array":
        made = _array(node, depth)
        if made is not ABSENT:
            yield made
    elif kind == "object":
        made = _object(node, depth)
        if made is not ABSENT:
            yield made
    else:
        yield from ("a", 1, True, {})


def is_of_type(value: Any, node: Node) -> bool:
    """Whether a value is of the type of a node itself."""
    return node.type in _TYPES.get(type(value), ()) or (node.int_or_string and type(value) in (int, str))


def list_of_size(node: Node, size: int) -> Any:
    """A list of exactly ``size`` items, distinct if the list type requires it; ABSENT if none is found."""
    if size > _MAX_ITEMS or (node.items is not None and size * node.items.least_size >= MAX_SIZE):
        return ABSENT
    if node.items is None:
        return ["a"] * size if node.preserve else ABSENT
    if size == 0:
        return []
    if size > _FEW and size * weight(sample(node.items)) > MAX_WEIGHT:
        return ABSENT
    if node.list_type == "map":
        return _keyed_items(node, size, 0)
    made: list[Any] = []
    for candidate in values(node.items):
        if candidate not in made:
            made.append(candidate)
        if len(made) == size:
            return made
    if node.list_type == "atomic" and made:
        return (made * size)[:size]
    more = _numbered(node.items, size)
    return more if more is not None else ABSENT


def weight(value: Any) -> int:
    """About how many bytes of JSON a value has."""
    if isinstance(value, str):
        return len(value) + 3
    if isinstance(value, dict):
        return 2 + sum(len(name) + 4 + weight(member) for name, member in value.items())
    return 2 + sum(map(weight, value)) if isinstance(value, list) else 5


def unlike(node: Node, wanted: int) -> list[Any]:
    """``wanted`` different values of a node; fewer if they are not found."""
    # Formats and rules accept an empty text least often.
    made = sorted(islice(values(node), wanted + 1), key=lambda value: value == "")
    found = list({member_key(value): value for value in made}.values())
    if len(found) < wanted:
        found = _numbered(node, wanted) or []
    return found[:wanted]


def _numbered(node: Node, size: int) -> list[Any] | None:
    """``size`` distinct strings or integers, if only a length or a minimum restricts them; else None."""
    if node.type == "integer" and not node.raw.keys() & {"enum", "multipleOf", "maximum"}:
        start = int(max(number(node.raw.get("minimum"), 0), 0))
        return list(range(start, start + size))
    least, most, patterns = string_limits(node)
    if size * least > MAX_WEIGHT:
        return None
    texts = [f"{index:x}".rjust(max(least, 1), "a") for index in range(size)]
    free = node.type == "string" and not node.enum and not patterns and not node.format
    return texts if free and (most is None or all(len(text) <= most for text in texts)) else None


def object_of_size(node: Node, size: int) -> Any:
    """An object with exactly ``size`` members after defaulting; ABSENT if none is found."""
    defaulted = set(node.defaulted)
    members = {name: member.raw for name, member in node.properties.items() if name not in defaulted}
    needed = [name for name in node.required if name not in defaulted]
    wanted = size - len(defaulted)
    if not 0 <= wanted <= _MAX_ITEMS:
        return ABSENT
    made = _object(Node({**node.raw, "properties": members, "required": needed, "minProperties": wanted}), 0)
    return made if isinstance(made, dict) and len(made) == wanted else ABSENT


def _array(node: Node, depth: int) -> Any:
    wanted = max(node.count("minItems") or 0, 0)
    return list_of_size(node, wanted) if depth < _MAX_DEPTH else ABSENT


def _keyed_items(node: Node, wanted: int, depth: int) -> Any:
    """Items of a list of type map: one minimal item repeated, with a distinct value of one key each; else ABSENT."""
    assert node.items is not None
    item = sample(node.items, depth=depth + 1)
    if not isinstance(item, dict):
        return ABSENT
    for key in node.list_keys:
        sub = node.items.properties.get(key)
        if sub is None:
            continue
        found = unlike(sub, wanted)
        if len(found) == wanted:
            return [{**item, key: value} for value in found]
    return [item] if wanted == 1 else ABSENT


def _object(node: Node, depth: int, holding: str = "") -> Any:
    """A minimal object; ``holding`` is a member that it gets later, which counts as one of its members."""
    if node.least_size == MAX_SIZE:
        return ABSENT
    WORK.spend(1 + _STEPS_OF_A_MEMBER * len(node.required))
    made: dict[str, Any] = {}
    room = MAX_WEIGHT
    wanted = (node.count("minProperties") or 0) - bool(holding)
    if node.embedded:
        made.update(apiVersion="v1", kind="Example")
    for name in node.required:
        sub = node.child(name)
        if name in made or name == holding or (sub is not None and sub.default is not ABSENT):
            continue  # the server sets the default
        value = sample(sub, depth=depth + 1) if sub is not None else ("a" if node.preserve else ABSENT)
        if value is ABSENT or (room := room - weight(value)) < 0:
            return ABSENT
        made[name] = value
    for name, sub in node.properties.items():
        if len(made) >= wanted:
            break
        if name not in made and name != holding and (value := sample(sub, depth=depth + 1)) is not ABSENT:
            made[name] = value
            if (room := room - weight(value)) < 0:
                return ABSENT
    if isinstance(node.additional, Node):
        for index in range(len(made), min(wanted, _MAX_ITEMS)):
            if (value := sample(node.additional, depth=depth + 1)) is ABSENT or (room := room - weight(value)) < 0:
                return ABSENT
            made[f"key{index}"] = value
    elif node.preserve or node.additional is True:
        made.update(
            (f"key{index}", "a") for index in range(len(made), min(node.count("minProperties") or 0, _MAX_ITEMS))
        )
    return made


def around(root: Node, path: SchemaPath, value: Any) -> Any:
    """A minimal value of ``root`` with ``value`` at ``path`` (first item, map key ``key``); ABSENT if none is found."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    if step is ITEM:
        inner = around(root.items, rest, value) if root.items is not None else ABSENT
        if inner is ABSENT:
            return ABSENT
        filled = _array(root, 0)
        more = filled[1:] if isinstance(filled, list) and filled else []
        return [inner, *more]
    if step is VALUE:
        sub, name = (root.additional if isinstance(root.additional, Node) else None), "key"
    else:
        sub, name = root.members.get(str(step)), str(step)
    base = _object(root, 0, holding=name)
    if base is ABSENT:
        base = {}  # perhaps a rule or a junctor allows the object without the member that could not be made
    if sub is None and root.preserve and step is not VALUE:
        inner = ABSENT if rest else value  # undeclared fields may have any value
    else:
        inner = around(sub, rest, value) if sub is not None else ABSENT
    return ABSENT if inner is ABSENT else {**base, name: inner}


def concrete(path: SchemaPath) -> Pointer:
    """The pointer at which ``around`` puts the value: the first item, the map key ``key``."""
    return tuple(0 if step is ITEM else "key" if step is VALUE else str(step) for step in path)


def number(value: Any, otherwise: float) -> float:
    """The value of a numeric keyword, or ``otherwise`` if it is no number (true is none)."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise


def whole_number(value: float) -> float | int:
    """A whole number as a server decodes it: a float64 where no int64 holds it."""
    whole = int(value)
    return whole if -(1 << 63) <= whole < 1 << 63 else float(whole)


def integers(node: Node) -> Iterator[float | int]:
    """Whole numbers within the bounds and multipleOf of ``node``: plausible ones, near 0 and 1, near the bounds."""
    low, high = number(node.raw.get("minimum"), -math.inf), number(node.raw.get("maximum"), math.inf)
    step = number(node.raw.get("multipleOf"), 1) or 1
    low += 1 if node.raw.get("exclusiveMinimum") is True else 0
    high -= 1 if node.raw.get("exclusiveMaximum") is True else 0
    for start in (*plausible_integers(node), 0, 1, low, high):
        if not math.isfinite(start):
            continue
        value = _next_multiple(start, step)
        value = value - step if value > high else value
        if low <= value <= high and math.isfinite(value):
            yield whole_number(value)


def _next_multiple(start: float, step: float) -> float:
    """The first multiple of ``step`` from ``start`` on; NaN on overflow or underflow."""
    try:
        return math.ceil(start / step) * step
    except (OverflowError, ValueError):
        return math.nan


def numbers_between(low: float, high: float, node: Node, *, whole: bool) -> Iterator[float | int]:
    """Numbers of ``node`` from ``low`` to ``high``, the ends and their neighbours first."""
    step = number(node.raw.get("multipleOf"), 1) or 1
    for start in (low, low + step, high - step, high, (low + high) / 2):
        value = _next_multiple(start, step)
        if low <= value <= high and math.isfinite(value):
            yield whole_number(value) if whole or value == int(value) else value
    if not whole:
        yield from (low + (high - low) / 2, low + 0.5)
