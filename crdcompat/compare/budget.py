"""The budget of a comparison: what it may cost, and what is said of the changes that it did not suffice for.

A small schema can ask for any amount of work. The budget counts steps (``schema/work.py``), so that the same input ends
at the same change in every run. It grows with the schemas that differ, by much less than hostile ones would need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import orjson
from msgspec.structs import replace

from crdcompat.compare.changes import Undecided
from crdcompat.compare.registry import facet_of
from crdcompat.compare.result import Judged, Occurrence, Open
from crdcompat.compare.witness import Witness
from crdcompat.crds.pairing import CrdPair
from crdcompat.schema.equality import identical
from crdcompat.schema.work import Budget, OverBudgetError
from crdcompat.vocabulary import Direction, Effect

_USED_UP = "the work that a comparison may cost did not suffice to build an example object"
#: Steps of each comparison, some microseconds each, and the bytes of differing schemas that give one step more.
STEPS, BYTES_OF_A_STEP = 1_000_000, 24


def budget_of(pairs: Iterable[CrdPair]) -> Budget:
    """The budget for a comparison of pairs of CRDs."""
    sizes: dict[tuple[int, int], int] = {}
    for crd_pair in pairs:
        for name in crd_pair.old.versions.keys() & crd_pair.new.versions.keys():
            sides = [side.versions[name].version.schema for side in (crd_pair.old, crd_pair.new)]
            key = id(sides[0]), id(sides[1])
            if key not in sizes:
                sizes[key] = 0 if identical(*sides) else sum(map(_size, sides))
    return Budget(STEPS + sum(sizes.values()) // BYTES_OF_A_STEP)


def _size(schema: object) -> int:
    return len(orjson.dumps(schema, default=str, option=orjson.OPT_NON_STR_KEYS))


def unproved(crd: str, version: str, places: Sequence[Occurrence], directions: Iterable[Direction]) -> Iterator[Judged]:
    """A change that the budget did not suffice for, with the first effect that its kind may have in each direction."""
    change, way = places[0].change, places[0].direction
    effects = facet_of(change.kind).effects[change.kind]
    first = {each: next(iter(effects.towards(each)), Effect.NONE) for each in Direction}
    windows = tuple(Effect.NONE if way and way != each else first[each] for each in Direction)
    for direction, effect in first.items():
        if direction not in directions or effect == Effect.NONE or (way and way != direction):
            continue
        if way and effect != Effect.WRITE_REJECTED:
            continue
        yield Judged(
            change=change,
            direction=direction,
            effect=effect,
            witness=Witness(None, reason=_USED_UP),
            labels=change.added if direction == Direction.ROLLBACK else change.removed,
            windows=(windows[0], windows[1]),
            crd=crd,
            kind=places[0].old.document.crd.kind,
            version=version,
            occurrences=tuple(places),
            doubtful=True,
            cut=True,
        )


def within(budget: Budget, item: Judged, step: Callable[[Judged], Judged]) -> Judged:
    """``step`` of a judged change; the change as it is, and marked as cut, if the budget does not suffice."""
    try:
        with budget.spending():
            return step(item)
    except OverBudgetError:
        return replace(item, cut=True)


def cut_short(judged: Iterable[Judged], budget: Budget) -> Iterator[Open]:
    """One undecided difference for each version of a CRD with changes that the budget did not suffice for."""
    groups: dict[tuple[str, str], list[tuple[Judged, Occurrence]]] = {}
    for item in judged:
        if item.cut and isinstance(item.occurrences[0], Occurrence):
            groups.setdefault((item.crd, item.version), []).append((item, item.occurrences[0]))
    for (crd, version), items in groups.items():
        first, place = items[0]
        others = len({item.change.path for item, _ in items}) - 1
        more = f", as it did not for changes at {others:,} other places" if others else ""
        reason = f"the work of this comparison ({budget.steps:,} steps) did not suffice to prove what it does{more}"
        change = first.change
        undecided = Undecided(
            change.path, change.kind, change.old, change.new, reason, old_at=change.old_at, new_at=change.new_at
        )
        contexts = tuple(dict.fromkeys(each.context for item, _ in items for each in item.occurrences))
        yield Open(undecided, crd, version, contexts, place.old, place.new)
