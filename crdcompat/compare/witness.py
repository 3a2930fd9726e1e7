"""Prove the effect of a change by a witness, which the writer and the reader judge before a report shows it.

A witness is the smallest example object found that every writer accepts and on which every reader shows the effect.
Where no valid object can have the value, there is no effect; where the search found none, the outcome has the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.compare.attempt import Attempt, Ended, Reading, attempt
from crdcompat.compare.changes import Change
from crdcompat.compare.claim import Claim, ordered
from crdcompat.compare.registry import facet_of
from crdcompat.compare.resource_fields import trials_of_type
from crdcompat.compare.site import Trial, Trials, WriterReader
from crdcompat.compare.trial_book import TrialBook
from crdcompat.compare.update import Update
from crdcompat.schema.answers import ANSWERS
from crdcompat.schema.equality import canonical, digest
from crdcompat.schema.paths import ITEM, VALUE, Object, SchemaPath, node_at
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.writes import Operation

#: Values proved one by one; a giant enum's other values count as proved with them.
_MAX_TRIED = 64


class Witness(Struct, frozen=True):
    """The proof of an effect, or the ``reason`` why there is none (then ``object`` is None).

    ``errors`` are the reader's messages, those of the change first; ``pruned`` and ``defaulted`` the paths of fields
    that it removes and adds. ``at`` is the path of the effect, if it differs from the change's own path. ``stored`` is
    the object that ``object`` replaces by the write ``operation``, if only an update shows the effect. ``assumed``:
    the effect is that of equal changes of siblings.
    """

    object: Object | None
    errors: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()
    reason: str | None = None
    at: SchemaPath | None = None
    stored: Object | None = None
    operation: Operation | None = None
    assumed: bool = False


class Outcome(Struct, frozen=True):
    """The effect of a change in one direction, its witness, and the labels of the values that have the effect."""

    effect: Effect
    witness: Witness
    labels: tuple[Any, ...] = ()


#: Characters of an example and its errors that make it large, and of all large ones for equal changes in one object.
_LARGE, _MAX_SPENT = 4_000, 200_000
_OF_SIBLINGS = "no example object was built: equal changes beside it have large ones"
_MASKED = "every example object that was found is also rejected for another reason"


def prove(change: Change, direction: Direction, pair: WriterReader, book: TrialBook) -> Outcome:
    """The effect of ``change`` when ``pair.reader`` reads objects that are valid under ``pair.writer``.

    Versions of a CRD mostly have equal schemas: what is proved for one of them is judged once more for the others.
    """
    key = (*book.schemas(pair), direction, change.kind, change.path, canonical((change.old, change.new)))
    known: Outcome | None = book.proved.get(key)
    if known is None or (moved := _as_version(known, change, pair)) is None:
        siblings = (*book.schemas(pair), direction, change.kind, change.path[:-1])
        equal = _equal_changes(change, direction, pair)
        moved = (
            _as_sibling(change, siblings, book)
            or _carried(book.earlier.get(equal), change, direction, pair)
            or _asked(change, direction, pair, book)
        )
        book.proved.put(key, moved)
        _remember(change, moved, siblings, book)
        if _may_be_carried(moved, change):
            book.carry(equal, moved)
    return moved


def _equal_changes(change: Change, direction: Direction, pair: WriterReader) -> tuple[Any, ...]:
    """The key of the changes that are equal between other releases."""
    values = digest(canonical((change.old, change.new)))
    return pair.writer.crd.name, pair.reader.crd.name, direction, change.kind, change.path, values


def _may_be_carried(outcome: Outcome, change: Change) -> bool:
    """Whether an outcome is about one value at most, so that other schemas have no other values with the effect."""
    is_single = len(change.added) <= 1 and len(change.removed) <= 1
    known = outcome.labels == () or (is_single and outcome.labels in (change.added, change.removed))
    return outcome.witness.object is not None and known


def _carried(earlier: Outcome | None, change: Change, direction: Direction, pair: WriterReader) -> Outcome | None:
    """The outcome of an equal change between other releases, if its object shows the same here, and nothing else.

    Two validations take the place of a search. The object is judged anew, so its errors are those of this reader.
    """
    if earlier is None:
        return None
    witness = _of_version(earlier.witness, pair)
    effects = facet_of(change.kind).effects[change.kind].towards(direction)
    claim = Claim.at(change, effects, witness.at)
    asked = partial(pair.question, witness.object, witness.stored, witness.operation, claim)
    again = ANSWERS.of("carried", asked, Witness | None, partial(_shown_again, witness, claim, pair))
    return None if again is None else replace(earlier, effect=effects[0], witness=again)


def _shown_again(witness: Witness, claim: Claim, pair: WriterReader) -> Witness | None:
    """The witness with the answers of this pair, if they show the strongest effect of the claim and nothing else."""
    read = _answer_to(witness, pair)
    shown = claim.shown_by(read) if read is not None else None
    if read is None or shown is None or not shown.clean or shown.effect != claim.effects[0]:
        return None
    errors = tuple(error.text() for error in ordered(shown, read))
    return replace(witness, errors=errors, pruned=read.pruned, defaulted=read.defaulted)


def _answer_to(witness: Witness, pair: WriterReader) -> Verdict | None:
    """The reader's answer to the write of a witness; None if the writer does not accept the witness."""
    if witness.object is None:
        return None
    created = pair.writer.create(witness.stored or witness.object, keep_status=True)
    if created.accepted is not True or created.object is None:
        return None
    if witness.stored is None or witness.operation is None:
        return pair.reader.create(created.object, keep_status=True)
    update = Update(witness.stored, witness.object, witness.operation)
    return update.judged_by(pair.reader) if update.judged_by(pair.writer).accepted is True else None


def _of_version(witness: Witness, pair: WriterReader) -> Witness:
    """A witness in the version of the writer."""
    version = {"apiVersion": pair.writer.api_version}
    obj = None if witness.object is None else {**witness.object, **version}
    return replace(witness, object=obj, stored=None if witness.stored is None else {**witness.stored, **version})


def _as_sibling(change: Change, siblings: tuple[Any, ...], book: TrialBook) -> Outcome | None:
    """The outcome of an equal change of a sibling, if the large examples of its siblings have used up their budget.

    Each of a thousand changes in one object may need an example with a thousand members, and each is judged.
    """
    if book.spent[siblings] < _MAX_SPENT:
        return None
    outcome = book.siblings[siblings]
    labels = change.added if outcome.labels else ()
    return Outcome(outcome.effect, Witness(None, reason=_OF_SIBLINGS, assumed=True), labels)


def _remember(change: Change, outcome: Outcome, siblings: tuple[Any, ...], book: TrialBook) -> None:
    witness = outcome.witness
    if witness.object is None or outcome.labels not in ((), change.added):
        return
    size = len(orjson.dumps([witness.object, witness.errors, witness.pruned, witness.defaulted]))
    if size > _LARGE:
        book.spent[siblings] += size
        book.siblings[siblings] = outcome


def _as_version(known: Outcome, change: Change, pair: WriterReader) -> Outcome | None:
    """The outcome with its witness in the writer's version; None if the servers answer otherwise."""
    if known.witness.object is None:
        return known
    moved = _of_version(known.witness, pair)
    return replace(known, witness=moved) if proves(moved, change, known.effect, [pair]) else None


def _asked(change: Change, direction: Direction, pair: WriterReader, book: TrialBook) -> Outcome:
    """``_prove``, or what it gave in an earlier run for an equal change of equal CRDs."""
    inputs = partial(pair.question, change, direction)
    return ANSWERS.of("proof", inputs, Outcome, partial(_prove, change, direction, pair, book))


def _prove(change: Change, direction: Direction, pair: WriterReader, book: TrialBook) -> Outcome:
    facet = facet_of(change.kind)
    effects = facet.effects[change.kind].towards(direction)
    if not effects or (effects == (Effect.VALUE_PRUNED,) and not pair.reader.crd.prunes):
        return Outcome(Effect.NONE, Witness(None))
    if _is_out_of_reach(pair.writer.node, change.path):
        return Outcome(Effect.NONE, Witness(None))
    fixed = trials_of_type(change, pair) if Effect.WRITE_REJECTED in effects else None
    trials = fixed or book.trials(facet, change, direction, pair)
    tried = [*_attempts(change, trials, effects, pair, book)]
    remaining = [trial.label for trial, answer in tried if not answer.refuted]
    remaining += [trial.label for trial in trials.values[_MAX_TRIED:]]
    labels = tuple(label for label in remaining if label is not ABSENT)
    if proved := [(trial, answer.reading) for trial, answer in tried if answer.reading is not None]:
        return _outcome(proved, effects, labels)
    if (trials.complete and not remaining) or any(answer.ended is Ended.NEVER for _, answer in tried):
        return Outcome(Effect.NONE, Witness(None))
    if effects == (Effect.WRITE_REJECTED,) and _follows(change, direction, pair):
        return Outcome(Effect.NONE, Witness(None))
    reasons = (trials.why, *(answer.why for _, answer in tried), "no value could be made for this field")
    return Outcome(effects[0], Witness(None, reason=next(filter(None, reasons))), labels)


def _attempts(
    change: Change, trials: Trials, effects: tuple[Effect, ...], pair: WriterReader, book: TrialBook
) -> Iterator[tuple[Trial, Attempt]]:
    """The attempts to prove each value; of an open set, one clean proof of the strongest effect is enough."""
    known: Object | None = None
    for trial in trials.values[:_MAX_TRIED]:
        claim = Claim.at(change, effects, trial.at)
        searched = trials.complete or known is None
        made = book.made(pair.writer.server)
        answer = attempt(trial, claim, pair, book.shared(pair), known=known, search=searched, made=made)
        yield trial, answer
        if answer.reading is not None:
            known, shown = answer.reading.object, answer.reading.shown
            if shown.clean and shown.effect == effects[0] and not trials.complete:
                return


def _outcome(proved: Sequence[tuple[Trial, Reading]], effects: tuple[Effect, ...], labels: tuple[Any, ...]) -> Outcome:
    """The outcome of the best proof."""
    trial, best = min(proved, key=lambda each: _rank(each[1], effects))
    if best.shown.masked:
        return Outcome(effects[0], Witness(None, reason=_MASKED), labels)
    return Outcome(best.shown.effect, _witness(trial, best), labels)


def _is_out_of_reach(root: Node, path: SchemaPath) -> bool:
    """Whether no object has a value at ``path``: a list above it has no items, or an enum above it no such value.

    Of the last step, which may be about a member that is absent, only what holds it counts.
    """
    above = ((length, node_at(root, path[:length])) for length in range(len(path)))
    return any(node is not None and _holds_nothing(node, path[length:]) for length, node in above)


def _holds_nothing(node: Node, rest: SchemaPath) -> bool:
    if rest[0] is ITEM and node.count("maxItems") == 0:
        return True
    listed = node.raw.get("enum")
    return isinstance(listed, list) and bool(listed) and not any(_reaches(member, rest[:-1]) for member in listed)


def _reaches(value: Any, path: SchemaPath) -> bool:
    """Whether a value has an object or a list at a path."""
    if not path:
        return isinstance(value, (dict, list))
    step, rest = path[0], path[1:]
    if step is ITEM:
        return isinstance(value, list) and any(_reaches(item, rest) for item in value)
    if not isinstance(value, dict):
        return False
    if step is VALUE:
        return any(_reaches(member, rest) for member in value.values())
    return step in value and _reaches(value[step], rest)


def _rank(reading: Reading, effects: tuple[Effect, ...]) -> tuple[bool, int, bool]:
    """The sort key of proofs: the strongest effect first, clean objects before others, masked effects last."""
    shown = reading.shown
    return shown.masked, len(effects) if shown.masked else effects.index(shown.effect), not shown.clean


def _follows(change: Change, direction: Direction, pair: WriterReader) -> bool:
    """Whether the reader's constraint follows from the writer's. The import loads the CEL library."""
    from crdcompat.compare.equivalence.effective import follows

    return follows(change, direction, pair)


def _witness(trial: Trial, reading: Reading) -> Witness:
    assert reading.read is not None
    errors = tuple(error.text() for error in ordered(reading.shown, reading.read))
    stored, operation = (None, None) if reading.update is None else (reading.update.stored, reading.update.operation)
    read = reading.read
    return Witness(reading.object, errors, read.pruned, read.defaulted, at=trial.at, stored=stored, operation=operation)


def proves(witness: Witness, change: Change, effect: Effect, pairs: Sequence[WriterReader]) -> bool:
    """Whether a witness proves the effect for other pairs, too (contexts whose schemas differ elsewhere)."""
    if witness.object is None:
        return False
    claim = Claim.at(change, (effect,), witness.at)
    shown = (witness.object, witness.stored, witness.operation, claim)
    return all(
        ANSWERS.of("witness", partial(pair.question, *shown), bool, partial(_proves, witness, claim, pair))
        for pair in pairs
    )


def _proves(witness: Witness, claim: Claim, pair: WriterReader) -> bool:
    read = _answer_to(witness, pair)
    return read is not None and claim.shown_by(read).effect == claim.effects[0]
