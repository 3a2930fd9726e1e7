"""Sets of fields, as server-side apply has them: of a value, of its changes, and of an entry of managedFields.

A field is its path: names of members, and identities of items in keyed lists and sets. A set of fields is a set of
paths; ``f:a: {".": {}, "f:b": {}}`` in FieldsV1 is ``{("a",), ("a", "b")}``.
Source: structured-merge-diff, ``fieldpath/set.go``, ``typed/tofieldset.go``, ``typed/compare.go``, ``typed/remove.go``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Set
from typing import Any

from crdcompat.apiserver.apply import LIST, SCALAR, Identity, Type, identity_of, shown_identity
from crdcompat.apiserver.gotext import compact_json
from crdcompat.schema.equality import identical
from crdcompat.schema.structural import ABSENT

#: The name of a member, or what identifies an item.
Step = str | Identity
Path = tuple[Step, ...]
Fields = frozenset[Path]
NO_FIELDS: Fields = frozenset()


def parsed(fields: Any) -> Fields:
    """The set of an entry's ``fieldsV1``. What is no path of a member or item is left out."""
    return frozenset(_parsed(fields, ()))


def _parsed(fields: Any, path: Path) -> Iterator[Path]:
    if not isinstance(fields, dict):
        return
    if path and (not fields or "." in fields):
        yield path
    for name, below in fields.items():
        if name != "." and (step := _step(name)) is not None:
            yield from _parsed(below, (*path, step))


def _step(name: str) -> Step | None:
    kind, _, rest = name.partition(":")
    if kind == "f":
        return rest
    try:
        value = json.loads(rest)
    except ValueError:
        return None
    if kind == "k" and isinstance(value, dict):
        return tuple(sorted((key, compact_json(each)) for key, each in value.items()))
    return (("", compact_json(value)),) if kind == "v" else None


def shown(path: Path) -> str:
    """A path as conflicts name it: ``.spec.list[name="a"].field``."""
    return "".join(f".{step}" if isinstance(step, str) else shown_identity(step) for step in path)


def fields_of(value: Any, type_: Type) -> Fields:
    """The fields that a manager owns who applies ``value``."""
    return frozenset(_fields(value, type_, ()))


def _fields(value: Any, type_: Type, path: Path) -> Iterator[Path]:
    kind = type_.kind(value)
    if kind == SCALAR or type_.is_atomic(kind):
        yield path
    elif isinstance(value, dict):
        for name, item in value.items():
            below = (*path, name)
            yield from _fields(item, type_.member(name) or Type(), below)
            if item is None or item == {} or not type_.declares(name):
                yield below
    elif isinstance(value, list):
        known: list[Identity] = [identity_of(item, type_) for item in value]
        for identity, item in zip(known, value, strict=True):
            yield (*path, identity)
            if known.count(identity) == 1:
                yield from _fields(item, type_.items, (*path, identity))


def changed(old: Any, new: Any, type_: Type) -> Fields:
    """The fields that are added, or have another value; either value may be ABSENT. Removed fields are left out."""
    return frozenset(_changed(old, new, type_, ()))


def _changed(old: Any, new: Any, type_: Type, path: Path) -> Iterator[Path]:
    if new is ABSENT:
        return
    kind = type_.kind(new)
    leaf = kind == SCALAR or type_.is_atomic(kind) or (old in (ABSENT, None, {}, []) and new in (None, {}, []))
    if leaf or (old is not ABSENT and type_.kind(old) != kind):
        if old is ABSENT or not identical(old, new):
            yield path
        return
    if old is ABSENT:
        yield path
    if kind == LIST:
        before, after = (_by_identity(side, type_) for side in (old, new))
        for identity, items in after.items():
            known = before.get(identity, [])
            if len(items) > 1 or len(known) > 1:
                if not identical(items, known):
                    yield (*path, identity)
                continue
            yield from _changed(known[0] if known else ABSENT, items[0], type_.items, (*path, identity))
        return
    held = old if isinstance(old, dict) else {}
    for name, item in new.items() if isinstance(new, dict) else ():
        yield from _changed(held.get(name, ABSENT), item, type_.member(name) or Type(), (*path, name))


def _by_identity(value: Any, type_: Type) -> dict[Identity, list[Any]]:
    found: dict[Identity, list[Any]] = {}
    for item in value if isinstance(value, list) else ():
        found.setdefault(identity_of(item, type_), []).append(item)
    return found


def reconciled(fields: Fields, type_: Type) -> Fields:
    """The set of an entry that was written under another schema: who owned a part of what is atomic now owns it whole.

    A type that was atomic and is no longer counts as if it had never been. Source: ``typed/reconcile_schema.go``.
    """
    wholes = frozenset(_wholes(fields, type_, ()))
    parts = (path for path in fields if not any(path[:length] in wholes for length in range(len(path) + 1)))
    return frozenset(parts) | wholes if wholes else fields


def _wholes(fields: Set[Path], type_: Type, path: Path) -> Iterator[Path]:
    """The places of maps and lists that are atomic now, below which a set has fields."""
    kind = type_.kind(None)
    if kind == SCALAR or fields == {()}:
        return
    if type_.is_atomic(kind):
        yield path
        return
    for step, below in _by_step(fields).items():
        held = type_.items if kind == LIST else type_.member(step) if isinstance(step, str) else None
        if held is not None:
            yield from _wholes(below, held, (*path, step))


def with_holders(fields: Set[Path], type_: Type) -> Fields:
    """The set with the declared members that hold one of its fields."""
    found = set(fields)
    for path in fields:
        at: Type = type_
        for length, step in enumerate(path[:-1], 1):
            if isinstance(step, str):
                if at.declares(step):
                    found.add(path[:length])
                at = at.member(step) or Type()
            else:
                at = at.items
    return frozenset(found)


def without(value: Any, fields: Set[Path], type_: Type) -> Any:
    """The value without the fields of a set. A map or list that loses all its members becomes null."""
    if not fields or not isinstance(value, (dict, list)) or not value:
        return value
    if type_.is_atomic(type_.kind(value)):
        return None
    below = _by_step(fields)
    if isinstance(value, dict):
        members = {name: item for name, item in value.items() if () not in below.get(name, ())}
        kept = {
            name: without(item, below[name], type_.member(name) or Type()) if name in below else item
            for name, item in members.items()
        }
        return kept or None
    items = []
    for item in value:
        inside = below.get(identity_of(item, type_))
        if inside is None:
            items.append(item)
        elif () not in inside:
            items.append(without(item, inside, type_.items))
    return items or None


def only(value: Any, fields: Set[Path], type_: Type) -> Any:
    """The part of a value that a set of fields names: what the manager who owns them sends."""
    if not isinstance(value, (dict, list)) or type_.is_atomic(type_.kind(value)):
        return value
    below = _by_step(fields)
    if isinstance(value, dict):
        return {
            name: only(item, below[name], type_.member(name) or Type()) for name, item in value.items() if name in below
        }
    owned = ((item, below.get(identity_of(item, type_))) for item in value)
    return [only(item, inside, type_.items) for item, inside in owned if inside is not None]


def _by_step(fields: Set[Path]) -> dict[Step, set[Path]]:
    """The paths of a set by their first step, without it."""
    found: dict[Step, set[Path]] = {}
    for path in fields:
        if path:
            found.setdefault(path[0], set()).add(path[1:])
    return found
