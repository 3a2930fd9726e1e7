"""Sets of texts, as a schema describes them: by patterns, lists and lengths; and their intersection."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from crdcompat.schema.re2 import go_text
from crdcompat.schema.regex.automaton import Automaton, LengthsAutomaton, StringsAutomaton, pattern_automaton
from crdcompat.schema.regex.syntax_tree import compiled

#: The most states for lengths and listed texts, in addition to the bound of a search.
_MAX_EXTRA = 20_000


class Language(Struct, frozen=True):
    """The texts in which every pattern is found, that every list contains, and whose length is within the bounds.

    Creation is cheap and never fails; only a use can fail to decide.
    """

    patterns: tuple[str, ...] = ()
    lists: tuple[tuple[str, ...], ...] = ()
    least: int = 0
    most: int | None = None

    @classmethod
    def from_pattern(cls, pattern: str) -> Language:
        """The texts in which an RE2 pattern is found; as for Kubernetes, anywhere unless it has anchors."""
        return cls(patterns=(go_text(pattern),))

    @classmethod
    def from_strings(cls, strings: Iterable[str]) -> Language:
        """Exactly these texts; the order is kept for showing them."""
        return cls(lists=(tuple(dict.fromkeys(map(go_text, strings))),))

    @classmethod
    def from_lengths(cls, least: int = 0, most: int | None = None) -> Language:
        """The texts of ``least`` to ``most`` characters (code points); of any length without arguments."""
        return cls(least=max(least, 0), most=most)

    def __and__(self, other: Language) -> Language:
        """The texts that are in both."""
        bounds = [most for most in (self.most, other.most) if most is not None]
        return Language(
            patterns=tuple(dict.fromkeys((*self.patterns, *other.patterns))),
            lists=tuple(dict.fromkeys((*self.lists, *other.lists))),
            least=max(self.least, other.least),
            most=min(bounds, default=None),
        )

    def __contains__(self, text: str) -> bool:
        """Whether a text is a member, by google-re2, the lists and the length, without an automaton."""
        return self.judge()(go_text(text))

    def judge(self) -> Callable[[str], bool]:
        """The test for membership, made once for many texts."""
        sets = [frozenset(strings) for strings in self.lists]
        most = math.inf if self.most is None else self.most

        def holds(text: str) -> bool:
            return (
                self.least <= len(text) <= most
                and all(text in strings for strings in sets)
                and all(found(each, text) for each in self.patterns)
            )

        return holds

    def __str__(self) -> str:
        parts = [f"pattern {pattern}" for pattern in self.patterns]
        parts += [f"{len(strings)} listed strings" for strings in self.lists]
        if self.least:
            parts.append(f"at least {self.least} characters")
        if self.most is not None:
            parts.append(f"at most {self.most} characters")
        return " and ".join(parts) or "any string"

    def listed(self) -> tuple[str, ...] | None:
        """All members, if there is a list of candidates; in the order of the list."""
        if not self.lists:
            return None
        return tuple(filter(self.judge(), self.lists[0]))

    def automata(self) -> Sequence[Automaton]:
        """One automaton for each part. Raises Unsupported for a pattern that cannot be read."""
        made: list[Automaton] = [pattern_automaton(pattern) for pattern in self.patterns]
        made += [StringsAutomaton(strings) for strings in self.lists]
        if self.least or self.most is not None or not made:
            made.append(LengthsAutomaton(self.least, self.most))
        return made


def found(pattern: str, text: str) -> bool:
    """Whether google-re2 finds the pattern in the text. Raises Unsupported if the pattern does not compile."""
    return compiled(pattern).search(text)


def extra_states(automata: Iterable[Automaton]) -> int:
    """The states that a search is granted for lists and lengths, beside its bound."""
    return min(sum(each.size for each in automata), _MAX_EXTRA)
