"""The cases of an expression's value: which term it is under which condition.

The conditions of the cases of one expression exclude each other. The expression is an error if none of them holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import prod

from crdcompat.cel.identifiers import canonical
from crdcompat.compare.equivalence.connectives import every, has, opposite, some
from crdcompat.compare.equivalence.formula import FALSE, TRUE, Canonical, Formula, Path, TooComplexError
from crdcompat.compare.equivalence.of_writer import added_default
from crdcompat.compare.equivalence.operators import compared, defined, opaque_truth, searched, size_of, truth_of
from crdcompat.compare.equivalence.terms import Const, Listing, Maybe, Opaque, Ref, Term, Truth
from crdcompat.schema.structural import ABSENT

Case = tuple[Formula, Term]

#: Combinations of the cases of an operation's operands.
_MAX_CASES = 64


class Body(Canonical, frozen=True, eq=False):
    """The cases of one part of a comprehension, inside of an opaque term."""

    cases: tuple[Case, ...]

    def __post_init__(self) -> None:
        self._write(" | ".join(sorted(f"{condition.text}: {term.text}" for condition, term in self.cases)))

    def paths(self) -> Iterator[Path]:
        for condition, term in self.cases:
            yield from condition.paths()
            yield from term.paths()


def merged(found: Iterable[Case]) -> list[Case]:
    """The cases with each term once; those that never hold are dropped."""
    conditions: dict[Term, list[Formula]] = {}
    for condition, term in found:
        if condition != FALSE:
            conditions.setdefault(term, []).append(condition)
    return [(some(*each), term) for term, each in conditions.items()]


def united(found: Iterable[tuple[Formula, Term]]) -> Truth:
    """The cases of a boolean as one boolean."""
    truths = [(condition, truth_of(term)) for condition, term in found]
    return Truth(
        some(*(every(condition, truth.true) for condition, truth in truths)),
        some(*(every(condition, truth.false) for condition, truth in truths)),
    )


def combined(operands: Sequence[list[Case]], made: Callable[..., Term]) -> list[Case]:
    """The cases of an operation on all combinations of its operands' cases."""
    if prod(map(len, operands)) > _MAX_CASES:
        raise TooComplexError
    return merged(
        (every(*(condition for condition, _ in chosen)), made(*(term for _, term in chosen)))
        for chosen in product(*operands)
    )


def literal(operands: Sequence[list[Case]], made: Callable[..., Term]) -> list[Case]:
    """As ``combined``, of a literal list or map: it is an error if one of its parts is, even if nothing reads that."""
    listed = combined(operands, lambda *parts: Listing(parts))
    return merged(
        (every(condition, defined(listing)), made(*listing.items))
        for condition, listing in listed
        if isinstance(listing, Listing)
    )


def decided(operands: Sequence[list[Case]], made: Callable[..., Truth]) -> list[Case]:
    """As ``combined``, of an operation with a boolean result, which is one case."""
    return [(TRUE, united(combined(operands, made)))]


def both(truths: Iterable[Truth]) -> Truth:
    """The conjunction as CEL has it: false if one is false, even if another is an error."""
    listed = list(truths)
    return Truth(every(*(truth.true for truth in listed)), some(*(truth.false for truth in listed)))


def member(found: list[Case], name: str) -> list[Case]:
    """``e.name``: an error where the member is absent, and an optional where ``e`` is one."""
    return merged(case for condition, term in found for case in _member(condition, term, name))


def presence(found: list[Case], name: str) -> Truth:
    """``has(e.name)``."""
    return united((condition, _presence(term, name)) for condition, term in found)


def optional_member(found: list[Case], name: str) -> list[Case]:
    """``e.?name``, also of an optional."""
    return merged(_optional_members(found, name))


def element(found: list[Case], key: str) -> list[Case] | None:
    """``e["key"]``; None if not all cases are maps."""
    return member(found, key) if all(_is_map(term) for _, term in found) else None


def optional_element(found: list[Case], key: str) -> list[Case] | None:
    """``e[?"key"]``; None if not all cases are maps or optional ones."""
    return optional_member(found, key) if all(_is_map(term) for _, term in found) else None


def unwrapped(name: str, found: list[Case], other: Callable[[], list[Case]]) -> list[Case] | None:
    """``e.hasValue()``, ``e.value()``, ``e.orValue(other)`` and ``e.or(other)``; None if a case is no optional."""
    optionals = [(condition, term) for condition, term in found if isinstance(term, Maybe)]
    if len(optionals) < len(found):
        return None
    given = [(condition, term.value) for condition, term in optionals if term.value is not None]
    empty = some(*(condition for condition, term in optionals if term.value is None))
    if name == "hasValue":
        return [(TRUE, Truth(some(*(condition for condition, _ in given)), empty))]
    if name == "value":
        return merged(given)
    kept: list[Case] = [(condition, Maybe(value) if name == "or" else value) for condition, value in given]
    return merged([*kept, *((every(empty, condition), term) for condition, term in other())])


def validated(found: list[Case], pattern: str, longest: int) -> list[Case]:
    """``format.validate(e)`` of a format with this pattern and greatest length: an optional with the faults."""
    return merged(case for condition, term in found for case in _validated(condition, term, pattern, longest))


def _validated(condition: Formula, term: Term, pattern: str, longest: int) -> Iterator[Case]:
    shape = Const(f"^(?:{pattern})$")
    valid = both((searched("matches", term, shape), compared("<=", size_of(term), Const(longest))))
    yield every(condition, valid.true), Maybe(None)
    yield every(condition, valid.false), Maybe(Opaque((term, shape), "validate"))


def _member(condition: Formula, term: Term, name: str) -> Iterator[Case]:
    if isinstance(term, Maybe):
        yield from _optional_members([(condition, term)], name)
    elif isinstance(term, Ref):
        yield from ((every(condition, there), member) for there, member in _values(term, name))
    else:
        yield condition, Opaque((term, Const(name)), "select")


def _presence(term: Term, name: str) -> Truth:
    if isinstance(term, Maybe):
        return truth_of(Const(False)) if term.value is None else _presence(term.value, name)
    if not isinstance(term, Ref):
        return opaque_truth(Opaque((term, Const(name)), "has"))
    there = some(*(condition for condition, _ in _values(term, name)))
    return Truth(there, opposite(there))


def _optional_members(found: list[Case], name: str) -> Iterator[Case]:
    for condition, term in found:
        held = term.value if isinstance(term, Maybe) else term
        if held is None:
            yield condition, Maybe(None)
        elif isinstance(held, Ref):
            yield from ((every(condition, there), Maybe(member)) for there, member in _values(held, name))
            yield every(condition, _presence(held, name).false), Maybe(None)
        else:
            yield condition, Opaque((term, Const(name)), "_?._")


def _values(holder: Ref, name: str) -> Iterator[Case]:
    """The cases of the value of a member: the stored one, or a default that a reader adds."""
    view = holder.view.member(name) if holder.view is not None and holder.view.kind in ("object", "map") else None
    member = Ref((*holder.path, canonical(name) if holder.is_a("object") else name), view)
    yield has(member.path), member
    if (default := added_default(view)) is not ABSENT:
        yield opposite(has(member.path)), Const(default)


def _is_map(term: Term) -> bool:
    held = term.value if isinstance(term, Maybe) else term
    return (held is None and isinstance(term, Maybe)) or (isinstance(held, Ref) and held.is_a("map"))
