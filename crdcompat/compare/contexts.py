"""One change in several contexts: its outcome for each pair of schemas, and the witness that proves it there.

Variants of a CRD mostly differ elsewhere, so that one witness serves them all. Where it does not, the contexts are
parted: a finding claims no proof for a context in which it has none, and hides none that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from crdcompat.compare.result import Occurrence
from crdcompat.compare.site import WriterReader
from crdcompat.compare.trial_book import TrialBook
from crdcompat.compare.witness import Outcome, Witness, prove, proves
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
