"""Replays the rollback of one stored object: every kind of write, judged by the server of the other release.

The API server reads a stored object through the CRD that it serves now: it prunes, drops nulls and sets defaults. Each
write is based on the result (docs/cluster.md#the-kinds-of-write; docs/semantics.md#after-a-rollback).
"""

from __future__ import annotations

from collections.abc import Callable, Set
from functools import cached_property, partial
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.admission import SERVER_SET, Verdict
from crdcompat.apiserver.decode import Decoded
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.models.simulation import Repair
from crdcompat.replay.applies import apply_answer, labelled, unchanged_apply
from crdcompat.replay.edits import Edit, touching, unrelated
from crdcompat.replay.repair import place_before, repair, without
from crdcompat.replay.write_answer import Answer, answer_of
from crdcompat.schema.paths import Object, Pointer, SchemaPath, is_within, schema_path_of
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary.writes import NOT_FOUND, RepairVerdict, WriteKind, WriteResult

_MAX_EDITS = 8
#: The answer to a request for a version that the server does not serve.
_NO_RESOURCE = "404 page not found"


#: A broken constraint: place, keyword, and the text of a rule.
Constraint = tuple[Pointer, Keyword, str]


def constraint_of(error: FieldError) -> Constraint:
    """The constraint that an error names."""
    return error.pointer, error.keyword, str(error.demand) if error.keyword is Keyword.RULE else ""


class Cause(Struct, frozen=True):
    """A place of the object that breaks the schema: its pointer, its schema path, and the error.

    An error of type NOT_FOUND is about the CRD, and no value of the object.
    """

    pointer: Pointer
    path: SchemaPath
    error: FieldError


class Replay(Struct, frozen=True, dict=True):
    """The answers to all writes of one object, and the fields that reading prunes and defaults.

    ``search`` finds the repair, None if none is needed. ``causes`` are the places that break the schema; ratcheting
    does not apply to them. ``already`` are causes, and ``not_stored`` pruned fields, that the writing release shows as
    well (``already.py``).
    """

    writes: dict[WriteKind, Answer]
    causes: tuple[Cause, ...]
    pruned: tuple[str, ...]
    defaulted: tuple[str, ...]
    search: Callable[[], Repair] | None
    already: tuple[Cause, ...] = ()
    not_stored: tuple[str, ...] = ()

    @cached_property
    def repair(self) -> Repair:
        """The single write that repairs the object. It is looked for when it is asked for: it costs more writes."""
        return Repair(RepairVerdict.NOT_NEEDED) if self.search is None else self.search()


def replay(
    resource: Resource, stored: Object, *, had_status: bool, known: Set[Constraint] = frozenset(), notes: bool = True
) -> Replay:
    """Replay ``stored`` on ``resource``; ``had_status``: the release that wrote it had a /status endpoint.

    A write that touches one bad value touches one that breaks no ``known`` constraint, if there is such a value.
    Without ``notes``, accepted writes of a valid object do not say which field changes: it is not looked for.
    """
    found = writes_of(resource, stored, had_status=had_status, known=known, notes=notes)
    at_root = any(not cause.pointer for cause in found.causes)
    search = partial(repair, resource, found.read.object, found.bad, at_root=at_root)
    lacking = (_not_found(("status",), ABSENT, resource.server),) if _lacks_endpoint(resource, had_status) else ()
    return Replay(found.writes, (*found.causes, *lacking), found.read.pruned, found.read.defaulted, search)


def without_version(version: str, server: Server, note: str) -> Replay:
    """The replay on a CRD that lacks the version of the object: the server finds no resource for any request."""
    answer = Answer(WriteResult.REJECTED, message=_NO_RESOURCE, note=note)
    causes = (_not_found((), version, server),)
    return Replay(dict.fromkeys(WriteKind, answer), causes, (), (), None)


def _not_found(at: tuple[str, ...], value: object, server: Server) -> Cause:
    return Cause(at, at, FieldError(NOT_FOUND, at, Keyword.CRD, value, server))


class Written(Struct, frozen=True):
    """The answers to all writes of one object, as it is ``read``; ``causes`` break the schema at the places ``bad``."""

    read: Decoded
    writes: dict[WriteKind, Answer]
    causes: tuple[Cause, ...]
    bad: list[Pointer]

    @property
    def rejected(self) -> frozenset[WriteKind]:
        return frozenset(kind for kind, answer in self.writes.items() if answer.verdict is WriteResult.REJECTED)


def writes_of(
    resource: Resource, stored: Object, *, had_status: bool, known: Set[Constraint] = frozenset(), notes: bool = True
) -> Written:
    """The writes of ``replay``, without the search for a repair."""
    read = resource.reread(stored)
    whole = resource.whole(stored, read)
    causes = _causes(resource, read.object, whole)
    ranked = sorted(causes, key=lambda cause: constraint_of(cause.error) in known)
    bad = list(dict.fromkeys(cause.pointer for cause in ranked if cause.pointer))
    # An unrelated small change keeps a valid object valid, unless rules read the old object.
    sound = whole.accepted is True and not resource.has_transition_rules
    valid = whole.accepted is True
    edits = _Edits(resource, read.object, causes, sound=sound, valid=valid, notes=notes)
    loses = bool(read.pruned)
    # A label, a finalizer, an apply of a label: neither half changes, and the server gives each the same answer.
    metadata = (
        Answer(WriteResult.ACCEPTED) if sound else answer_of(_update(resource, labelled(read.object), read.object))
    )
    lacks = _lacks_endpoint(resource, had_status)
    status = _no_endpoint(resource, read.object) if lacks else edits.answer("status", metadata)
    writes = {
        WriteKind.STATUS_UPDATE: status,
        WriteKind.STATUS_UPDATE_TOUCHING: _status_touching(resource, read.object, bad, had_status, status),
        WriteKind.SPEC_UPDATE: edits.answer("spec", metadata),
        WriteKind.METADATA_UPDATE: metadata,
        WriteKind.FINALIZER_REMOVAL: _finalizer_removal(read.object, metadata),
        WriteKind.APPLY: _apply(resource, stored, read.object, bad, metadata, valid=valid),
        WriteKind.CREATE: _create(resource, read.object, whole, valid=valid),
    }
    if loses:
        writes = {name: _lossy(answer) for name, answer in writes.items()}
    return Written(read, writes, causes, bad)


def _whole(resource: Resource, obj: Object) -> Verdict:
    """The verdict on the whole object as read, as if nothing of it were stored."""
    return resource.create_decoded(Decoded(obj), keep_status=True)


def _causes(resource: Resource, obj: Object, whole: Verdict) -> tuple[Cause, ...]:
    """The places where the object breaks the schema. The root is ``()``.

    A server that finds certain schema errors does not evaluate the rules. It does once these are repaired or, with
    ratcheting, tolerated. A rule is broken by itself if it is also broken without the bad values.
    """
    found = [_cause(resource, obj, error) for error in whole.errors if not error.is_marker]
    if len(found) < len(whole.errors):
        bad = [cause.pointer for cause in found if cause.pointer]
        rest = resource.broken_rules(without(obj, bad, resource))
        places = {constraint_of(error._replace(pointer=place_before(error.pointer, bad))) for error in rest}
        rules = resource.broken_rules(obj) if places else ()  # of large objects this is most of the work
        found += [_cause(resource, obj, error) for error in rules if constraint_of(error) in places]
    return tuple(found)


def _cause(resource: Resource, obj: Object, error: FieldError) -> Cause:
    place = error.pointer if is_within(obj, error.pointer) else ()
    return Cause(place, schema_path_of(resource.node, place), error)


class _Edits(Struct, frozen=True):
    """The writes of another field in a part of an object, as read.

    ``sound``: an edit that no rule mentions keeps the object valid. ``notes``: somebody wants to know which field
    changes.
    """

    resource: Resource
    object: Object
    causes: tuple[Cause, ...]
    sound: bool
    valid: bool
    notes: bool

    def answer(self, part: str, metadata: Answer) -> Answer:
        """The write in ``part``: an edit after which the object breaks the same constraints as before.

        ``metadata`` is the answer to a main write that changes neither half. An edit that repairs an error has changed
        the value at fault. An edit that causes a further error is none that a controller would send.
        """
        resource, obj, sound = self.resource, self.object, self.sound
        status_write = part == "status" and resource.version.has_status

        def write(new: Object) -> Answer:
            return answer_of(_update(resource, new, obj, status=status_write))

        as_read = write(obj) if status_write and not sound else metadata
        if not self.notes and self._is_as_read(as_read, status_write=status_write):
            return as_read
        broken = {constraint_of(cause.error) for cause in self.causes}
        bad = [cause.pointer for cause in self.causes if cause.pointer]
        best: Answer | None = None
        for edit in islice(unrelated(obj, resource.node, part, bad, resource.server), _MAX_EDITS):
            # A valid object stays valid after an edit that no rule mentions.
            unnoticed = sound and edit.is_unnoticed(resource.node)
            answer = Answer(WriteResult.ACCEPTED) if unnoticed else write(edit.object)
            if not unnoticed and not self._keeps_constraints(edit, answer, broken):
                continue
            if best is None or len(answer.errors) < len(best.errors):
                best = replace(answer, note=f"changes {edit.what}")
            if len(answer.errors) <= len(as_read.errors):
                break
        return best or replace(as_read, note=f"nothing else in {part} can be changed: written as it is")

    def _is_as_read(self, as_read: Answer, *, status_write: bool) -> bool:
        """Whether any edit that counts gets the answer to the object as it was read."""
        if self.valid:  # no controller sends an edit that makes a valid object invalid
            return as_read.verdict is WriteResult.ACCEPTED
        ratchets = self.resource.server.does("ratchet_status" if status_write else "ratchet_main")
        # An edit breaks the same constraints, and only ratcheting and old values make a difference between them.
        return as_read.verdict is WriteResult.REJECTED and not ratchets and not self.resource.has_transition_rules

    def _keeps_constraints(self, edit: Edit, answer: Answer, broken: Set[Constraint]) -> bool:
        """Whether the edited object breaks exactly these constraints, and the server answers with no other."""
        if not broken >= {constraint_of(error) for error in answer.errors if not error.is_marker}:
            return False
        resource = self.resource
        if not broken or (edit.replaces and edit.is_unnoticed(resource.node)):
            return True
        causes = _causes(resource, edit.object, _whole(resource, edit.object))
        return broken == {constraint_of(cause.error) for cause in causes}


def _status_touching(resource: Resource, obj: Object, bad: list[Pointer], had_status: bool, plain: Answer) -> Answer:
    if _lacks_endpoint(resource, had_status):
        return _no_endpoint(resource, obj)
    in_status = [place for place in bad if place[0] == "status"]
    made = touching(obj, obj, resource.node, in_status)
    if made is None:
        return replace(plain, note="nothing in status is against the schema")
    new, old, what = made
    verdict = _update(resource, new, old, status=resource.version.has_status)
    return replace(answer_of(verdict), note=f"writes {what}")


def _lacks_endpoint(resource: Resource, had_status: bool) -> bool:
    return had_status and not resource.version.has_status


def _no_endpoint(resource: Resource, obj: Object) -> Answer:
    return replace(answer_of(resource.no_endpoint(obj)), note="this CRD has no /status endpoint")


def _finalizer_removal(obj: Object, metadata: Answer) -> Answer:
    if obj.get("metadata", {}).get("finalizers"):
        return metadata
    return replace(metadata, note="the object has no finalizer: a hypothetical one is removed")


def _apply(
    resource: Resource, stored: Object, obj: Object, bad: list[Pointer], metadata: Answer, *, valid: bool
) -> Answer:
    if valid and not resource.has_other_versions(stored):
        return unchanged_apply(resource, stored, metadata)
    return apply_answer(resource, stored, obj, bad, metadata)


def _create(resource: Resource, obj: Object, whole: Verdict, *, valid: bool) -> Answer:
    loses_status = resource.version.has_status and "status" in obj
    if valid and (resource.has_free_status or not loses_status):
        return Answer(WriteResult.ACCEPTED)  # the create contains no more than was judged as a whole
    fresh = _fresh(obj)
    return answer_of(whole if fresh == obj and not loses_status else resource.create_decoded(Decoded(fresh)))


def _update(resource: Resource, new: Object, old: Object, *, status: bool = False) -> Verdict:
    """A write of the edited object as read: it needs no second decoding."""
    request = Decoded(new)
    return resource.update_status_decoded(request, old) if status else resource.update_decoded(request, old)


def _fresh(stored: Object) -> Object:
    """The object as a backup tool creates it again: without the fields that only a server sets."""
    meta = stored.get("metadata")
    kept = {k: v for k, v in meta.items() if k not in SERVER_SET} if isinstance(meta, dict) else meta
    return {**stored, "metadata": kept}


def _lossy(answer: Answer) -> Answer:
    """Any accepted write stores the object as the old CRD reads it, without the pruned fields."""
    return replace(answer, verdict=WriteResult.LOSES_DATA) if answer.verdict == WriteResult.ACCEPTED else answer
