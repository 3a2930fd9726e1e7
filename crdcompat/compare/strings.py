"""Which strings a node takes, as a language: pattern, lengths and enum together (design, section 4).

Keywords restrict the same value, so a pattern dropped beside an enum that says as much is no change. Only what
RE2 and lengths can say is in the language; formats and rules are left to whoever judges the strings found.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from crdcompat.schema.regex import Language, Relation, compare_languages, finite, outside
from crdcompat.schema.sample import enum_members, string_limits, values
from crdcompat.schema.structural import Node

_MOST = 4


def is_string(node: Node) -> bool:
    """Whether only strings are taken: then a language tells all."""
    return node.type == "string" and not node.int_or_string


def language(node: Node, *, with_enum: bool = True) -> Language:
    """The language of a string node and its allOf branches."""
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
    return compare_languages(language(old), language(new))


def finite_members(node: Node) -> tuple[str, ...] | None:
    """All strings of a node whose pattern allows only finitely many; None if there is no pattern or no end."""
    _, _, patterns = string_limits(node)
    return finite(language(node)) if patterns and is_string(node) else None


def strings_outside(writer: Node, reader: Node) -> tuple[list[str], bool]:
    """Strings of ``writer`` that ``reader`` does not take, and whether none means that there are none."""
    decided = compare_languages(language(reader), language(writer))
    if decided.only_new is None:
        return [], decided.kind in ("equal", "narrower")
    found: dict[str, None] = {}
    theirs = language(reader).judge()
    for text in islice(_plain(writer), 64):
        if not theirs(text):
            found[text] = None
        if len(found) >= _MOST:
            break
    found[decided.only_new] = None
    _, _, mine = string_limits(writer)
    _, _, patterns = string_limits(reader)
    least, most, _ = string_limits(writer)
    found.update(dict.fromkeys(outside(mine, patterns, min_length=least, max_length=most, limit=_MOST)))
    return list(found), False


def _plain(node: Node) -> Iterator[str]:
    yield from (value for value in values(node) if isinstance(value, str))
