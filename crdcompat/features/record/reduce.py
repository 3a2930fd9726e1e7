"""Reduces an object to the values on which a rollback depends.

It keeps rejected values, members that OLD's schema lacks, required members, members that a rule mentions, and the keys
of lists. It keeps all of a list with a rejected value, because a merge patch replaces a list as a whole.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

import orjson

from crdcompat.apiserver.admission import metadata_of
from crdcompat.schema.paths import Object, Pointer
from crdcompat.schema.structural import ABSENT, Node

_TYPE = ("apiVersion", "kind")


def reduced(obj: Object, schemas: tuple[Node, Node], wanted: Collection[Pointer]) -> Object:
    """The object with its type and the values that matter, without metadata.

    ``schemas`` are OLD's and the installed one. ``wanted`` are the places to keep: the rejected ones, and those that
    identify the cluster.
    """
    old, new = schemas
    parts = {name: value for name, value in obj.items() if name not in (*_TYPE, "metadata")}
    kept = _cut(parts, (), (old, new), frozenset(wanted), needed=True)
    return {**{name: obj[name] for name in _TYPE if name in obj}, **kept}


def smallest_metadata(obj: Object, places: Collection[Pointer]) -> Object:
    """The name, the namespace and the uid, with the managed fields of the values at ``places``.

    An entry of another version than the object's stays in any case: no server applies to an object of which a manager
    wrote a version that the CRD lacks.
    """
    meta = metadata_of(obj)
    found: Object = {key: value for key, value in meta.items() if key in ("name", "namespace", "uid")}
    entries = meta.get("managedFields")
    fields = [_managed(each, places) for each in entries if isinstance(each, dict)] if isinstance(entries, list) else []
    own = (None, obj.get("apiVersion"))
    written = [entry for entry in fields if entry["fieldsV1"] or entry.get("apiVersion") not in own]
    return {**found, **({"managedFields": written} if written else {})}


def _managed(entry: Object, places: Collection[Pointer]) -> Object:
    """An entry of managed fields with the steps that lead to the places."""
    names = {f"f:{step}" for place in places for step in place if isinstance(step, str)}
    writes: Object = {key: entry[key] for key in ("operation", "apiVersion", "subresource") if key in entry}
    return {"manager": entry.get("manager", ""), **writes, "fieldsV1": _steps(entry.get("fieldsV1"), names)}


def _steps(fields: Any, names: Collection[str]) -> Any:
    if not isinstance(fields, dict):
        return {}
    kept = (key for key in fields if key in names or key[:2] in ("k:", "v:", "i:"))
    found = {key: _steps(fields[key], {*names, *_keys_of(key)}) for key in kept}
    # Whoever owns an object as such, and no member of it, sends it empty.
    return {".": {}, **found} if found and "." in fields else found


def _keys_of(step: str) -> Iterator[str]:
    """The steps to the members that identify an item of a keyed list: nobody could apply it without them."""
    if step.startswith("k:"):
        with contextlib.suppress(orjson.JSONDecodeError):
            keys = orjson.loads(step[2:])
            yield from (f"f:{name}" for name in keys) if isinstance(keys, dict) else ()


def _cut(
    value: Any, at: Pointer, nodes: tuple[Node | None, Node | None], wanted: frozenset[Pointer], needed: bool
) -> Any:
    """The part of a value that matters; ABSENT if no part matters and it is not ``needed``.

    ``nodes`` are OLD's and the installed schema of the value; None where a side has no schema for it."""
    if at in wanted:
        return value
    has_wanted = any(place[: len(at)] == at for place in wanted)
    if isinstance(value, list):
        if has_wanted:
            return value
        items = [node.items if node is not None else None for node in nodes]
        cut = [_cut(item, (*at, index), (items[0], items[1]), wanted, True) for index, item in enumerate(value)]
        return cut if needed or any(_has_unknown_part(item, items[0]) for item in value) else ABSENT
    if not isinstance(value, dict):
        return value if needed else ABSENT
    return _cut_object(value, at, nodes, wanted, needed or has_wanted)


def _cut_object(
    value: Object, at: Pointer, nodes: tuple[Node | None, Node | None], wanted: frozenset[Pointer], needed: bool
) -> Any:
    present = [node for node in nodes if node is not None]
    required = {name for node in present for name in node.required}
    mentioned = _mentioned(nodes)
    kept, matters = {}, needed
    for name, member in value.items():
        below = [_member(node, name) for node in nodes]
        if _is_unknown(nodes[0], below[0]) or name in mentioned:
            kept[name], matters = member, True
            continue
        cut = _cut(member, (*at, name), (below[0], below[1]), wanted, name in required)
        if cut is not ABSENT:
            kept[name] = cut
            matters = matters or name not in required
    return kept if matters else ABSENT


@lru_cache(maxsize=4096)
def _mentioned(nodes: tuple[Node | None, ...]) -> str:
    """The text of the rules and junctors of nodes. A name in it may be the name of a member that they judge."""
    return repr([[node.rules, *(each.raw for each in node.junctor_branches())] for node in nodes if node is not None])


def _member(node: Node | None, name: str) -> Node | None:
    return node.child(name) if node is not None else None


def _is_unknown(node: Node | None, member: Node | None) -> bool:
    """Whether OLD has no schema for a member, so that it prunes the member or keeps it unchecked."""
    return node is None or member is None


def _has_unknown_part(value: Any, node: Node | None) -> bool:
    """Whether OLD has no schema for a part of a value."""
    if isinstance(value, dict):
        members = [(part, _member(node, name)) for name, part in value.items()]
        return any(_is_unknown(node, member) or _has_unknown_part(part, member) for part, member in members)
    return isinstance(value, list) and any(_has_unknown_part(item, node.items if node else None) for item in value)
