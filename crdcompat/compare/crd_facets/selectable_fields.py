"""Selectable fields: servers refuse field selectors with other fields (docs/semantics.md#versions-and-endpoints)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.compare.crd_facet import FAILED, NOTHING, CrdChange, CrdFacet, VersionPair, crd_change
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

_KEY = "selectableFields"
EFFECTS = {"selectable-fields.changed": Effects(rollback=(Effect.REQUEST_FAILED,), upgrade=(Effect.REQUEST_FAILED,))}


def version_changes(pair: VersionPair) -> Iterator[CrdChange]:
    a, b = pair.versions
    before, after = a.raw.get(_KEY), b.raw.get(_KEY)
    if before == after:
        return
    change = crd_change("selectable-fields.changed", before, after, a.pointer, b.pointer)
    more, fewer = _gains(before, after), _gains(after, before)
    yield CrdChange(pair.name, change, FAILED if more else NOTHING, FAILED if fewer else NOTHING)


def _gains(before: Any, after: Any) -> bool:
    known = before if isinstance(before, list) else []
    return any(item not in known for item in (after if isinstance(after, list) else []))


_KEYS = frozenset({_KEY})
FACET = CrdFacet(EFFECTS, version_changes=version_changes, spec_keys=_KEYS, version_keys=_KEYS)
