"""Which strings a node takes, as a language: pattern, lengths and enum together (design, section 4).

Keywords restrict the same value, so a pattern dropped beside an enum that says as much is no change. Only what
RE2 and lengths can say is in the language; formats and rules are left to whoever judges the strings found. Automata
are imported where they are used: most comparisons meet none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from crdcompat.schema.enums import enum_members
from crdcompat.schema.sample import values
from crdcompat.schema.sample_strings import string_limits
from crdcompat.schema.structural import Node

if TYPE_CHECKING:
    from crdcompat.schema.regex import Language, Relation

_MOST, _TRIED, _LONGEST = 4, 160, 1_000_000


def is_string(node: Node) -> bool:
    """Whether only strings are taken: then a language tells all."""
    return node.type == "string" and not node.int_or_string


def is_limited(node: Node) -> bool:
    """Whether a pattern or a length says which strings are taken."""
    return string_limits(node) != (0, None, ())


def language(node: Node, *, with_enum: bool = True) -> Language:
    """The language of a string node and its allOf branches."""
    from crdcompat.schema.regex import Language

    least, most, patterns = string_limits(node)
    found = Language.from_lengths(least, most)
    for pattern in patterns:
        found &= Language.from_pattern(pattern)
    members = enum_members(node) if with_enum else None
    if members is not None:
        found &= Language.from_strings(member for member in members if isinstance(member, str))
    return found


def relation(old: Node, new: Node) -> Relation:
    """How the strings of ``new`` relate to those of ``old``."""
    from crdcompat.schema.regex import compare_languages

    return compare_languages(language(old), language(new))


def finite_members(node: Node) -> tuple[str, ...] | None:
    """All strings of a node whose pattern allows only finitely many; None if there is no pattern or no end."""
    if not is_string(node) or not string_limits(node)[-1]:
        return None
    from crdcompat.schema.regex import finite

    return finite(language(node))


def strings_outside(writer: Node, reader: Node, accepts: Callable[[str], bool]) -> tuple[list[str], bool]:
    """Strings of ``writer`` that ``reader`` does not take, and whether none means that there are none.

    ``takes`` says whether the writer's formats and rules take a string, which no language knows.
    """
    from crdcompat.schema.regex import compare_languages, outside

    mine, theirs = language(writer), language(reader)
    if not mine.patterns and not mine.lists and not theirs.patterns and not theirs.lists:
        return _other_lengths(mine, theirs, accepts)
    decided = compare_languages(theirs, mine)
    if decided.only_new is None:
        return [], decided.kind in ("equal", "narrower")
    holds = theirs.judge()
    longest = outside(mine.patterns, theirs.patterns, min_length=mine.least, max_length=mine.most, limit=_TRIED)
    candidates = (*islice(_plain(writer), _TRIED), decided.only_new, *longest)
    found = (text for text in dict.fromkeys(candidates) if not holds(text) and accepts(text))
    return list(islice(found, _MOST)), False


def _other_lengths(mine: Language, theirs: Language, accepts: Callable[[str], bool]) -> tuple[list[str], bool]:
    """Where only lengths differ: one string too long, one too short."""
    sizes = []
    if theirs.most is not None and (mine.most is None or mine.most > theirs.most):
        sizes.append(max(theirs.most + 1, mine.least))
    if theirs.least > mine.least:
        sizes.append(mine.least)
    texts = ["a" * size for size in sizes if size <= _LONGEST]
    return [text for text in texts if accepts(text)], not sizes


def _plain(node: Node) -> Iterator[str]:
    yield from (value for value in values(node) if isinstance(value, str))
