"""One change in several contexts: its outcome for each pair of schemas, and the witness that proves it there.

Variants of a CRD mostly differ elsewhere, so that one witness serves them all. Where it does not, the contexts are
parted: a finding claims no proof for a context in which it has none, and hides none that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.registry import facet_of
from crdcompat.compare.result import Harmless, Occurrence, Open
from crdcompat.compare.site import WriterReader
from crdcompat.compare.trial_book import TrialBook
from crdcompat.compare.witness import Outcome, Witness, prove, proves
from crdcompat.schema.equality import canonical
from crdcompat.vocabulary import Direction, Effect

#: The schemas of OLD and NEW by identity: equal contexts have the same.
Schemas = tuple[int, int]
#: The two sides of an occurrence on their servers.
Sides = Callable[[Occurrence], WriterReader]


def schemas_of(occurrence: Occurrence) -> Schemas:
    """The key of the schemas that an occurrence compares."""
    return id(occurrence.old.version.schema), id(occurrence.new.version.schema)


def outcomes_of(
    occurrences: Sequence[Occurrence], direction: Direction, sides: Sides, book: TrialBook
) -> dict[Schemas, Outcome]:
    """The outcome of one change for each pair of schemas. The last witness is tried first in the next pair.

    It proves one value; each other value of a change may have the effect in some contexts only.
    """
    found: dict[Schemas, Outcome] = {}
    last: Outcome | None = None
    for occurrence in occurrences:
        key, change = schemas_of(occurrence), occurrence.change
        if key in found:
            continue
        pair = sides(occurrence)
        is_single = len(change.added) <= 1 and len(change.removed) <= 1
        if last is None or not is_single or not proves(last.witness, change, last.effect, [pair]):
            last = prove(change, direction, pair, book)
        found[key] = last
    return found


def by_witness(
    occurrences: Sequence[Occurrence], effect: Effect, outcomes: Mapping[Schemas, Outcome], sides: Sides
) -> list[tuple[Witness, tuple[Occurrence, ...]]]:
    """The occurrences with one effect, by the witness that proves it in them; those without a proof apart."""
    distinct = {schemas_of(each): each for each in occurrences}
    own = {key: outcomes[key].witness for key in distinct}
    chosen: dict[Schemas, Witness] = {}
    for witness, keys in sorted(_reached(distinct, effect, own, sides), key=lambda each: -len(each[1])):
        for key in keys:
            chosen.setdefault(key, witness)
    reasons: dict[bool, Witness] = {}
    for key, witness in own.items():
        if key not in chosen:
            chosen[key] = reasons.setdefault(witness.assumed, witness)
    parts: dict[int, tuple[Witness, list[Occurrence]]] = {}
    for each in occurrences:
        witness = chosen[schemas_of(each)]
        parts.setdefault(id(witness), (witness, []))[1].append(each)
    return [(witness, tuple(proved)) for witness, proved in parts.values()]


def _reached(
    distinct: Mapping[Schemas, Occurrence], effect: Effect, own: Mapping[Schemas, Witness], sides: Sides
) -> list[tuple[Witness, set[Schemas]]]:
    """Each witness with the schemas for which it proves the effect."""
    found: list[tuple[Witness, set[Schemas]]] = []
    for witness in {id(witness): witness for witness in own.values() if witness.object is not None}.values():
        keys = {
            key
            for key, each in distinct.items()
            if own[key] is witness or proves(witness, each.change, effect, [sides(each)])
        }
        found.append((witness, keys))
    return found


def effects_in(
    occurrence: Occurrence, outcomes: Mapping[Direction, Mapping[Schemas, Outcome]], direction: Direction
) -> tuple[Effect, tuple[Effect, ...]]:
    """The effect of a change in one context and direction, and the effects in OLD's and NEW's window.

    They are NONE in a direction that has no outcome. No write is refused by the schema of a version that is not served.
    """
    found = dict.fromkeys(Direction, Effect.NONE)
    for way, known in outcomes.items():
        effect = known[schemas_of(occurrence)].effect
        if effect != Effect.WRITE_REJECTED or occurrence.reader(way).version.served:
            found[way] = effect
    return found[direction], tuple(found.values())


def harmless(
    crd: str, version: str, occurrences: Sequence[Occurrence], direction: Direction, effect: Effect
) -> Harmless:
    """One change that has no effect in some contexts, or none that counts, and why."""
    contexts = tuple(dict.fromkeys(each.context for each in occurrences))
    reason = _why_harmless(occurrences[0], direction, effect)
    return Harmless(crd, version, contexts, occurrences[0].change, direction, reason)


def _why_harmless(occurrence: Occurrence, direction: Direction, effect: Effect) -> str:
    kind = occurrence.change.kind
    if effect != Effect.NONE:
        return "only objects of another version meet it, and no write of them is refused"
    if not facet_of(kind).effects[kind].towards(direction):
        return f"no {kind} has an effect in this direction"
    if not occurrence.reader(direction).version.served:
        return "the version is not served there, so that no write is judged by its schema"
    return "every object that one side accepts passes the other: tried in all cases, or proved"


def merge_open(item: Open, opened: dict[tuple[Any, ...], Open]) -> None:
    """Merge an open difference into ``opened``, with the contexts of its equals."""
    key = (item.crd, item.version, item.undecided.path, item.undecided.keyword, _facts_of(item.undecided))
    known = opened.get(key, item)
    contexts = tuple(dict.fromkeys((*known.contexts, *item.contexts)))
    opened[key] = Open(known.undecided, item.crd, item.version, contexts, known.old, known.new)


def identity_of(crd: str, version: str, change: Change) -> tuple[Any, ...]:
    """The key of a change: occurrences with equal keys are the same change."""
    facts = (change.old, change.new, change.added, change.removed)
    return (crd, version, change.path, change.kind, canonical(facts))


def _facts_of(item: Undecided) -> bytes:
    return canonical((item.old, item.new, item.reason))
