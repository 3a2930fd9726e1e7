"""Small values that a schema accepts, made by construction.

What this makes is a proposal: junctors and CEL rules are looked at only by whoever judges it. ``None`` as an
answer means that no value was found, never that there is none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.schema.paths import ITEM, VALUE, SchemaPath
from crdcompat.schema.re2 import Pattern, PatternError, compile_pattern
from crdcompat.schema.structural import ABSENT, Node

#: Texts that between them satisfy most patterns and formats met in CRDs; the shortest and plainest first.
POOL = (
    "a", "A", "x", "0", "1", "", "aa", "a1", "a.b", "a-b", "a/b", "A_B", "example", "Example", "example.com",
    "*.example.com", "a.example.com", "https://example.com", "https://example.com/", "http://example.com:8080/",
    "oci://example.com/a", "user@example.com", "10.0.0.1", "10.0.0.0/8", "10.0.0.0/16", "10.128.0.0/14",
    "192.168.0.0/24", "fd00::1", "fd00::/64", "fd00::/48", "::1", "2001:db8::/32", "2006-01-02T15:04:05Z",
    "2006-01-02", "1s", "1h", "1m0s", "24h", "5m", "0s", "P1D", "1.2.3", "v1.2.3", "v1", "v1alpha1", "4.14.0",
    "1Gi", "100m", "50%", "80", "8080", "443", "* * * * *", "0 * * * *", "@daily", "YQ==",
    "00000000-0000-0000-0000-000000000000", "11111111-2222-3333-4444-555555555555", "00:00:00:00:00:00",
    "0a:0b:0c:0d:0e:0f", "#ffffff", "arn:aws:iam::123456789012:role/a", "us-east-1", "us-east-1a", "vpc-1234",
    "ami-1234", "sha256:" + "a" * 64, "example.com/a@sha256:" + "a" * 64, "a" * 64, "/a", "/a/b", "/", "a:b",
    "a=b", "key", "Ready", "example.com/name", "64:ff9b:1:2:3:4:1.2.3.4", "0000", "1.1", "0.0.0.0/0", "0:0", "1:1",
    "1-2", "a@b", "kube-system", "rule-a", "TLSv1.2",
)  # fmt: skip

_DEPTH = 40
_MATCHES = re.compile(r"self\.matches\([\"']((?:[^\"'\\]|\\\\)*)[\"']\)")
#: Texts longer than this are not made; members of a pattern's language are asked for so many at a time.
_LONGEST, _MEMBERS = 100_000, 8
_MOST_ITEMS = 2_000


def sample(node: Node, *, depth: int = 0) -> Any:
    """A minimal value for ``node``: only what is required; ABSENT where none could be made."""
    if depth > _DEPTH:
        return ABSENT
    if node.default is not ABSENT and not node.enum and isinstance(node.default, (str, int, float, bool)):
        return node.default
    return next(values(node, depth=depth), ABSENT)


def values(node: Node, *, depth: int = 0) -> Iterator[Any]:
    """Candidate values for ``node``, plainest first."""
    members = enum_members(node)
    if members is not None:
        yield from (member for member in members if member is not None)
        return
    kind = node.type or ("object" if node.properties else "")
    if node.int_or_string:
        yield from _integers(node)
        yield from _strings(node)
    elif kind == "string":
        yield from _strings(node)
    elif kind == "integer":
        yield from _integers(node)
    elif kind == "number":
        yield from _integers(node)
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


def enum_members(node: Node, *, rules: bool = True) -> tuple[Any, ...] | None:
    """The finite set of values that ``node`` allows by its enum, its junctors' and rules that are lists, else None.

    An allOf enum intersects; anyOf and oneOf restrict only if every branch is finite, to their union. The
    set is never too small: it may hold values that other keywords or rules forbid. ``rules``: lists in CEL count.
    """
    sets = [*([node.enum] if node.enum else []), *(values for _, values in node.listed if rules)]
    sets.extend(found for branch in node.all_of if (found := enum_members(branch)) is not None)
    for branches in (node.any_of, node.one_of):
        found_all = [enum_members(branch) for branch in branches]
        if branches and all(found is not None for found in found_all):
            sets.append(tuple(member for found in found_all if found is not None for member in found))
    if not sets:
        return None
    first, *others = sets
    kept: dict[tuple[str, str], Any] = {}
    for member in first:
        if all(any(member_key(member) == member_key(candidate) for candidate in other) for other in others):
            kept.setdefault(member_key(member), member)
    return tuple(kept.values())


def member_key(value: Any) -> tuple[str, str]:
    """What makes two enum members the same value."""
    # repr tells 1 from true and "1"; 1 and 1.0 are one number to the schema.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return type(value).__name__, repr(value)


def _strings(node: Node) -> Iterator[str]:
    """Plain texts that fit, then the shortest members of the pattern's language."""
    least, most, patterns = string_limits(node)
    compiled = [compile_pattern(pattern) for pattern in patterns]
    if any(isinstance(each, PatternError) for each in compiled) or least > _LONGEST:
        return
    preferred = _BY_FORMAT.get(node.format.replace("-", ""), ())
    seen: set[str] = set()
    for hint in _rule_patterns(node):
        seen.update(_members((*patterns, hint), min_length=least, max_length=most, limit=4))
    yield from sorted(seen, key=lambda text: (len(text), text))
    for text in preferred or POOL:
        padded = (text, text * math.ceil(least / len(text)) if text else "", text.ljust(least, "a"))
        for candidate in dict.fromkeys(padded):
            fits = least <= len(candidate) <= (math.inf if most is None else most)
            if (
                candidate not in seen
                and fits
                and all(isinstance(each, Pattern) and each.search(candidate) for each in compiled)
            ):
                seen.add(candidate)
                yield candidate
    if patterns:
        found = _members(patterns, min_length=least, max_length=most, limit=_MEMBERS)
        yield from (text for text in found if text not in seen)


def _members(patterns: tuple[str, ...], *, min_length: int, max_length: int | None, limit: int) -> Iterator[str]:
    from crdcompat.schema.regex import members  # automata are seldom needed, and cost time to import

    return members(patterns, min_length=min_length, max_length=max_length, limit=limit)


def _rule_patterns(node: Node) -> Iterator[str]:
    """Patterns that CEL rules on the string itself demand: ``self.matches('…')``."""
    for rule in node.rules:
        found = _MATCHES.fullmatch(str(rule.get("rule", "")).strip())
        if found:
            yield found[1].replace("\\\\", "\\")


def string_limits(node: Node) -> tuple[int, int | None, tuple[str, ...]]:
    """Least and greatest length, and the patterns, of a string node and its allOf branches together."""
    least, most, patterns = 0, None, []
    for holder in (node, *node.all_of):
        least = max(least, holder.count("minLength") or 0)
        limit = holder.count("maxLength")
        most = limit if most is None or (limit is not None and limit < most) else most
        if isinstance(holder.raw.get("pattern"), str):
            patterns.append(holder.raw["pattern"])
    return least, most, tuple(patterns)


_BY_FORMAT: dict[str, tuple[str, ...]] = {
    "datetime": ("2006-01-02T15:04:05Z",),
    "date": ("2006-01-02",),
    "duration": ("1h", "1s"),
    "byte": ("YQ==",),
    "ipv4": ("10.0.0.1",),
    "ipv6": ("fd00::1",),
    "cidr": ("10.0.0.0/8", "fd00::/64"),
    "uri": ("https://example.com", "/a"),
    "email": ("user@example.com",),
    "hostname": ("example.com",),
    "mac": ("0a:0b:0c:0d:0e:0f",),
    "uuid": ("11111111-2222-3333-4444-555555555555",),
    "uuid4": ("11111111-2222-4333-8444-555555555555",),
}


def _number(value: Any, otherwise: float) -> float:
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else otherwise


def whole_number(value: float) -> float | int:
    """A whole number as a server decodes it: a float64 where no int64 holds it."""
    whole = int(value)
    return whole if -(1 << 63) <= whole < 1 << 63 else float(whole)


def _integers(node: Node) -> Iterator[float | int]:
    low, high = _number(node.raw.get("minimum"), -math.inf), _number(node.raw.get("maximum"), math.inf)
    step = _number(node.raw.get("multipleOf"), 1) or 1
    low += 1 if node.raw.get("exclusiveMinimum") is True else 0
    high -= 1 if node.raw.get("exclusiveMaximum") is True else 0
    for start in (0, 1, low, high):
        if not math.isfinite(start):
            continue
        value = _next_multiple(start, step)
        value = value - step if value > high else value
        if low <= value <= high and math.isfinite(value):
            yield whole_number(value)


def _next_multiple(start: float, step: float) -> float:
    """The first multiple of ``step`` from ``start`` on; NaN where it is beyond all numbers, or below telling apart."""
    try:
        return math.ceil(start / step) * step
    except (OverflowError, ValueError):
        return math.nan


def numbers_between(low: float, high: float, node: Node, *, whole: bool) -> Iterator[float | int]:
    """Numbers of ``node`` from ``low`` to ``high``, the ends and their neighbours first."""
    step = _number(node.raw.get("multipleOf"), 1) or 1
    for start in (low, low + step, high - step, high, (low + high) / 2):
        value = _next_multiple(start, step)
        if low <= value <= high:
            yield whole_number(value) if whole or value == int(value) else value
    if not whole:
        yield from (low + (high - low) / 2, low + 0.5)


def list_of_size(node: Node, size: int) -> Any:
    """A list of exactly ``size`` items, different where they have to be; ABSENT where none could be made."""
    if node.items is None or size > _MOST_ITEMS:
        return ABSENT
    if size == 0:
        return []
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


def _numbered(node: Node, size: int) -> list[Any] | None:
    """Different strings or numbers, as many as wanted, where nothing but a length restricts them."""
    if node.type == "integer" and not node.raw.keys() & {"enum", "multipleOf", "maximum"}:
        start = int(max(_number(node.raw.get("minimum"), 0), 0))
        return list(range(start, start + size))
    least, most, patterns = string_limits(node)
    texts = [f"{index:x}".rjust(max(least, 1), "a") for index in range(size)]
    free = node.type == "string" and not node.enum and not patterns and not node.format
    return texts if free and (most is None or all(len(text) <= most for text in texts)) else None


def object_of_size(node: Node, size: int) -> Any:
    """An object that has exactly ``size`` members once its defaults are set; ABSENT where none could be made."""
    come = {name for name, member in node.properties.items() if member.default is not ABSENT}
    members = {name: member.raw for name, member in node.properties.items() if name not in come}
    needed = [name for name in node.required if name not in come]
    wanted = size - len(come)
    if not 0 <= wanted <= _MOST_ITEMS:
        return ABSENT
    made = _object(Node({**node.raw, "properties": members, "required": needed, "minProperties": wanted}), 0)
    return made if isinstance(made, dict) and len(made) == wanted else ABSENT


def _array(node: Node, depth: int) -> Any:
    wanted = node.count("minItems") or 0
    return list_of_size(node, wanted) if depth < _DEPTH else ABSENT


def _keyed_items(node: Node, wanted: int, depth: int) -> Any:
    """Items of a keyed list: one minimal item repeated, with as many values of a key as it takes."""
    assert node.items is not None
    item = sample(node.items, depth=depth + 1)
    if not isinstance(item, dict):
        return ABSENT
    for key in node.list_keys:
        sub = node.items.properties.get(key)
        if sub is None:
            continue
        found = list({member_key(value): value for value in islice(values(sub), wanted)}.values())
        if len(found) < wanted:
            found = _numbered(sub, wanted) or []
        if len(found) >= wanted:
            return [{**item, key: value} for value in found[:wanted]]
    return [item] if wanted == 1 else ABSENT


def _object(node: Node, depth: int) -> Any:
    made: dict[str, Any] = {}
    if node.embedded:
        made.update(apiVersion="v1", kind="Example")
    for name in node.required:
        sub = node.child(name)
        if name in made or (sub is not None and sub.default is not ABSENT):
            continue  # the server sets the default itself
        value = sample(sub, depth=depth + 1) if sub is not None else ("a" if node.preserve else ABSENT)
        if value is ABSENT:
            return ABSENT
        made[name] = value
    for name, sub in node.properties.items():
        if len(made) >= (node.count("minProperties") or 0):
            break
        if name not in made and (value := sample(sub, depth=depth + 1)) is not ABSENT:
            made[name] = value
    if isinstance(node.additional, Node):
        for index in range(len(made), min((node.count("minProperties") or 0), _MOST_ITEMS)):
            if (value := sample(node.additional, depth=depth + 1)) is ABSENT:
                return ABSENT
            made[f"key{index}"] = value
    return made


def around(root: Node, path: SchemaPath, value: Any) -> Any:
    """A minimal value of ``root`` that holds ``value`` at ``path`` (first item, map key ``key``); or ABSENT."""
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
    base = _object(root, 0)
    if base is ABSENT:
        # Perhaps only the member on the path could not be sampled.
        base = {}
    if step is VALUE:
        sub, name = (root.additional if isinstance(root.additional, Node) else None), "key"
    else:
        sub, name = root.properties.get(str(step)), str(step)
    if sub is None and root.preserve and step is not VALUE:
        inner = ABSENT if rest else value  # nothing is declared: anything goes
    else:
        inner = around(sub, rest, value) if sub is not None else ABSENT
    return ABSENT if inner is ABSENT else {**base, name: inner}


def concrete(path: SchemaPath) -> tuple[str | int, ...]:
    """Where ``around`` puts the value: the first item, the map key ``key``."""
    return tuple(0 if step is ITEM else "key" if step is VALUE else str(step) for step in path)
