"""The server-side apply that follows a rollback: that of the manager that the object's ``managedFields`` name.

The manager sends again what it owns: the same values, and on the main endpoint one label more. If several managers
apply to an object, the worst answer counts, because each of them goes on. If none does, a stranger applies the label.
An entry of another version than the object's counts as an owner, not as who applies: its requests go to another
endpoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from crdcompat.apiserver.admission import metadata_of
from crdcompat.apiserver.decode import Decoded
from crdcompat.apiserver.field_sets import only
from crdcompat.apiserver.ownership import Applier, Entry
from crdcompat.apiserver.strategy import Resource
from crdcompat.replay.repair import without
from crdcompat.replay.write_answer import Answer, answer_of
from crdcompat.schema.paths import Object, Pointer, field_of
from crdcompat.vocabulary.texts import some
from crdcompat.vocabulary.writes import WriteResult

_PROBE = "crdcompat.example.com/probe"


def labelled(obj: Object) -> Object:
    """The object with one label more."""
    meta = obj.get("metadata", {})
    return {**obj, "metadata": {**meta, "labels": {**(meta.get("labels") or {}), _PROBE: "1"}}}


def apply_answer(resource: Resource, stored: Object, obj: Object, bad: list[Pointer], label: Answer) -> Answer:
    """The answer to the apply of an object, ``stored`` and as read, with ``bad`` values.

    ``label`` is the answer to an update that adds a label: a server gives a stranger's apply the same.
    """
    managers = _appliers(resource, stored)
    if not managers:
        probe = {"metadata": {"labels": {_PROBE: "1"}}}
        if resource.has_other_versions(stored):
            return answer_of(resource.apply(probe, stored))
        failed = resource.typing_failure(probe, obj)
        return label if failed is None else answer_of(failed)
    answers = [_of_manager(resource, stored, obj, bad, entry) for entry in managers]
    worst = min(answers, key=lambda answer: (answer.verdict.rank, not answer.accepted_without))
    return _noted(worst, len(managers))


def unchanged_apply(resource: Resource, stored: Object, label: Answer) -> Answer:
    """The answer to the apply of a valid object: it has the types that an apply needs, and its values stay."""
    managers = _appliers(resource, stored)
    return _noted(replace(label, manager=managers[0].manager), len(managers)) if managers else label


def body_of(resource: Resource, obj: Object, entry: Entry) -> Object:
    """What a manager sends that applies what it owns of an object, as read."""
    meta = metadata_of(obj)
    named = {key: meta[key] for key in ("name", "namespace") if key in meta}
    owned = only(obj, entry.fields, resource.apply_type)
    typed = {"apiVersion": resource.api_version, "kind": resource.crd.kind}
    sent = {**owned, **typed, "metadata": {**(owned.get("metadata") or {}), **named}}
    return sent if entry.subresource else labelled(sent)


def _appliers(resource: Resource, stored: Object) -> list[Entry]:
    """The entries of the managers that apply to an object or its status, in the server's order."""
    entries = metadata_of(stored).get("managedFields")
    # The fields of a large object's entries are work to read.
    if "Apply" not in [entry.get("operation") for entry in _objects(entries)]:
        return []
    found = resource.entries(stored)
    applies = (entry for entry in found if entry.applies and entry.subresource in ("", "status") and entry.manager)
    return sorted((entry for entry in applies if entry.version == resource.api_version), key=lambda each: each.order)


def _objects(value: Any) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _of_manager(resource: Resource, stored: Object, obj: Object, bad: Iterable[Pointer], entry: Entry) -> Answer:
    is_status = entry.subresource == "status"
    sent, applier = body_of(resource, obj, entry), Applier(entry.manager)
    answer = answer_of(resource.apply(sent, stored, status=is_status, applier=applier))
    gone: tuple[str, ...] = ()
    if answer.verdict is WriteResult.REJECTED:
        places = [place for place in bad if _is_written(resource, place, is_status)]
        less = body_of(resource, without(obj, places, resource), entry)
        if less != sent and _heals(resource, stored, less, entry):
            gone = tuple(dict.fromkeys(map(field_of, places)))
    return replace(answer, manager=entry.manager, accepted_without=gone)


def _heals(resource: Resource, stored: Object, sent: Object, entry: Entry) -> bool:
    """Whether the server accepts what a manager sends, and the half of the object that it writes is valid then."""
    is_status = entry.subresource == "status"
    verdict = resource.apply(sent, stored, status=is_status, applier=Applier(entry.manager, force=False))
    if not verdict.accepted or verdict.object is None:
        return False
    whole = resource.create_decoded(Decoded(verdict.object), keep_status=True)
    left = [error.pointer for error in whole.errors if not error.is_marker]
    return not any(_is_written(resource, place, is_status) for place in left)


def _is_written(resource: Resource, place: Pointer, is_status: bool) -> bool:
    """Whether a write on an endpoint can change a place."""
    return not resource.version.has_status or (place[:1] == ("status",)) == is_status


def _noted(answer: Answer, managers: int) -> Answer:
    """The answer with a note that names the manager."""
    if not answer.manager:
        return answer
    notes = [answer.note, f"by {answer.manager}" + (f", one of {managers} managers that apply" if managers > 1 else "")]
    if gone := answer.accepted_without:
        notes.append(f"accepted once it no longer sends {some(gone)}")
    return replace(answer, note="; ".join(filter(None, notes)))
