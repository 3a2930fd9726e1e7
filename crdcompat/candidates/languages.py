"""The strings that a node accepts, as a language: pattern, lengths and enum together.

Keywords restrict the same value, so removing a pattern that an enum already implies is no change. The language covers
patterns, lengths and enums; callers check formats and rules on the strings found. Automata are imported where they are
used, because most comparisons need none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from crdcompat.candidates.sample import values
from crdcompat.candidates.strings import string_limits
from crdcompat.schema.listed_values import enum_members
from crdcompat.schema.structural import Node

if TYPE_CHECKING:
    from crdcompat.schema.regex import Language, Relation

_MAX_STRINGS, _MAX_CANDIDATES, _MAX_LENGTH = 4, 160, 1_000_000
#: The characters of all candidates of one question together: a pattern can have members of thousands.
_MAX_CHARACTERS = 200_000
#: The length up to which each character of a member is repeated in turn.
_MAX_REPEATED = 1_000


def is_string(node: Node) -> bool:
    """Whether the node accepts only strings, so that a language describes its values."""
    return node.type == "string" and not node.int_or_string


def is_limited(node: Node) -> bool:
    """Whether a pattern or a length limit restricts the strings."""
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


def only_in_pattern(mine: Node, theirs: Node) -> tuple[str | None, str]:
    """A string that ``mine`` accepts and ``theirs`` does not, and why it is not known; None, "" without a pattern.

    Without a pattern of ``theirs``, what it refuses is a matter of lengths or of the enum.
    """
    from crdcompat.schema.regex import only_in

    return only_in(language(mine), language(theirs)) if string_limits(theirs)[2] else (None, "")


def finite_members(node: Node) -> tuple[str, ...] | None:
    """All strings of a node whose pattern allows finitely many; None if there is no pattern or the set is infinite."""
    if not is_string(node) or not string_limits(node)[-1]:
        return None
    from crdcompat.schema.regex import finite

    return finite(language(node))


def strings_outside(writer: Node, reader: Node, accepts: Callable[[str], bool]) -> tuple[list[str], bool]:
    """Strings that ``writer`` accepts and ``reader`` rejects, and whether an empty list proves that there are none.

    ``accepts``: whether the writer's formats and rules accept a string; the languages do not cover these.
    """
    return _outside(writer, language(writer), language(reader), language(reader), accepts)


def strings_off_pattern(writer: Node, reader: Node, accepts: Callable[[str], bool]) -> tuple[list[str], bool]:
    """As ``strings_outside``, for strings that ``reader`` rejects by its patterns: a server checks lengths first."""
    from crdcompat.schema.regex import Language

    theirs = language(reader)
    mine = language(writer) & Language.from_lengths(theirs.least, theirs.most)
    return _outside(writer, mine, Language(theirs.patterns), theirs, accepts)


def strings_off_length(writer: Node, reader: Node, accepts: Callable[[str], bool]) -> tuple[list[str], bool]:
    """As ``strings_outside``, for strings that ``reader`` rejects by their lengths; its patterns accept the first."""
    from crdcompat.schema.regex import Language

    theirs = language(reader)
    return _outside(writer, language(writer), Language.from_lengths(theirs.least, theirs.most), theirs, accepts)


def _outside(
    writer: Node, mine: Language, theirs: Language, whole: Language, accepts: Callable[[str], bool]
) -> tuple[list[str], bool]:
    """Strings of ``mine`` outside ``theirs``; those that the rest of the reader's ``whole`` language accepts first."""
    from crdcompat.schema.regex import Language, Unsupported, only_in, outside

    if not any((mine.patterns, mine.lists, whole.patterns, whole.lists)):
        return _other_lengths(writer, mine, theirs, accepts)
    one, unknown = only_in(mine, theirs)
    if one is None and not unknown:
        return [], True
    ours, in_theirs = mine.judge(), theirs.judge()
    rest = Language(whole.patterns if not theirs.patterns else (), whole.lists if not theirs.lists else ())
    searched: Iterable[str] = ()
    if one is not None:
        shortest = outside(
            mine.patterns, theirs.patterns, min_length=mine.least, max_length=mine.most, limit=_MAX_CANDIDATES
        )
        searched = chain([one], shortest)
    lengths = () if theirs.patterns else _of_other_lengths(mine & rest, theirs, searching=one is not None)
    candidates = chain(islice(_plain(writer), _MAX_CANDIDATES), searched, lengths)
    try:
        fitting, others = _first(
            candidates, lambda text: ours(text) and not in_theirs(text) and accepts(text), rest.judge()
        )
    except Unsupported:  # a pattern that no server compiles
        return [], False
    return [*fitting, *others][:_MAX_STRINGS], False


def _first(
    candidates: Iterable[str], is_member: Callable[[str], bool], is_fitting: Callable[[str], bool]
) -> tuple[list[str], list[str]]:
    """The first members that fit, and the first others; candidates are made and judged only until there are enough."""
    fitting: list[str] = []
    others: list[str] = []
    seen: set[str] = set()
    for text in candidates:
        if len(fitting) >= _MAX_STRINGS or sum(map(len, seen)) > _MAX_CHARACTERS:
            break
        if text not in seen and is_member(text):
            (fitting if is_fitting(text) else others).append(text)
        seen.add(text)
    return fitting, others


def _of_other_lengths(both: Language, theirs: Language, *, searching: bool) -> Iterator[str]:
    """Members of ``both`` that are too long or too short for ``theirs``.

    Without ``searching``, only repeated characters make short members long.
    """
    from crdcompat.schema.regex import members

    if theirs.most is not None and (wanted := max(theirs.most + 1, both.least)) <= _MAX_LENGTH:
        if searching:
            yield from members(both.patterns, min_length=wanted, max_length=both.most, limit=_MAX_STRINGS)
        for text in members(both.patterns, min_length=1, limit=_MAX_STRINGS):
            yield from (text * (wanted // len(text) + 1), text[0] * wanted, *_stretched(text, wanted))
    if searching and theirs.least > both.least:
        yield from members(both.patterns, min_length=both.least, max_length=theirs.least - 1, limit=_MAX_STRINGS)


def _stretched(text: str, wanted: int) -> Iterator[str]:
    """A short string made longer, at its end or by one of its characters."""
    yield text.ljust(wanted, "a")
    if len(text) < wanted <= _MAX_REPEATED:
        yield from (text[:at] + text[at] * (wanted - len(text)) + text[at:] for at in range(len(text)))


def _other_lengths(
    writer: Node, mine: Language, theirs: Language, accepts: Callable[[str], bool]
) -> tuple[list[str], bool]:
    """Strings where only the lengths differ: one that is too long, one that is too short.

    Base64 has lengths that are multiples of four, so some are tried. Formats and rules may want a string of a form,
    such as a URL: accepted short ones are made longer.
    """
    sizes = []
    if theirs.most is not None and (mine.most is None or mine.most > theirs.most):
        size = max(theirs.most + 1, mine.least)
        sizes.append(range(size, min(size + 4, _MAX_LENGTH + 1, (mine.most or _MAX_LENGTH) + 1)))
    if theirs.least > mine.least:
        sizes.append(range(mine.least, min(mine.least + 4, _MAX_LENGTH + 1, theirs.least)))
    found = (next(filter(accepts, _of_sizes(writer, each, accepts)), None) for each in sizes if each)
    return [text for text in found if text is not None], not sizes


def _of_sizes(writer: Node, sizes: range, accepts: Callable[[str], bool]) -> Iterator[str]:
    yield from ("a" * size for size in sizes)
    short = (text for text in islice(_plain(writer), _MAX_CANDIDATES) if 0 < len(text) < sizes.start and accepts(text))
    yield from (longer for text in islice(short, _MAX_STRINGS) for longer in _stretched(text, sizes.start))


def _plain(node: Node) -> Iterator[str]:
    yield from (value for value in values(node) if isinstance(value, str))
