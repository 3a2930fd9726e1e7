"""A pattern as a nondeterministic program (Thompson): characters, choices, and assertions that consume nothing.

All steps between two characters happen at one place of the text, so whether an assertion holds there depends
only on the characters before and after it: the context. What can follow is computed per context, on demand.
"""

from __future__ import annotations

from crdcompat.schema.regex.charset import NEWLINE, WORD, CharSet
from crdcompat.schema.regex.nodes import Alternate, Assert, Assertion, Chars, Concat, Node, Repeat
from crdcompat.schema.regex.open_questions import Budget
from crdcompat.schema.regex.partition import Mask

#: The neighbour of a place on one side: the end of the text, a newline, a word character, another one.
EDGE, LINE, WORD_CHAR, OTHER = range(4)
KINDS = (EDGE, LINE, WORD_CHAR, OTHER)


def _holds(assertion: Assertion, before: int, behind: int) -> bool:
    match assertion:
        case Assertion.BEGIN_TEXT:
            return before == EDGE
        case Assertion.END_TEXT:
            return behind == EDGE
        case Assertion.BEGIN_LINE:
            return before in (EDGE, LINE)
        case Assertion.END_LINE:
            return behind in (EDGE, LINE)
        case Assertion.BOUNDARY:
            return (before == WORD_CHAR) != (behind == WORD_CHAR)
        case Assertion.NO_BOUNDARY:
            return (before == WORD_CHAR) == (behind == WORD_CHAR)


class Program:
    """Positions are the characters of the written-out pattern, numbered as written; bit ``size`` means a match."""

    def __init__(self, tree: Node, budget: Budget) -> None:
        self.size = tree.size
        self.matched: Mask = 1 << tree.size
        self.masks: dict[CharSet, Mask] = {}
        self.line_matters = self.word_matters = False
        self._budget = budget
        self._next = [0] * tree.size
        self._left = tree.size
        #: Each step is a mask of positions (and the match), or where to go on, perhaps under an assertion.
        self._steps: list[Mask | tuple[Assertion | None, tuple[int, ...]]] = []
        self._closures: dict[tuple[int, int], Mask] = {}
        members: dict[CharSet, list[int]] = {}
        self._start = self._emit(tree, self._add(self.matched), members)
        for chars, positions in members.items():
            marks = bytearray(tree.size // 8 + 1)
            for position in positions:
                marks[position >> 3] |= 1 << (position & 7)
            self.masks[chars] = int.from_bytes(marks, "little")

    def first(self, before: int, behind: int) -> Mask:
        """The positions that can be the first of a match that starts in this context."""
        return self._closure(self._start, before * 4 + behind)

    def follow(self, position: int, before: int, behind: int) -> Mask:
        """The positions that can come after ``position``; with the bit ``matched`` if a match can end here."""
        return self._closure(self._next[position], before * 4 + behind)

    def kinds(self) -> tuple[tuple[CharSet, int], ...]:
        """The sets of characters that assertions distinguish from others."""
        found: list[tuple[CharSet, int]] = []
        if self.line_matters:
            found.append((NEWLINE, LINE))
        if self.word_matters:
            found.append((WORD, WORD_CHAR))
        return tuple(found)

    def _add(self, step: Mask | tuple[Assertion | None, tuple[int, ...]]) -> int:
        self._budget.spend(2)
        self._steps.append(step)
        return len(self._steps) - 1

    def _emit(self, node: Node, then: int, members: dict[CharSet, list[int]]) -> int:
        """Add the steps of ``node``, from its end to its start; recursion is bounded by MAX_HEIGHT."""
        match node:
            case Chars(chars=chars):
                self._left -= 1
                self._next[self._left] = then
                members.setdefault(chars, []).append(self._left)
                return self._add(1 << self._left)
            case Assert(assertion=assertion):
                if assertion in (Assertion.BEGIN_LINE, Assertion.END_LINE):
                    self.line_matters = True
                elif assertion in (Assertion.BOUNDARY, Assertion.NO_BOUNDARY):
                    self.word_matters = True
                return self._add((assertion, (then,)))
            case Concat(items=items):
                for item in reversed(items):
                    then = self._emit(item, then, members)
                return then
            case Alternate(items=items):
                return self._add((None, tuple(self._emit(item, then, members) for item in reversed(items))))
            case Repeat(item=item, least=least, most=most):
                copies = least
                if most is None:
                    again = self._add((None, ()))
                    body = self._emit(item, again, members)
                    self._steps[again] = (None, (body, then))
                    then = again if least == 0 else body
                    copies = max(least - 1, 0)
                else:
                    end = then
                    for _ in range(most - least):
                        then = self._add((None, (self._emit(item, then, members), end)))
                for _ in range(copies):
                    then = self._emit(item, then, members)
                return then
        raise AssertionError(node)

    def _closure(self, step: int, context: int) -> Mask:
        key = step, context
        found = self._closures.get(key)
        if found is None:
            found = self._closures[key] = self._reached(step, context)
            self._budget.spend(4 + found.bit_length() // 64)
        return found

    def _reached(self, start: int, context: int) -> Mask:
        before, behind = divmod(context, 4)
        found = 0
        seen = {start}
        todo = [start]
        while todo:
            at = todo.pop()
            step = self._steps[at]
            if isinstance(step, int):
                found |= step
                continue
            assertion, targets = step
            if assertion is None or _holds(assertion, before, behind):
                for target in targets:
                    if target not in seen:
                        seen.add(target)
                        todo.append(target)
        self._budget.spend(len(seen) * (1 + self.size // 4096))
        return found
