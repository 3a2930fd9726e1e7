"""The differences between the object sent and the one stored, besides pruning and defaulting.

A create drops the status, a write to one endpoint keeps the old values of the other, decoding drops nulls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.admission import SERVER_SET, Verdict, metadata_of
from crdcompat.apiserver.strategy import Resource
from crdcompat.schema.paths import Object, field_of
from crdcompat.schema.structural import ABSENT

#: The operations whose request is a whole object; of the others it is a patch or a Scale object.
_WHOLE = frozenset({"create", "validate", "update", "updateStatus"})
#: The members of metadata that a server sets, whatever a request has.
_OF_THE_SERVER = frozenset({*SERVER_SET, "deletionGracePeriodSeconds", "deletionTimestamp"})
#: Values that differ, in one comparison; beyond, the others are not looked at.
MAX_DIFFERING = 1000


class Changes(Struct, frozen=True):
    """The changes, sorted: ``spec.v (changed)``, ``status.p (added)``; ``cut``: these are some of many."""

    texts: tuple[str, ...] = ()
    cut: bool = False


def changed_besides(resource: Resource, operation: str, sent: Object, verdict: Verdict) -> Changes:
    """The differences that no default and no pruning explains; none if the write fails or sends no whole object."""
    if verdict.object is None or operation not in _WHOLE:
        return Changes()
    asked, stored = _comparable(sent), _comparable(verdict.object)
    decoded = _comparable(resource.read(sent).object)
    known = {*verdict.pruned, *verdict.defaulted}
    found: set[tuple[str, str]] = set()
    by_decoding, by_storing = _Differing(), _Differing()
    if _has_null(asked):  # decoding drops nulls; all else that it changes is in the verdict
        found |= {(field, word) for field, word in by_decoding.fields(asked, decoded) if field not in known}
    if decoded != stored:
        found |= set(by_storing.fields(decoded, stored))
    texts = tuple(f"{field} ({word})" for field, word in sorted(found))
    return Changes(texts, by_decoding.cut or by_storing.cut)


class _Differing:
    """The places where two values differ, at most ``MAX_DIFFERING``: ``cut`` if there are more."""

    def __init__(self) -> None:
        self.cut = False
        self._count = 0

    def fields(self, before: Object, after: Object) -> Iterator[tuple[str, str]]:
        """Each path that differs, and how: ``added``, ``removed`` or ``changed``."""
        from deepdiff import DeepDiff  # its import takes as long as all other work of judge

        found = DeepDiff(
            *self._parts(before, after), view="tree", threshold_to_diff_deeper=0, ignore_private_variables=False
        )
        for kind, items in found.items():
            for item in items:
                yield field_of(tuple(item.path(output_format="list"))), _WORDS.get(kind, "changed")

    def _parts(self, before: Any, after: Any) -> tuple[Any, Any]:
        """Both values without equal parts, which DeepDiff would visit, too; lists become objects by index."""
        both = before, after
        if all(isinstance(side, list) for side in both):
            olds, news = (dict(enumerate(side)) for side in both)
        elif all(isinstance(side, dict) for side in both):
            olds, news = both
        else:
            self._count += 1
            return both
        kept: tuple[dict[Any, Any], dict[Any, Any]] = {}, {}
        for key in {**olds, **news}:
            pair = olds.get(key, ABSENT), news.get(key, ABSENT)
            if pair[0] == pair[1]:
                continue
            if self._count >= MAX_DIFFERING:
                self.cut = True
                break
            for side, value in zip(kept, self._parts(*pair), strict=True):
                if value is not ABSENT:
                    side[key] = value
        return kept


_WORDS = {"dictionary_item_added": "added", "dictionary_item_removed": "removed"}


def _comparable(obj: Object) -> Object:
    """The object without the metadata that a server sets."""
    metadata = {name: value for name, value in metadata_of(obj).items() if name not in _OF_THE_SERVER}
    return {**obj, "metadata": metadata}


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_has_null, value)))
