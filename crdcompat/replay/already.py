"""Removes from a replay the rejections and losses that the writing release has as well.

A recording is not always what is stored: some tools write typed objects, with empty strings for absent values and
without fields that their types lack. And a stored object may break the schema of the release that it is recorded from.
The move between the releases does not cause a rejection or a loss that the writing release shows as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.strategy import Resource
from crdcompat.replay.replayed_writes import Cause, Replay, Written, constraint_of, replay, writes_of
from crdcompat.replay.write_answer import Answer
from crdcompat.schema.paths import Object, value_at
from crdcompat.vocabulary.writes import WriteKind, WriteResult


def without_already(reader: Resource, writer: Resource, stored: Object, found: Replay, *, notes: bool = True) -> Replay:
    """``found``, the replay on ``reader``, without the rejections and losses that ``writer`` shows as well.

    ``notes`` as in ``replay``.
    """
    if not found.causes and all(answer.verdict is not WriteResult.REJECTED for answer in found.writes.values()):
        return _without_losses(found, writer.reread(stored).pruned)
    before = writes_of(writer, stored, had_status=writer.version.has_status, notes=notes)
    known = {constraint_of(cause.error) for cause in before.causes}
    if known:
        found = replay(reader, stored, had_status=writer.version.has_status, known=known, notes=notes)
    return _without_rejections(_without_losses(found, before.read.pruned), before, stored)


def _without_losses(found: Replay, before: Sequence[str]) -> Replay:
    """``found`` without the losses of the writer's fields ``before``."""
    not_stored = tuple(path for path in found.pruned if _is_covered(path, before))
    pruned = tuple(path for path in found.pruned if path not in not_stored)
    writes = found.writes
    if not_stored and not pruned:
        writes = {kind: _lossless(answer) for kind, answer in writes.items()}
    return replace(found, writes=writes, pruned=pruned, not_stored=not_stored)


def _without_rejections(found: Replay, before: Written, stored: Object) -> Replay:
    writes = {kind: _answer(found, before, kind, stored) for kind in found.writes}
    rejected = [kind for kind, answer in writes.items() if answer.counts is WriteResult.REJECTED]
    own = {constraint_of(error) for kind in rejected for error in _own(found, before, kind, stored)}
    already = tuple(
        cause
        for cause in found.causes
        if constraint_of(cause.error) not in own and _is_alike(cause.error, _errors(before.causes), stored)
    )
    return replace(
        found,
        writes=writes,
        causes=tuple(cause for cause in found.causes if cause not in already),
        search=found.search if rejected or not already else None,
        already=already,
    )


def _answer(found: Replay, before: Written, kind: WriteKind, stored: Object) -> Answer:
    """The answer to one kind of write; a rejection that has no error of its own is marked."""
    answer, other = found.writes[kind], before.writes[kind]
    if answer.verdict is not WriteResult.REJECTED or other.verdict is not WriteResult.REJECTED:
        return answer
    if not answer.errors and not (kind is WriteKind.APPLY and found.causes):
        return replace(answer, already=answer.message == other.message)
    return replace(answer, already=not _own(found, before, kind, stored))


def _own(found: Replay, before: Written, kind: WriteKind, stored: Object) -> list[FieldError]:
    """The errors of a write that the writer does not have. An apply that cannot be typed has none: its causes count."""
    others = before.writes[kind].errors
    if before.writes[kind].verdict is WriteResult.REJECTED:
        others = others or _errors(before.causes)
    errors = found.writes[kind].errors or _errors(found.causes)
    return [error for error in errors if not error.is_marker and not _is_alike(error, others, stored)]


def _errors(causes: Sequence[Cause]) -> tuple[FieldError, ...]:
    return tuple(cause.error for cause in causes)


def _is_alike(error: FieldError, before: Sequence[FieldError], stored: Object) -> bool:
    """Whether the writer rejects it too: a scalar at the same place by any keyword, else by the same constraint."""
    if any(constraint_of(error) == constraint_of(other) for other in before):
        return True
    return _is_scalar(error, stored) and any(error.pointer == other.pointer for other in before)


def _is_scalar(error: FieldError, stored: Object) -> bool:
    try:
        return not isinstance(value_at(stored, error.pointer), (dict, list))
    except LookupError:
        return False


def _is_covered(path: str, others: Sequence[str]) -> bool:
    return any(path == other or path.startswith((f"{other}.", f"{other}[")) for other in others)


def _lossless(answer: Answer) -> Answer:
    return replace(answer, verdict=WriteResult.ACCEPTED) if answer.verdict is WriteResult.LOSES_DATA else answer
