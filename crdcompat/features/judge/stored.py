"""What else the server changed between the object sent and the one stored, beside pruning and defaulting.

A create drops the status, a write to one endpoint keeps the old values of the other, decoding drops nulls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.admission import Verdict, metadata_of
from crdcompat.apiserver.strategy import Resource
from crdcompat.schema.paths import Object, field_of

#: The operations whose request is a whole object; of the others it is a patch or a Scale object.
_WHOLE = frozenset({"create", "validate", "update", "updateStatus"})
#: The members of metadata that a server sets, whatever a request has.
_OF_THE_SERVER = frozenset(
    {
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_WORDS = {
    "dictionary_item_added": "added",
    "iterable_item_added": "added",
    "dictionary_item_removed": "removed",
    "iterable_item_removed": "removed",
}


def changed_besides(resource: Resource, operation: str, sent: Object, verdict: Verdict) -> tuple[str, ...]:
    """The other differences as ``status (removed)``, ``spec.v (changed)``, ``status.p (added)``, sorted.

    Empty for a write that is not accepted and for one whose request is no whole object.
    """
    if verdict.object is None or operation not in _WHOLE:
        return ()
    asked, stored = _comparable(sent), _comparable(verdict.object)
    decoded = _comparable(resource.read(sent).object)
    told = {*verdict.pruned, *verdict.defaulted}
    found: set[tuple[str, str]] = set()
    if _has_null(asked):  # decoding drops nulls; all else that it changes is in the verdict
        found |= {(field, word) for field, word in _differences(asked, decoded) if field not in told}
    if decoded != stored:
        found |= set(_differences(decoded, stored))
    return tuple(f"{field} ({word})" for field, word in sorted(found))


def _differences(before: Object, after: Object) -> Iterator[tuple[str, str]]:
    """Each path that differs, and how: ``added``, ``removed`` or ``changed``."""
    from deepdiff import DeepDiff  # its import costs as much as all else that judge does

    # Items are compared by index: aligning two long lists takes quadratic time.
    found = DeepDiff(
        before,
        after,
        view="tree",
        zip_ordered_iterables=True,
        threshold_to_diff_deeper=0,
        ignore_private_variables=False,
    )
    for kind, items in found.items():
        for item in items:
            yield field_of(tuple(item.path(output_format="list"))), _WORDS.get(kind, "changed")


def _comparable(obj: Object) -> Object:
    """The object without the metadata that a server sets."""
    metadata = {name: value for name, value in metadata_of(obj).items() if name not in _OF_THE_SERVER}
    return {**obj, "metadata": metadata}


def _has_null(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_null, value.values()))
    return value is None or (isinstance(value, list) and any(map(_has_null, value)))
