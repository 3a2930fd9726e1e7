"""The scale subresource: its requirements on the fields that it names (docs/semantics.md#scale).

Without the endpoint its callers get 404. With it the server checks every write, without ratcheting: replicas are
integers from 0 to 2147483647, the label selector is a string. What an object has at another place
than the reader names is not in its Scale: autoscalers stop without a selector, and with 0 replicas.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.scale import scale_pointer
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.crd_facet import FAILED, NOTHING, CrdChange, CrdEffect, CrdFacet, VersionPair, crd_change
from crdcompat.compare.facet import Differing, Effects, Reaction
from crdcompat.compare.objects import whole_object
from crdcompat.schema.paths import Object
from crdcompat.vocabulary import Effect

EFFECTS = {
    "subresource.scale-added": Effects(rollback=(Effect.REQUEST_FAILED,), upgrade=(Effect.WRITE_REJECTED,)),
    "subresource.scale-removed": Effects(rollback=(Effect.WRITE_REJECTED,), upgrade=(Effect.REQUEST_FAILED,)),
    "subresource.scale-changed": Effects(rollback=(Effect.WRITE_REJECTED,), upgrade=(Effect.WRITE_REJECTED,)),
    "subresource.scale-moved": Effects(rollback=(Effect.REQUEST_FAILED,), upgrade=(Effect.REQUEST_FAILED,)),
}

#: Values that the check rejects, the likeliest first.
_INVALID_VALUES: dict[str, tuple[Any, ...]] = {
    "specReplicasPath": (-1, 2**31, 0.5, "a"),
    "statusReplicasPath": (-1, 2**31, 0.5, "a"),
    "labelSelectorPath": (1, True, {}, []),
}


def version_changes(pair: VersionPair) -> Iterator[CrdChange]:
    if pair.old.version.scale == pair.new.version.scale:
        return
    old = Resource(pair.old.document.crd, pair.old.version, pair.crds.old_server)
    new = Resource(pair.new.document.crd, pair.new.version, pair.crds.new_server)
    before, after = (dict(side.version.scale) if side.version.scale is not None else None for side in (old, new))
    what = "added" if before is None else "removed" if after is None else "changed"
    change = crd_change(f"subresource.scale-{what}", before, after, old.version.pointer, new.version.pointer)
    yield CrdChange(pair.name, change, _effect(new, old), _effect(old, new))
    if before is not None and after is not None:
        was, now = (
            {key: side[key] for key in _INVALID_VALUES if _differ(key, before, after) and side.get(key)}
            for side in (before, after)
        )
        moved = crd_change("subresource.scale-moved", was, now, old.version.pointer, new.version.pointer)
        yield CrdChange(pair.name, moved, FAILED if now else NOTHING, FAILED if was else NOTHING)


def _differ(key: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether both sides read something of a Scale from different places. No place may be the empty text."""
    return (before.get(key) or None) != (after.get(key) or None)


def explains(difference: Differing, reaction: Reaction) -> bool:
    """The change is one of the CRD; the errors are at the fields that the subresource names."""
    return reaction.error is not None and reaction.error.keyword is Keyword.SCALE


def _effect(writer: Resource, reader: Resource) -> CrdEffect:
    if reader.version.scale is None:
        return FAILED
    found = _rejected(writer, reader)
    return NOTHING if found is None else CrdEffect(Effect.WRITE_REJECTED, found[1], found[0])


def _rejected(writer: Resource, reader: Resource) -> tuple[Object, str] | None:
    """A minimal object that ``writer`` accepts and ``reader``'s scale check rejects, with the message; else None."""
    mine, theirs = (dict(side.version.scale or {}) for side in (writer, reader))
    for key, values in _INVALID_VALUES.items():
        path = theirs.get(key)
        if not isinstance(path, str) or not path or mine.get(key) == path:
            continue
        steps = scale_pointer(path)
        for value in values:
            made = whole_object(writer, steps, value)
            stored = writer.create(made, keep_status=True) if made is not None else None
            if made is None or stored is None or stored.object is None:
                continue
            for error in reader.create(stored.object, keep_status=True).errors:
                if error.keyword is Keyword.SCALE and error.pointer == steps:
                    return made, error.text()
    return None


_KEYS = frozenset({"subresources"})
FACET = CrdFacet(EFFECTS, version_changes=version_changes, spec_keys=_KEYS, version_keys=_KEYS, explains=explains)
