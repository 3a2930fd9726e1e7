"""Keywords of schemas as formulas, in the atoms that CEL rules become, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.cel.views import View
from crdcompat.apiserver.formats import supported
from crdcompat.apiserver.server_versions import Server
from crdcompat.candidates.sample import number
from crdcompat.cel.identifiers import escape
from crdcompat.compare.equivalence.connectives import count, every, fact, from_number, has, opposite, scalar, some
from crdcompat.compare.equivalence.formula import TRUE, Formula, Kind, Path
from crdcompat.schema.re2 import Pattern, compile_pattern
from crdcompat.schema.structural import ABSENT, Node

#: Keywords that restrict no value, or that only a comparison of the two schemas judges.
_NOT_READ = frozenset(
    {
        *("type", "title", "description", "example", "externalDocs", "default", "nullable", "$schema", "id"),
        *("exclusiveMinimum", "exclusiveMaximum", "uniqueItems", "x-kubernetes-int-or-string"),
        *("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-validations"),
        *("x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"),
    }
)
#: What is in each string of a format, as a pattern.
_PARTS = {"ipv4": r"\.", "ipv6": ":"}
#: The types of each kind of scalar whose values may equal a literal.
_SCALARS = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}


class _Holder(Struct, frozen=True):
    """The value that keywords restrict: its path, its own node, its CEL type, and the server."""

    path: Path
    node: Node
    view: View
    server: Server

    @property
    def kind(self) -> str:
        return self.view.kind

    def member(self, name: str) -> _Holder | None:
        """A declared member."""
        node = self.node.child(name)
        return None if node is None else _Holder(member_path(self.path, name), node, View(node), self.server)


def member_path(path: Path, name: str) -> Path:
    """The path of a member. A name that CEL cannot write is kept, with a mark that no CEL name has."""
    return (*path, escape(name) or f"`{name}`")


def keywords_of(
    restricting: Node, path: Path, node: Node, view: View, server: Server, only: Collection[str] = ()
) -> Formula:
    """What the keywords of ``restricting`` (``node`` itself or a branch of it) state about the value at ``path``.

    ``only``: the keywords to read, by default all that restrict the value itself.
    """
    return _read(restricting, _Holder(path, node, view, server), only, branch=restricting is not node)


def distinct_items(path: Path, node: Node) -> Formula:
    """The limit on the items of a set or a keyed list whose items or keys have finitely many values."""
    most = _most_items(node)
    return TRUE if most is None else opposite(fact(Kind.SIZE, path, most + 1))


def _most_items(node: Node) -> int | None:
    items = node.items
    if items is None or node.list_type == "set":
        return None if items is None else _value_count(items)
    if node.list_type != "map":
        return None
    counts = [_key_count(items, name) for name in node.list_keys]
    finite = [each for each in counts if each is not None]
    return math.prod(finite) if counts and len(finite) == len(counts) else None


def _key_count(items: Node, name: str) -> int | None:
    """The possible values of a key; its absence counts as one."""
    key = items.properties.get(name)
    count = None if key is None else _value_count(key)
    is_there = key is not None and (name in items.required or key.default is not ABSENT)
    return None if count is None else count + (not is_there)


def _value_count(node: Node) -> int | None:
    """How many scalars a node accepts at most; None if there is no limit."""
    if node.type not in _SCALARS or node.nullable:
        return None
    if "enum" in node.raw:
        return len({scalar(member) for member in node.enum if not isinstance(member, dict | list)})
    return 2 if node.type == "boolean" else None


def _read(restricting: Node, holder: _Holder, only: Collection[str] = (), *, branch: bool) -> Formula:
    parts = []
    for keyword, value in restricting.raw.items():
        if keyword in _NOT_READ or (only and keyword not in only):
            continue
        if keyword in ("properties", "items", "additionalProperties"):
            if branch:
                parts.append(
                    _members(restricting, holder) if keyword == "properties" else _opaque(keyword, value, holder)
                )
            continue
        reader = _READERS.get(keyword)
        parts.append(reader(restricting, holder) if reader is not None else _opaque(keyword, value, holder))
    return every(*parts)


def _opaque(keyword: str, value: Any, holder: _Holder) -> Formula:
    return fact(Kind.KEYWORD, holder.path, [keyword, value])


def _members(branch: Node, holder: _Holder) -> Formula:
    return every(*_each_member(branch, holder))


def _each_member(branch: Node, holder: _Holder) -> Iterator[Formula]:
    for name, sub in branch.properties.items():
        member = holder.member(name)
        if member is None:
            yield _opaque("properties", {name: sub.raw}, holder)
        else:
            yield some(opposite(has(member.path)), _read(sub, member, branch=True))


def _enum(restricting: Node, holder: _Holder) -> Formula:
    types = _SCALARS.get(holder.kind)
    if types is None:
        return _opaque("enum", restricting.raw["enum"], holder)
    members = (scalar(member) for member in restricting.enum)
    return some(*(fact(Kind.EQUAL, holder.path, member) for member in members if type(member) in types))


def _pattern(restricting: Node, holder: _Holder) -> Formula:
    pattern = restricting.raw["pattern"]
    if holder.kind == "string" and isinstance(pattern, str) and isinstance(compile_pattern(pattern), Pattern):
        return fact(Kind.MATCHES, holder.path, pattern)
    return _opaque("pattern", pattern, holder)


def _format(restricting: Node, holder: _Holder) -> Formula:
    name = restricting.format
    if not supported(name, holder.node.type, holder.server):
        return TRUE
    part = fact(Kind.MATCHES, holder.path, _PARTS[name]) if name in _PARTS and holder.kind == "string" else TRUE
    return every(_opaque("format", name, holder), part)


def _size(keyword: str, *kinds: str) -> Callable[[Node, _Holder], Formula]:
    def read(restricting: Node, holder: _Holder) -> Formula:
        limit = restricting.count(keyword)
        if limit is None or holder.kind not in kinds:
            return _opaque(keyword, restricting.raw[keyword], holder)
        if keyword.startswith("min"):
            return fact(Kind.SIZE, holder.path, limit)
        return opposite(fact(Kind.SIZE, holder.path, limit + 1))

    return read


def _member_count(keyword: str) -> Callable[[Node, _Holder], Formula]:
    """The size of a map, or how many of an object's members are there, if it has only declared ones."""
    of_map = _size(keyword, "map")

    def read(restricting: Node, holder: _Holder) -> Formula:
        limit, node = restricting.count(keyword), holder.node
        if limit is None or holder.kind != "object" or node.preserve or node.embedded or node.additional is not None:
            return of_map(restricting, holder)
        there = [has(member_path(holder.path, name)) for name in node.properties]
        return count(limit, there) if keyword.startswith("min") else opposite(count(limit + 1, there))

    return read


def _bound(keyword: str) -> Callable[[Node, _Holder], Formula]:
    def read(restricting: Node, holder: _Holder) -> Formula:
        limit = number(restricting.raw[keyword], math.nan)
        excluded = restricting.raw.get(f"exclusive{keyword.capitalize()}") is True
        if math.isnan(limit) or holder.kind not in ("integer", "number"):
            return _opaque(keyword, [restricting.raw[keyword], excluded], holder)
        whole = holder.kind == "integer"
        if keyword == "minimum":
            return from_number(holder.path, limit, excluded=excluded, whole=whole)
        return opposite(from_number(holder.path, limit, excluded=not excluded, whole=whole))

    return read


def _multiple(restricting: Node, holder: _Holder) -> Formula:
    factor = scalar(restricting.raw["multipleOf"])
    if holder.kind == "integer" and type(factor) is int and factor:
        return fact(Kind.MULTIPLE, holder.path, abs(factor))
    return _opaque("multipleOf", factor, holder)


def _required(restricting: Node, holder: _Holder) -> Formula:
    return every(*(has(member_path(holder.path, name)) for name in restricting.required))


def _all_of(restricting: Node, holder: _Holder) -> Formula:
    return every(*(_read(branch, holder, branch=True) for branch in restricting.all_of))


def _any_of(restricting: Node, holder: _Holder) -> Formula:
    if holder.node.int_or_string and restricting.raw["anyOf"] == [{"type": "integer"}, {"type": "string"}]:
        return TRUE  # it states the two types
    return some(*(_read(branch, holder, branch=True) for branch in restricting.any_of))


def _one_of(restricting: Node, holder: _Holder) -> Formula:
    branches = [_read(branch, holder, branch=True) for branch in restricting.one_of]
    return every(count(1, branches), opposite(count(2, branches)))


def _not(restricting: Node, holder: _Holder) -> Formula:
    return TRUE if restricting.not_ is None else opposite(_read(restricting.not_, holder, branch=True))


_READERS: dict[str, Callable[[Node, _Holder], Formula]] = {
    "enum": _enum,
    "pattern": _pattern,
    "format": _format,
    "minLength": _size("minLength", "string"),
    "maxLength": _size("maxLength", "string"),
    "minItems": _size("minItems", "list"),
    "maxItems": _size("maxItems", "list"),
    "minProperties": _member_count("minProperties"),
    "maxProperties": _member_count("maxProperties"),
    "minimum": _bound("minimum"),
    "maximum": _bound("maximum"),
    "multipleOf": _multiple,
    "required": _required,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _not,
}
