"""Every effect is claimed with a witness, and every witness is judged before it is shown.

A witness is the smallest object found that every writer accepts and on which every reader shows the effect.
Where no object can hold the value, there is no effect; where none was found, that is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crdcompat.apiserver.strategy import Resource, Verdict
from crdcompat.compare.changes import Change
from crdcompat.compare.exhaust import cannot_hold, forbids
from crdcompat.compare.facets import facet_of_change
from crdcompat.compare.objects import Object, place, whole_object
from crdcompat.compare.search import find_valid, shrink
from crdcompat.compare.site import NONE, Facet, Meeting, Trial
from crdcompat.schema.paths import Pointer, field_of, node_at, value_at, with_value
from crdcompat.schema.structural import ABSENT

#: Of a giant enum only so many values are proved one by one; the others are of the same kind.
_PROVED_ONE_BY_ONE = 64


@dataclass(frozen=True, slots=True)
class Witness:
    """The proof of an effect, or the ``reason`` why there is none (then ``object`` is None).

    ``errors`` are the reader's sentences, ``pruned`` and ``defaulted`` the paths it takes away and adds.
    """

    object: Object | None
    errors: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a change does in one direction: its effect, the witness, and the values it holds for."""

    effect: str
    witness: Witness
    labels: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class _Tried:
    """How one trial ended: a witness, or that there can be none (``impossible``), or just none (``why``)."""

    witness: Witness | None = None
    impossible: bool = False
    harmless: bool = False
    why: str = ""
    object: Object | None = field(default=None, compare=False)


def prove(change: Change, direction: str, meeting: Meeting) -> Outcome:
    """The effect of ``change`` where ``meeting.writer``'s objects meet ``meeting.reader``."""
    facet = facet_of_change(change.kind)
    effect = facet.EFFECTS[change.kind].towards(direction)
    if effect == NONE:
        return Outcome(NONE, Witness(None))
    trials = facet.trials(change, direction, meeting)
    tried: list[tuple[Trial, _Tried]] = []
    known: Object | None = None
    for trial in trials.values[:_PROVED_ONE_BY_ONE]:
        answer = _try(trial, change, effect, facet, meeting, known)
        known = answer.object if answer.object is not None else known
        tried.append((trial, answer))
        if answer.witness is not None and not trials.complete:
            break  # any one value proves an open set
    first = next((answer.witness for _, answer in tried if answer.witness is not None), None)
    standing = [trial.label for trial, answer in tried if not (answer.impossible or answer.harmless)]
    standing += [trial.label for trial in trials.values[_PROVED_ONE_BY_ONE:]]
    labels = tuple(label for label in standing if label is not None)
    if first is not None:
        return Outcome(effect, first, labels)
    if trials.complete and not standing:
        return Outcome(NONE, Witness(None))
    if tried and all(answer.impossible or answer.harmless for _, answer in tried):
        return Outcome(NONE, Witness(None))
    reasons = list(dict.fromkeys(answer.why for _, answer in tried if answer.why))
    return Outcome(effect, Witness(None, reason=_reason(reasons)), labels)


def _reason(reasons: list[str]) -> str:
    if not reasons:
        return "no value could be made for this field"
    return reasons[0]


def _try(trial: Trial, change: Change, effect: str, facet: Facet, meeting: Meeting, known: Object | None) -> _Tried:
    writer, reader = meeting.writer, meeting.reader
    target = place(change.path)
    keep = place(trial.path)

    def accepts(obj: Object) -> Verdict:
        return writer.create(obj, keep_status=True)

    def shows(verdict: Verdict) -> bool:
        shown = field_of(target, indexed=reader.server.does("list_index_in_paths") or effect != "write-rejected")
        return facet.shows(effect, verdict, shown)

    start = _start(trial, keep, writer, known)
    if start is None:
        return _Tried(why="no valid object with this field could be made")
    verdict = accepts(start)
    if verdict.accepted is False and _is_impossible(trial, meeting):
        return _Tried(impossible=True)
    found, verdict = find_valid(start, verdict, keep, writer, accepts)
    if found is None:
        return _Tried(why=_why_rejected(verdict, writer))
    if verdict.object is None or _at(verdict.object, keep) is ABSENT:
        return _Tried(impossible=True)  # the value does not survive decoding: a null that is dropped
    answer = reader.create(verdict.object, keep_status=True)
    if not shows(answer):
        return _Tried(harmless=True)

    def still(obj: Object) -> bool:
        return accepts(obj).accepted is True and shows(reader.create(obj, keep_status=True))

    small = found
    if found is not start:  # a minimal object needs no shrinking, one that was searched for does
        small = shrink(found, keep, still)
        answer = reader.create(small, keep_status=True)
    witness = Witness(
        small,
        errors=tuple(error.text(reader.server) for error in answer.errors),
        pruned=answer.pruned,
        defaulted=answer.defaulted,
    )
    return _Tried(witness=witness, object=small)


def _start(trial: Trial, keep: Pointer, writer: Resource, known: Object | None) -> Object | None:
    """Where the search begins: the witness of a value before it, if it can hold this one, else a minimal object."""
    if known is not None:
        try:
            swapped: Object = with_value(known, keep, trial.value)
        except LookupError:
            swapped = known
        if swapped is not known and writer.create(swapped, keep_status=True).accepted:
            return swapped
    return whole_object(writer, trial.path, trial.value)


def _is_impossible(trial: Trial, meeting: Meeting) -> bool:
    """Whether the writer rejects the value whatever object stands around it."""
    root, server = meeting.writer.node, meeting.writer.server
    node = node_at(root, trial.path)
    if node is not None and forbids(node, trial.value, server):
        return True
    parent, member = node_at(root, trial.path[:-1]) if trial.path else None, trial.path[-1:]
    if parent is None or not member or not isinstance(member[0], str):
        return False
    return cannot_hold(parent, member[0], trial.value, server)


def _why_rejected(verdict: Verdict, writer: Resource) -> str:
    if verdict.unknown and not verdict.errors:
        first = verdict.unknown[0]
        return f"cannot be judged: {first.field}: {first.what}: {first.reason}"
    return f"no valid object found that holds the value: {verdict.errors[0].text(writer.server)}"


def _at(obj: Object, pointer: tuple[str | int, ...]) -> Any:
    try:
        return value_at(obj, pointer)
    except LookupError:
        return ABSENT


def holds(witness: Witness, change: Change, effect: str, meetings: Sequence[Meeting]) -> bool:
    """Whether a witness proves the effect in other meetings too (contexts whose schemas differ elsewhere)."""
    if witness.object is None:
        return False
    facet = facet_of_change(change.kind)
    for meeting in meetings:
        verdict = meeting.writer.create(witness.object, keep_status=True)
        if verdict.accepted is not True or verdict.object is None:
            return False
        indexed = meeting.reader.server.does("list_index_in_paths") or effect != "write-rejected"
        answer = meeting.reader.create(verdict.object, keep_status=True)
        if not facet.shows(effect, answer, field_of(place(change.path), indexed=indexed)):
            return False
    return True
