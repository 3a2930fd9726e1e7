"""The product of automata: the texts that all of some accept and not all of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from crdcompat.schema.regex.automaton import ALL, DEAD, Automaton
from crdcompat.schema.regex.charset import charset, count
from crdcompat.schema.regex.open_questions import Budget
from crdcompat.schema.regex.partition import JointClass, joint
from crdcompat.schema.regex.readable import by_preference

#: Limit of steps, each for one class in one state; a full search of thousands of states needs fewer.
_UNITS = 1_000_000


class Edge(Struct, frozen=True):
    """A step to another state: the most readable character that does it, what that costs, and all that do."""

    target: int
    cost: int
    char: str
    classes: tuple[JointClass, ...]

    def __len__(self) -> int:
        """How many characters do it."""
        return sum(count(each.ranges) for each in self.classes)

    def chars(self) -> Iterator[str]:
        """The characters that do it, readable ones first."""
        return by_preference(charset(span for each in self.classes for span in each.ranges))


class Product:
    """The texts that every automaton of ``inside`` accepts and at least one of ``outside``, if any, refuses."""

    def __init__(self, inside: Sequence[Automaton], outside: Sequence[Automaton] = ()) -> None:
        self._automata = (*inside, *outside)
        self._inside = len(inside)
        self._classes = joint([each.partition for each in self._automata])
        #: For each automaton, the class that it has for each joint class.
        self._ids = list(zip(*(each.ids for each in self._classes), strict=True))
        self._budget = Budget(_UNITS, "the patterns need too many states together")
        self._states: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._edges: dict[int, tuple[Edge, ...]] = {}
        self.start = self._number(tuple(each.start for each in self._automata))

    def accepts(self, state: int) -> bool:
        """Whether a text that ends in ``state`` is one of those looked for."""
        if state < 0:
            return False
        found = [each.accepts(at) for each, at in zip(self._automata, self._states[state], strict=True)]
        outside = found[self._inside :]
        return all(found[: self._inside]) and not (outside and all(outside))

    def everything(self, state: int) -> bool:
        """Whether every continuation of a text in ``state`` is known to be accepted."""
        return all(at == ALL for at in self._states[state][: self._inside]) and self._inside == len(self._automata)

    def edges(self, state: int) -> tuple[Edge, ...]:
        """The steps from ``state`` to states from which something may be accepted; the most readable first."""
        found = self._edges.get(state)
        if found is None:
            found = self._edges[state] = self._steps(state) if state >= 0 else ()
        return found

    def _steps(self, state: int) -> tuple[Edge, ...]:
        self._budget.spend(len(self._classes))
        rows = [each.row(at) for each, at in zip(self._automata, self._states[state], strict=True)]
        groups: dict[tuple[int, ...], list[JointClass]] = {}
        columns = [map(row.__getitem__, ids) for row, ids in zip(rows, self._ids, strict=True)]
        for key, each in zip(zip(*columns, strict=True), self._classes, strict=True):
            groups.setdefault(key, []).append(each)
        edges: dict[int, list[JointClass]] = {}
        for key, classes in groups.items():
            target = self._number(key)
            if target >= 0:
                edges.setdefault(target, []).extend(classes)
        return tuple(
            Edge(target, classes[0].cost, classes[0].char, tuple(classes)) for target, classes in edges.items()
        )

    def _number(self, states: tuple[int, ...]) -> int:
        """The number of a state; -1 if nothing can be accepted from it."""
        inside, outside = states[: self._inside], states[self._inside :]
        if DEAD in inside:
            return -1
        if outside:
            if DEAD in outside:
                states = (*inside, *(DEAD for _ in outside))
            elif all(at == ALL for at in outside):
                return -1
        found = self._numbers.get(states)
        if found is None:
            self._budget.spend(20)
            found = self._numbers[states] = len(self._states)
            self._states.append(states)
        return found
