"""The rollback of one stored object, replayed: every kind of write, judged by the server it lands on.

What was stored under one release is read through the other's CRD (pruned, nulls dropped, defaulted), then
each write is made on that (design, section 5; observed in rollback-truth, sections 3 and 4).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.decode import Decoded
from crdcompat.apiserver.errors import FieldError
from crdcompat.apiserver.strategy import Resource
from crdcompat.features.simulate.edits import touching, unrelated
from crdcompat.features.simulate.repair import repair
from crdcompat.models.simulation import Repair
from crdcompat.schema.paths import Object, Pointer, SchemaPath, is_within, schema_path_of
from crdcompat.vocabulary.writes import WriteKind, WriteResult

_PROBE = "crdcompat.example.com/probe"
_MAX_EDITS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one kind of write: verdict, causes, the client's message, and a note on how it was made."""

    verdict: WriteResult
    errors: tuple[FieldError, ...] = ()
    message: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """A place of the object that breaks the schema: where exactly, the path in general, and the error."""

    pointer: Pointer
    path: SchemaPath
    error: FieldError


@dataclass(frozen=True, slots=True)
class Replay:
    """All writes of one object by name, what reading it takes away and adds, and what would repair it.

    ``causes`` are the places that break the schema, without any ratcheting.
    """

    writes: dict[WriteKind, Answer]
    causes: tuple[Cause, ...]
    pruned: tuple[str, ...]
    defaulted: tuple[str, ...]
    repair: Repair


def replay(resource: Resource, stored: Object, *, had_status: bool) -> Replay:
    """Replay ``stored`` on ``resource``; ``had_status``: the release that wrote it had a /status endpoint."""
    read = resource.read(stored)
    whole = resource.create_decoded(Decoded(read.object), keep_status=True)
    causes = tuple(_causes(resource, read.object, whole))
    bad = list(dict.fromkeys(cause.pointer for cause in causes if cause.pointer))
    at_root = any(not cause.pointer for cause in causes)
    # What breaks no rule breaks none by a small change beside it, unless rules look at the old object.
    sound = whole.accepted is True and not resource.has_transition_rules
    loses = bool(read.pruned)
    # A label, a finalizer, an apply of a label: the rest stays as it is, and the server says the same to each.
    beside = Answer(WriteResult.ACCEPTED) if sound else _answer(_update(resource, _labelled(read.object), read.object))
    status = _status_update(resource, read.object, bad, had_status, beside, sound=sound)
    writes = {
        WriteKind.STATUS_UPDATE: status,
        WriteKind.STATUS_UPDATE_TOUCHING: _status_touching(resource, read.object, bad, had_status, status),
        WriteKind.SPEC_UPDATE: _edited(resource, read.object, "spec", bad, beside, sound=sound),
        WriteKind.METADATA_UPDATE: beside,
        WriteKind.FINALIZER_REMOVAL: _finalizer_removal(read.object, beside),
        WriteKind.APPLY: beside if sound else _apply(resource, read.object, beside),
        WriteKind.CREATE: _create(resource, read.object, sound=sound),
    }
    if loses:
        writes = {name: _lossy(answer) for name, answer in writes.items()}
    return Replay(writes, causes, read.pruned, read.defaulted, repair(resource, read.object, bad, at_root=at_root))


def _causes(resource: Resource, obj: Object, whole: Verdict) -> Iterator[Cause]:
    """Where the object breaks the schema: the values that a rollback stumbles over. The root is ``()``."""
    for error in whole.errors:
        if error.is_marker:
            continue
        pointer = error.pointer if is_within(obj, error.pointer) else ()
        yield Cause(pointer, schema_path_of(resource.node, pointer), error)


def _status_update(
    resource: Resource, obj: Object, bad: list[Pointer], had_status: bool, beside: Answer, *, sound: bool
) -> Answer:
    if had_status and not resource.version.has_status:
        return _no_endpoint(resource, obj)
    return _edited(resource, obj, "status", bad, beside, sound=sound)


def _edited(resource: Resource, obj: Object, part: str, bad: list[Pointer], beside: Answer, *, sound: bool) -> Answer:
    """The write of something else in ``part``: an edit that adds no error of its own, and takes none away.

    ``beside`` is the answer to a main write that changes neither half. Where a rule at the root is broken, nobody
    knows by which value: an edit that mends it changed just that.
    """
    status_write = part == "status" and resource.version.has_status

    def write(new: Object) -> Verdict:
        return _update(resource, new, obj, status=status_write)

    as_it_is = _answer(write(obj)) if status_write and not sound else beside
    unchanged = len(as_it_is.errors)
    best: Answer | None = None
    for count, edit in enumerate(unrelated(obj, resource.node, part, bad, resource.server)):
        # What was against no rule is not after an edit that no rule speaks of.
        unnoticed = sound and edit.is_unnoticed(resource.node)
        answer = replace(
            Answer(WriteResult.ACCEPTED) if unnoticed else _answer(write(edit.object)), note=f"changes {edit.what}"
        )
        errors = len(answer.errors)
        if errors >= unchanged and (best is None or errors < len(best.errors)):
            best = answer
        if errors == unchanged or count == _MAX_EDITS:
            break
    if best is not None and not (sound and best.errors):
        return best
    # Of a sound object no edit is told that only breaks a rule of its own.
    return replace(as_it_is, note=f"nothing else in {part} can be changed: written as it is")


def _status_touching(resource: Resource, obj: Object, bad: list[Pointer], had_status: bool, plain: Answer) -> Answer:
    if had_status and not resource.version.has_status:
        return _no_endpoint(resource, obj)
    in_status = [place for place in bad if place[0] == "status"]
    made = touching(obj, obj, resource.node, in_status)
    if made is None:
        return replace(plain, note="nothing in status is against the schema")
    new, old, what = made
    verdict = _update(resource, new, old, status=resource.version.has_status)
    return replace(_answer(verdict), note=f"writes {what}")


def _no_endpoint(resource: Resource, obj: Object) -> Answer:
    return replace(_answer(resource.no_endpoint(obj)), note="this CRD has no /status endpoint")


def _finalizer_removal(obj: Object, beside: Answer) -> Answer:
    if obj.get("metadata", {}).get("finalizers"):
        return beside
    return replace(beside, note="the object has no finalizer: a hypothetical one is removed")


def _apply(resource: Resource, obj: Object, beside: Answer) -> Answer:
    failed = resource.typing_failure({"metadata": {"labels": {_PROBE: "1"}}}, obj)
    return beside if failed is None else _answer(failed)


def _create(resource: Resource, obj: Object, *, sound: bool) -> Answer:
    if sound and not (resource.version.has_status and "status" in obj):
        return Answer(WriteResult.ACCEPTED)  # nothing is left out of what was judged as a whole
    return _answer(resource.create_decoded(Decoded(_fresh(obj))))


def _update(resource: Resource, new: Object, old: Object, *, status: bool = False) -> Verdict:
    """A write of what was read and edited: it need not be decoded again."""
    request = Decoded(new)
    return resource.update_status_decoded(request, old) if status else resource.update_decoded(request, old)


def _labelled(obj: Object) -> Object:
    meta = obj.get("metadata", {})
    return {
        **obj,
        "metadata": {**meta, "labels": {**(meta.get("labels") or {}), _PROBE: "1"}},
    }


def _fresh(stored: Object) -> Object:
    """As a backup tool creates it anew: without what only a server sets."""
    server_set = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")
    meta = stored.get("metadata")
    kept = {k: v for k, v in meta.items() if k not in server_set} if isinstance(meta, dict) else meta
    return {**stored, "metadata": kept}


def _answer(verdict: Verdict) -> Answer:
    if verdict.accepted is False:
        return Answer(WriteResult.REJECTED, verdict.errors, verdict.message)
    if verdict.unknown:
        return Answer(WriteResult.UNKNOWN, note="; ".join(_doubts(verdict)))
    return Answer(WriteResult.ACCEPTED)


def _doubts(verdict: Verdict) -> Iterator[str]:
    for item in verdict.unknown:
        yield f"{item.field}: {item.what}: {item.reason}"


def _lossy(answer: Answer) -> Answer:
    """Any accepted write stores the object as the old CRD reads it: what it lacks is erased."""
    return replace(answer, verdict=WriteResult.LOSES_DATA) if answer.verdict == WriteResult.ACCEPTED else answer
