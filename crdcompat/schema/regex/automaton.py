"""Deterministic automata, built on demand: of patterns, of sets of texts, of lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from crdcompat.schema.re2 import go_text
from crdcompat.schema.regex.charset import CharSet
from crdcompat.schema.regex.nfa import EDGE, KINDS, LINE, OTHER, WORD_CHAR, Program
from crdcompat.schema.regex.open_questions import Budget, Unsupported
from crdcompat.schema.regex.partition import Mask, Partition, partition
from crdcompat.schema.regex.syntax_tree import parse

#: States that every automaton has: from the one on nothing is accepted, from the other everything.
DEAD, ALL = 0, 1
_FIRST = 2

_UNITS = 1_000_000
_KEPT_UNITS = 8_000_000
_KEPT = 256


class Automaton(Protocol):
    """A complete deterministic automaton over the classes of ``partition``."""

    partition: Partition
    start: int

    @property
    def size(self) -> int:
        """States that it has by construction, whatever it is compared with; 0 if they come from a search."""

    def row(self, state: int) -> Sequence[int]:
        """The next state for each class."""

    def accepts(self, state: int) -> bool: ...


class PatternAutomaton:
    """The texts in which a pattern is found. A state: the positions just consumed, and the last character's kind."""

    size = 0

    def __init__(self, pattern: str) -> None:
        tree = parse(pattern)
        self.loops = tree.loops
        self.budget = Budget(_UNITS, "the pattern needs too many states")
        program = self.program = Program(tree, self.budget)
        sets: list[tuple[CharSet, Mask]] = list(program.masks.items())
        kinds = program.kinds()
        sets += [(chars, 1 << (program.size + kind)) for chars, kind in kinds]
        self.budget.spend(sum(len(chars) for chars, _ in sets) * (2 + program.size // 512))
        self.partition, masks = partition(sets)
        low = program.matched - 1
        self._classes = [(mask & low, _kind(mask >> program.size)) for mask in masks]
        self.budget.spend(len(masks) * (2 + program.size // 64))
        self._kinds = tuple({kind for _, kind in self._classes})
        self._anywhere = any(program.first(before, behind) for before in KINDS[1:] for behind in KINDS)
        self._keys: list[tuple[int, Mask]] = [(EDGE, 0)] * _FIRST
        self._numbers: dict[tuple[int, Mask], int] = {}
        self._rows: dict[int, tuple[int, ...]] = {}
        self._accepting: dict[int, bool] = {DEAD: False, ALL: True}
        self.start = self._number(EDGE, 0)

    def row(self, state: int) -> Sequence[int]:
        found = self._rows.get(state)
        if found is None:
            found = self._rows[state] = self._row(state)
        return found

    def accepts(self, state: int) -> bool:
        found = self._accepting.get(state)
        if found is None:
            found = bool(self._reach(state, EDGE) & self.program.matched)
            self._accepting[state] = found
        return found

    def matches(self, text: str) -> bool:
        """Whether the pattern is found in the text, according to this automaton."""
        state = self.start
        for char in go_text(text):
            state = self.row(state)[self.partition.class_of(char)]
        return self.accepts(state)

    def classes_of(self, text: str) -> list[tuple[Mask, int]]:
        """For each character of the text, the positions that consume it and its kind."""
        return [self._classes[self.partition.class_of(char)] for char in text]

    def _row(self, state: int) -> tuple[int, ...]:
        classes = self._classes
        if state < _FIRST:
            return (state,) * len(classes)
        self.budget.spend(len(classes) * (1 + self.program.size // 1024))
        reach = {kind: self._reach(state, kind) for kind in self._kinds}
        matched = self.program.matched
        return tuple(ALL if reach[kind] & matched else self._number(kind, reach[kind] & mask) for mask, kind in classes)

    def _reach(self, state: int, behind: int) -> Mask:
        """The positions that may consume a next character of the kind ``behind``."""
        before, positions = self._keys[state]
        program = self.program
        found = program.first(before, behind)
        steps = 0
        while positions:
            lowest = positions & -positions
            found |= program.follow(lowest.bit_length() - 1, before, behind)
            positions ^= lowest
            steps += 1
        self.budget.spend(steps * (1 + program.size // 1024))
        return found

    def _number(self, before: int, positions: Mask) -> int:
        if not positions and before != EDGE and not self._anywhere:
            return DEAD
        key = before, positions
        found = self._numbers.get(key)
        if found is None:
            self.budget.spend(16 + positions.bit_length() // 64)
            found = self._numbers[key] = len(self._keys)
            self._keys.append(key)
        return found


def _kind(marks: int) -> int:
    return LINE if marks >> LINE & 1 else WORD_CHAR if marks >> WORD_CHAR & 1 else OTHER


class StringsAutomaton:
    """A finite set of texts, as a tree of their common beginnings."""

    def __init__(self, strings: Sequence[str]) -> None:
        budget = Budget(_UNITS, "the strings have too many characters")
        chars = sorted({char for text in strings for char in text})
        self.partition, masks = partition([(((ord(char), ord(char)),), 1 << at) for at, char in enumerate(chars)])
        self._width = len(masks)
        self._nodes: list[dict[int, int]] = [{}, {}, {}]
        self._ends: set[int] = set()
        self.start = _FIRST
        for text in strings:
            at = _FIRST
            for char in text:
                number = self.partition.class_of(char)
                following = self._nodes[at].get(number)
                if following is None:
                    budget.spend(16)
                    following = self._nodes[at][number] = len(self._nodes)
                    self._nodes.append({})
                at = following
            self._ends.add(at)

    @property
    def size(self) -> int:
        return len(self._nodes)

    def row(self, state: int) -> Sequence[int]:
        if state == ALL:
            return (ALL,) * self._width
        targets = [DEAD] * self._width
        for number, target in self._nodes[state].items():
            targets[number] = target
        return targets

    def accepts(self, state: int) -> bool:
        return state == ALL or state in self._ends


class LengthsAutomaton:
    """The texts of ``least`` to ``most`` characters. State 2 + n has seen n of them."""

    def __init__(self, least: int, most: int | None) -> None:
        self.partition, _ = partition([])
        self.least, self.most = least, most
        self.start = self._state(0)

    @property
    def size(self) -> int:
        return self.least if self.most is None else self.most

    def row(self, state: int) -> Sequence[int]:
        return (state if state < _FIRST else self._state(state - _FIRST + 1),)

    def accepts(self, state: int) -> bool:
        return state == ALL or (state >= _FIRST and state - _FIRST >= self.least)

    def _state(self, seen: int) -> int:
        if self.most is None:
            return ALL if seen >= self.least else _FIRST + seen
        return DEAD if seen > self.most or self.least > self.most else _FIRST + seen


_kept: dict[str, PatternAutomaton | Unsupported] = {}


def pattern_automaton(pattern: str) -> PatternAutomaton:
    """The automaton of a pattern. Those in use are kept, as long as they are few and small together."""
    found = _kept.get(pattern)
    if found is None:
        used = sum(each.budget.spent for each in _kept.values() if isinstance(each, PatternAutomaton))
        if used > _KEPT_UNITS or len(_kept) >= _KEPT:
            _kept.clear()
        try:
            found = PatternAutomaton(pattern)
        except Unsupported as refused:
            found = Unsupported(refused.reason)
        _kept[pattern] = found
    if isinstance(found, Unsupported):
        raise Unsupported(found.reason)
    return found
