"""The order in which a pattern names its members: ``^(B|A)$`` names B before A."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.schema.regex.automaton import PatternAutomaton
from crdcompat.schema.regex.errors import Budget
from crdcompat.schema.regex.partition import Mask
from crdcompat.schema.regex.program import EDGE, Program


def way(automaton: PatternAutomaton, text: str, budget: Budget) -> tuple[int, ...]:
    """The first way, in the order of the pattern as written, in which it matches all of the text.

    A way is the positions in the pattern of the characters that match, one for each of the text.
    """
    program, classes = automaton.program, automaton.classes_of(text)
    kinds = [kind for _, kind in classes]
    places = list(zip((EDGE, *kinds), (*kinds, EDGE), strict=True))
    reached: list[Mask] = []
    for (mask, _), place in zip(classes, places, strict=False):
        held = reached[-1] if reached else None
        reached.append(_after(program, held, *place) & mask)
        budget.spend(2 + 2 * reached[-1].bit_count())
    wanted = program.matched
    for at in range(len(text) - 1, -1, -1):
        place = places[at + 1]
        wanted = reached[at] = sum(1 << each for each in _bits(reached[at]) if program.follow(each, *place) & wanted)
    path: list[int] = []
    for mask, place in zip(reached, places, strict=False):
        choice = program.follow(path[-1], *place) if path else program.first(*place)
        first = next(_bits(choice & mask), None)
        if first is None:
            break
        path.append(first)
    return tuple(path)


def _after(program: Program, held: Mask | None, before: int, behind: int) -> Mask:
    if held is None:
        return program.first(before, behind)
    found = 0
    for each in _bits(held):
        found |= program.follow(each, before, behind)
    return found


def _bits(mask: Mask) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
