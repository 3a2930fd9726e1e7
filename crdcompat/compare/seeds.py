"""Prove changes by seeds: objects from a source's own tests, samples and examples.

Where no example object could be built, one that people wrote may show the effect, or may do so with the value under
trial in it. Both servers judge it, as they judge any example; it is made smaller before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from msgspec import Struct

from crdcompat.candidates.search import shrink
from crdcompat.compare.changes import Change
from crdcompat.compare.claim import Claim, ordered
from crdcompat.compare.objects import whole_object
from crdcompat.compare.registry import facet_of
from crdcompat.compare.site import Trial, WriterReader
from crdcompat.compare.trial_book import TrialBook
from crdcompat.compare.update import Update, operations
from crdcompat.compare.witness import Witness
from crdcompat.schema.answers import ANSWERS
from crdcompat.schema.paths import ITEM, VALUE, Object, Pointer, SchemaPath, with_value
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Effect

#: Objects that are judged for one change, values put into a seed, items or keys of a seed that a path may lead through.
_MAX_JUDGED, _MAX_VALUES, _MAX_PLACES = 40, 4, 4
#: Items of one list that are tried to be left out.
_MAX_ITEMS = 12


#: An object that was built for a trial.
_Built = tuple[Object, Trial]


class Seed(Struct, frozen=True):
    """An object, and the object that it replaces if it is the write of an update.

    ``is_refused``: whoever wrote it expects the server to refuse it.
    """

    object: Object
    stored: Object | None = None
    is_refused: bool = False


def prove_by_seeds(
    change: Change, effect: Effect, direction: Direction, pair: WriterReader, seeds: Sequence[Seed], book: TrialBook
) -> Witness | None:
    """A witness of ``effect`` and nothing else, made of one of the seeds; None if none shows it."""
    asked = partial(pair.question, change, effect, direction, seeds)
    proof = partial(_prove_by_seeds, change, effect, direction, pair, seeds, book)
    return ANSWERS.of("seeds", asked, Witness | None, proof)


def _prove_by_seeds(
    change: Change, effect: Effect, direction: Direction, pair: WriterReader, seeds: Sequence[Seed], book: TrialBook
) -> Witness | None:
    facet = facet_of(change.kind)
    values = book.trials(facet, change, direction, pair).values[:_MAX_VALUES]
    trials = [trial for trial in values if trial.stored is ABSENT and not trial.adds]
    if change.kind in facet.of_updates:
        updates = (
            (as_written(seed.stored, pair), as_written(seed.object, pair)) for seed in seeds if seed.stored is not None
        )
        return next(filter(None, (_update(change, effect, pair, *each) for each in updates)), None)
    shared = book.shared(pair)
    made = ((whole_object(pair.writer, trial.path, trial.value, shared), trial) for trial in trials)
    built = [(obj, trial) for obj, trial in made if obj is not None]
    candidates = (each for seed in seeds for each in _candidates(as_written(seed.object, pair), change, built))
    shown = (proof_by(each, at, change, effect, pair) for each, at in islice(candidates, _MAX_JUDGED))
    return next(filter(None, shown), None)


def _candidates(seed: Object, change: Change, built: Sequence[_Built]) -> Iterator[tuple[Object, SchemaPath | None]]:
    """The seed with each value on the path of the change at its first place, then with the values under trial there."""
    for focused in islice(_focused(seed, change.path), _MAX_PLACES):
        yield focused, None
    for obj, trial in built:
        for overlaid in islice(_overlaid(seed, obj, trial.path), _MAX_PLACES):
            yield overlaid, trial.at


def _focused(value: Any, path: SchemaPath) -> Iterator[Any]:
    """Copies of ``value`` in which ``path`` leads through the first item of lists and the key ``key`` of maps.

    The last member may be missing.
    """
    if not path:
        yield value
        return
    step, rest = path[0], path[1:]
    if step is VALUE or step is ITEM:
        for part, around in _parts(value, step):
            yield from map(around, _focused(part, rest))
    elif isinstance(value, dict) and (step in value or not rest):
        kept = {name: member for name, member in value.items() if name != step}
        parts = _focused(value[step], rest) if step in value else (ABSENT,)
        yield from ({**kept, **({} if part is ABSENT else {step: part})} for part in parts)


def _overlaid(seed: Any, built: Any, path: SchemaPath) -> Iterator[Any]:
    """Copies of ``seed`` with what ``built`` has on ``path``; where the seed lacks the way, with all of ``built``."""
    if not path:
        yield built
        return
    step, rest = path[0], path[1:]
    if step is VALUE or step is ITEM:
        (below, _), *_ = [*_parts(built, step), (ABSENT, None)]
        parts = list(_parts(seed, step))
        if below is ABSENT or not parts:
            yield built
        for part, around in parts if below is not ABSENT else ():
            yield from map(around, _overlaid(part, below, rest))
    elif not isinstance(seed, dict) or not isinstance(built, dict):
        yield built
    else:
        kept = {name: member for name, member in seed.items() if name != step}
        below = _overlaid(seed.get(step), built[step], rest) if step in built else (ABSENT,)
        yield from ({**kept, **({} if part is ABSENT else {step: part})} for part in below)


def _parts(value: Any, step: Any) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """Some items of a list or values of a map, each with a function that puts it back at the first place."""
    if step is ITEM and isinstance(value, list):
        for index, item in enumerate(value[:_MAX_PLACES]):
            others = value[:index] + value[index + 1 :]
            yield item, partial(_before, others)
    elif step is VALUE and isinstance(value, dict):
        for key in list(value)[:_MAX_PLACES]:
            rest = {name: member for name, member in value.items() if name not in (key, "key")}
            yield value[key], partial(_beside, rest)


def _before(others: list[Any], made: Any) -> list[Any]:
    return [made, *others]


def _beside(others: dict[str, Any], made: Any) -> dict[str, Any]:
    return {"key": made, **others}


def proof_by(obj: Object, at: SchemaPath | None, change: Change, effect: Effect, pair: WriterReader) -> Witness | None:
    """The object, made smaller, as a witness of ``effect`` and nothing else; None if it shows something else."""
    claim = Claim.at(change, (effect,), at)
    inputs = partial(pair.question, obj, at, claim)
    return ANSWERS.of("object", inputs, Witness | None, partial(_proof_by, obj, at, claim, pair))


def _proof_by(obj: Object, at: SchemaPath | None, claim: Claim, pair: WriterReader) -> Witness | None:
    def shows(candidate: Object) -> bool:
        written = pair.writer.create(candidate, keep_status=True)
        if written.accepted is not True or written.object is None:
            return False
        return claim.shown_by(pair.reader.create(written.object, keep_status=True)).clean

    if not shows(obj):
        return None
    small = shrink(_shorter(obj, claim.pointer, shows), claim.pointer, shows)
    written = pair.writer.create(small, keep_status=True)
    read = pair.reader.create(written.object or {}, keep_status=True)
    errors = tuple(error.text() for error in ordered(claim.shown_by(read), read))
    return Witness(small, errors, read.pruned, read.defaulted, at=at)


def _shorter(obj: Object, keep: Pointer, shows: Callable[[Object], bool]) -> Object:
    """The object without the items of lists that it does not need."""
    for pointer, items in sorted(_lists(obj, ()), key=lambda each: len(each[0])):
        for index in reversed(range(min(len(items), _MAX_ITEMS))):
            at = (*pointer, index)
            if at == keep[: len(at)]:
                continue
            try:
                smaller = with_value(obj, at, ABSENT)
            except LookupError:
                continue  # removed with what it was in
            obj = smaller if shows(smaller) else obj
    return obj


def _lists(value: Any, at: Pointer) -> Iterator[tuple[Pointer, list[Any]]]:
    if isinstance(value, list):
        yield at, value
    for step, member in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        yield from _lists(member, (*at, step))


def _update(change: Change, effect: Effect, pair: WriterReader, stored: Object, write: Object) -> Witness | None:
    claim = Claim.at(change, (effect,), None)
    name = stored["metadata"]["name"]
    write = {**write, "metadata": {**write["metadata"], "name": name}}
    for operation in operations(change.path, pair):
        update = Update(stored, write, operation)
        if update.shown(claim, pair).clean:
            read = update.judged_by(pair.reader)
            errors = tuple(error.text() for error in ordered(claim.shown_by(read), read))
            return Witness(write, errors, read.pruned, read.defaulted, stored=stored, operation=operation)
    return None


def as_written(seed: Object, pair: WriterReader) -> Object:
    """The seed as the writer's version, with a name and nothing else in its metadata."""
    given = seed.get("metadata")
    name = given.get("name") if isinstance(given, dict) else None
    meta = {"name": name if isinstance(name, str) and name else "example"}
    if pair.writer.crd.namespaced:
        meta["namespace"] = "default"
    return {**seed, "apiVersion": pair.writer.api_version, "kind": pair.writer.crd.kind, "metadata": meta}
