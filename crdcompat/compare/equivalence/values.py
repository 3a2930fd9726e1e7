"""Whether one value can satisfy several statements about it at once.

"No" is a proof. Statements that are not understood, and questions that cost too much, count as "yes".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.cel.views import View
from crdcompat.compare.equivalence.formula import Atom, Kind
from crdcompat.schema.re2 import Pattern, compile_pattern
from crdcompat.schema.structural import ABSENT

if TYPE_CHECKING:
    from crdcompat.schema.regex import Language

#: Whole numbers of a range that are tried one by one, and members of a finite language.
_MAX_NUMBERS, _MAX_MEMBERS = 1000, 256
#: Characters of a string that is made for a length.
_MAX_LENGTH = 10_000

#: Atoms about one value, and whether each holds.
Facts = Sequence[tuple[Atom, bool]]


def can_hold(facts: Facts, view: View | None) -> bool:
    """Whether a value of the type can satisfy the facts."""
    kind = view.kind if view is not None else ""
    equal = [atom.value for atom, holds in facts if atom.kind is Kind.EQUAL and holds]
    if equal:
        return all(fits(equal[0], atom, kind) in (holds, None) for atom, holds in facts)
    excluded = [atom.value for atom, holds in facts if atom.kind is Kind.EQUAL]
    if kind == "boolean":
        return len({value for value in excluded if isinstance(value, bool)}) < 2
    if kind in ("integer", "number"):
        return _a_number_can(facts, excluded, whole=kind == "integer")
    least, most = sizes(facts)
    if least > most or (most == 0 and any(atom.kind is Kind.EACH and not holds for atom, holds in facts)):
        return False
    return kind != "string" or _a_string_can(facts, excluded, least, most)


def fits(value: Any, atom: Atom, kind: str) -> bool | None:
    """Whether an atom holds for a known value; None if that cannot be said."""
    match atom.kind:
        case Kind.EQUAL:
            same_type = type(value) is type(atom.value) or (_is_number(value) and _is_number(atom.value))
            return same_type and bool(value == atom.value)
        case Kind.SIZE:
            return bool(len(value) >= atom.value) if isinstance(value, str) else None
        case Kind.FROM if _is_number(value):
            limit, is_excluded = atom.value
            return bool(value > limit or (value == limit and not is_excluded))
        case Kind.MULTIPLE if isinstance(value, int):
            return bool(value % atom.value == 0)
        case Kind.MATCHES:
            return _found(atom.value, value) if isinstance(value, str) else None
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _found(pattern: str, text: str) -> bool | None:
    compiled = compile_pattern(pattern)
    return compiled.search(text) if isinstance(compiled, Pattern) else None


def _a_number_can(facts: Facts, excluded: Sequence[Any], *, whole: bool) -> bool:
    from_there = [(atom.value, holds) for atom, holds in facts if atom.kind is Kind.FROM]
    low = max((value for value, holds in from_there if holds), default=(-math.inf, False), key=tuple)
    high = min((value for value, holds in from_there if not holds), default=(math.inf, True), key=tuple)
    if tuple(low) >= tuple(high):
        return False
    if whole and high[0] - low[0] <= _MAX_NUMBERS:
        return any(
            value not in excluded and all(fits(value, atom, "integer") in (holds, None) for atom, holds in facts)
            for value in range(math.floor(low[0]), math.ceil(high[0]) + 1)
        )
    # Between two limits are more numbers than excluded ones, unless both limits are the same number.
    if not whole and low[0] == high[0]:
        return low[0] not in excluded
    return not whole or _a_multiple_can(facts)


def _a_multiple_can(facts: Facts) -> bool:
    factors = [(atom.value, holds) for atom, holds in facts if atom.kind is Kind.MULTIPLE]
    common = math.lcm(*(factor for factor, holds in factors if holds))
    return all(holds or common % factor for factor, holds in factors)


def candidates(facts: Facts, view: View, plain: Iterable[Any]) -> Iterator[Any]:
    """Values that satisfy the facts, as far as these are understood: of those that they name, and of ``plain`` ones."""
    equal = (atom.value for atom, holds in facts if atom.kind is Kind.EQUAL and holds)
    for value in chain(equal, plain, _named(facts)):
        if value is not ABSENT and all(fits(value, atom, view.kind) in (holds, None) for atom, holds in facts):
            yield value


def _named(facts: Facts) -> Iterator[Any]:
    """Numbers beside limits and multiples, strings of lengths and of patterns."""
    for atom, _ in facts:
        if atom.kind is Kind.FROM:
            limit = atom.value[0]
            yield from (limit, limit - 1, limit + 1)
        elif atom.kind is Kind.MULTIPLE:
            yield from (atom.value, atom.value + 1)
    least, most = sizes(facts)
    patterns = [(atom.value, holds) for atom, holds in facts if atom.kind is Kind.MATCHES]
    if patterns:
        from crdcompat.schema.regex import only_in

        yield only_in(*_languages(patterns, least, most))[0]
    elif 0 < least <= _MAX_LENGTH:
        yield "a" * least


def sizes(facts: Facts) -> tuple[int, float]:
    """The least and the greatest size that facts state."""
    sizes = [(atom.value, holds) for atom, holds in facts if atom.kind is Kind.SIZE]
    least = max((size for size, holds in sizes if holds), default=0)
    return least, min((size - 1 for size, holds in sizes if not holds), default=math.inf)


def _a_string_can(facts: Facts, excluded: Sequence[Any], least: int, most: float) -> bool:
    """Whether a string of these lengths has all patterns that hold, none of the others, and is not excluded."""
    patterns = [(atom.value, holds) for atom, holds in facts if atom.kind is Kind.MATCHES]
    least = max(least, 1) if "" in excluded else least
    if not patterns or least > most:
        return least <= most
    from crdcompat.schema.regex import finite, only_in

    inside, outside = _languages(patterns, least, most)
    if only_in(inside, outside) == (None, ""):
        return False
    members = finite(inside, limit=_MAX_MEMBERS) if excluded else None
    if members is None:
        return True
    return any(
        text not in excluded and all(fits(text, atom, "string") in (holds, None) for atom, holds in facts)
        for text in members
    )


def _languages(patterns: Sequence[tuple[str, bool]], least: int, most: float) -> tuple[Language, Language]:
    """The strings of some lengths with all patterns that hold, and those with one of the others."""
    from crdcompat.schema.regex import Language

    inside = Language.from_lengths(least, None if most == math.inf else int(most))
    for pattern, holds in patterns:
        if holds:
            inside &= Language.from_pattern(pattern)
    others = [f"(?:{pattern})" for pattern, holds in patterns if not holds]
    return inside, Language.from_pattern("|".join(others)) if others else Language.from_strings(())
