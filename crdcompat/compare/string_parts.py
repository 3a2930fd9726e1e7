"""Strings whose parts the rules of one side accept and those of the other do not.

``self.split('@')[0].matches('…')`` states a pattern of one part. A valid string with another such part shows what a
change of the pattern allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from crdcompat.cel.rule import rule_of

if TYPE_CHECKING:
    from crdcompat.schema.regex import Language

#: Valid strings in which parts are replaced.
_MAX_STRINGS = 4

#: The text between the parts, and the index of the part.
_Part = tuple[str, int]


def other_parts(writer: Iterable[str], reader: Iterable[str], valid: Iterable[str]) -> Iterator[str]:
    """``valid`` strings with a part that the rules ``writer`` accept and the rules ``reader`` do not."""
    theirs = _patterns(reader)
    if not theirs:
        return
    from crdcompat.schema.regex import only_in  # the import of automata costs time, and few rules need them

    mine = _patterns(writer)
    replaced = {part: only_in(_language(mine.get(part, ())), _language(theirs[part]))[0] for part in theirs}
    for text in islice(valid, _MAX_STRINGS):
        for (at, index), found in replaced.items():
            parts = text.split(at)
            if found is not None and at not in found and index < len(parts):
                yield at.join([*parts[:index], found, *parts[index + 1 :]])


def _patterns(rules: Iterable[str]) -> Mapping[_Part, Sequence[str]]:
    """The patterns that rules state of parts."""
    found: dict[_Part, list[str]] = {}
    for rule in map(rule_of, rules):
        for each in rule.patterns if rule is not None else ():
            if each.part is not None and each.part[0] and not (each.place or each.negated):
                found.setdefault(each.part, []).append(each.text)
    return found


def _language(patterns: Iterable[str]) -> Language:
    from crdcompat.schema.regex import Language

    found = Language.from_lengths(0, None)
    for pattern in patterns:
        found &= Language.from_pattern(pattern)
    return found
