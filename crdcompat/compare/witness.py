"""Prove the effect of a change by a witness, which the writer and the reader judge before a report shows it.

A witness is the smallest example object found that every writer accepts and on which every reader shows the effect.
Where no valid object can have the value, there is no effect; where the search found none, the outcome has the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from crdcompat.compare.attempt import Claim, Ended, Tried, attempt
from crdcompat.compare.changes import Change
from crdcompat.compare.registry import facet_of
from crdcompat.compare.site import Trial, WriterReader
from crdcompat.compare.trial_book import TrialBook
from crdcompat.schema.paths import Object, SchemaPath
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Effect

#: Values proved one by one; a giant enum's other values count as proved with them.
_MAX_TRIED = 64


class Witness(Struct, frozen=True):
    """The proof of an effect, or the ``reason`` why there is none (then ``object`` is None).

    ``errors`` are the reader's messages, ``pruned`` and ``defaulted`` the paths of fields that it removes and adds,
    ``at`` is the path of the effect, if it differs from the change's own path.
    """

    object: Object | None
    errors: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()
    reason: str | None = None
    at: SchemaPath | None = None


class Outcome(Struct, frozen=True):
    """The effect of a change in one direction, its witness, and the labels of the values that have the effect."""

    effect: Effect
    witness: Witness
    labels: tuple[Any, ...] = ()


def prove(change: Change, direction: Direction, pair: WriterReader, book: TrialBook) -> Outcome:
    """The effect of ``change`` when ``pair.reader`` reads objects that are valid under ``pair.writer``."""
    facet = facet_of(change.kind)
    effects = facet.effects[change.kind].towards(direction)
    if not effects:
        return Outcome(Effect.NONE, Witness(None))
    trials = book.trials(facet, change, direction, pair)
    tried: list[tuple[Trial, Tried]] = []
    known: Object | None = None
    for trial in trials.values[:_MAX_TRIED]:
        found = attempt(trial, Claim.at(change, effects, trial.at), pair, book.shared(pair), known)
        known = found.object or known
        tried.append((trial, found))
        if found.effect == effects[0] and not trials.complete:
            break  # one value proves the effect of an open set
    proved = [each for each in tried if each[1].ended is Ended.PROVED]
    remaining = [trial.label for trial, found in tried if not found.refuted]
    remaining += [trial.label for trial in trials.values[_MAX_TRIED:]]
    labels = tuple(label for label in remaining if label is not ABSENT)
    if proved:
        trial, best = min(proved, key=lambda each: effects.index(each[1].effect))
        return Outcome(best.effect, _witness(trial, best), labels)
    if trials.complete and not remaining:
        return Outcome(Effect.NONE, Witness(None))
    if tried and all(found.ended in (Ended.NEVER, Ended.NO_EFFECT) for _, found in tried):
        return Outcome(Effect.NONE, Witness(None))
    reasons = (trials.why, *(found.why for _, found in tried), "no value could be made for this field")
    return Outcome(effects[0], Witness(None, reason=next(filter(None, reasons))), labels)


def _witness(trial: Trial, proved: Tried) -> Witness:
    assert proved.answer is not None
    errors = tuple(error.text() for error in proved.answer.errors)
    return Witness(proved.object, errors, proved.answer.pruned, proved.answer.defaulted, at=trial.at)


def proves(witness: Witness, change: Change, effect: Effect, pairs: Sequence[WriterReader]) -> bool:
    """Whether a witness proves the effect for other pairs, too (contexts whose schemas differ elsewhere)."""
    if witness.object is None:
        return False
    claim = Claim.at(change, (effect,), witness.at)
    for pair in pairs:
        verdict = pair.writer.create(witness.object, keep_status=True)
        if verdict.accepted is not True or verdict.object is None:
            return False
        answer = pair.reader.create(verdict.object, keep_status=True)
        if claim.effect(answer) == Effect.NONE:
            return False
    return True
