"""Members of languages: all of a finite one, the shortest of any, those in one set of patterns and not another.

The order in which a pattern names its members: ``^(B|A)$`` names B before A.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice

from msgspec import Struct, field

from crdcompat.schema.regex.automaton import PatternAutomaton, pattern_automaton
from crdcompat.schema.regex.language import Language, found
from crdcompat.schema.regex.nfa import EDGE, Program
from crdcompat.schema.regex.open_questions import Budget, Unsupported
from crdcompat.schema.regex.partition import Mask
from crdcompat.schema.regex.product import Edge, Product
from crdcompat.schema.regex.shortest_texts import Words

_LIMIT = 1000
#: The most members of a language that are cached.
_REMEMBERED = 16
_STATES = 3000
#: A finite language is listed if its members have no more characters together.
_CHARACTERS = 100_000
#: Work to put members into the order of the pattern; some thousand texts. If it is more they are sorted.
_ORDERED = 200_000


def members(
    patterns: Sequence[str], *, min_length: int = 0, max_length: int | None = None, limit: int = _LIMIT
) -> Iterator[str]:
    """Texts in which every pattern is found, the shortest and most readable first, each confirmed by google-re2.

    At most ``limit``; fewer, perhaps none, if there are no others or the search reaches its bounds.
    """
    return islice(_remembered(tuple(dict.fromkeys(patterns)), (), min_length, max_length), max(limit, 0))


def outside(
    inside: Sequence[str],
    without: Sequence[str],
    *,
    min_length: int = 0,
    max_length: int | None = None,
    limit: int = _LIMIT,
) -> Iterator[str]:
    """Texts in which every pattern of ``inside`` is found but not every one of ``without``; else as ``members``.

    There are none if ``without`` is empty.
    """
    if not without:
        return iter(())
    patterns = tuple(dict.fromkeys(inside)), tuple(dict.fromkeys(without))
    return islice(_remembered(*patterns, min_length, max_length), max(limit, 0))


class _Begun(Struct):
    """The first members of a language, as far as they were asked for, and whether they are all."""

    texts: list[str] = field(default_factory=list)
    ended: bool = False


@lru_cache(maxsize=1024)
def _begun(patterns: tuple[str, ...], without: tuple[str, ...], least: int, most: int | None) -> _Begun:
    """The remembered members of a language: a release asks for those of the same few patterns again and again."""
    return _Begun()


def _remembered(patterns: tuple[str, ...], without: tuple[str, ...], least: int, most: int | None) -> Iterator[str]:
    begun = _begun(patterns, without, least, most)
    known = len(begun.texts)
    yield from begun.texts[:known]
    if begun.ended:
        return
    for place, text in enumerate(islice(_words(patterns, without, least, most), known, None), known):
        if place == len(begun.texts) and place < _REMEMBERED:
            begun.texts.append(text)
        yield text
    begun.ended = len(begun.texts) < _REMEMBERED


def _words(inside: Sequence[str], without: Sequence[str], least: int, most: int | None) -> Iterator[str]:
    try:
        kept = Language(patterns=tuple(dict.fromkeys(inside)))
        product = Product(kept.automata(), [pattern_automaton(each) for each in dict.fromkeys(without)])
        for text in Words(product).listed(max(least, 0), most):
            if text in kept and not (without and all(found(each, text) for each in without)):
                yield text
    except Unsupported:
        return


@lru_cache(maxsize=2048)
def finite(of: str | Language, *, limit: int = _LIMIT) -> tuple[str, ...] | None:
    """All members of a pattern or language, as written (``^(B|A)$``: B, A), if they are at most ``limit``.

    None if there are more, infinitely many or very long ones, or if the search failed.
    """
    language = Language.from_pattern(of) if isinstance(of, str) else of
    try:
        listed = language.listed()
        if listed is not None:
            return listed if len(listed) <= limit else None
        automata = [pattern_automaton(pattern) for pattern in language.patterns]
        if language.most is None and all(each.loops for each in automata):
            return None
        texts = _all(Product(language.automata()), limit)
        if texts is None or not all(map(language.judge(), texts)):
            return None
    except Unsupported:
        return None
    return tuple(_ordered(texts, sorted(automata, key=lambda each: each.loops)))


def _ordered(texts: list[str], automata: Sequence[PatternAutomaton]) -> list[str]:
    budget = Budget(_ORDERED, "the members are too long to be ordered")
    try:
        return sorted(texts, key=lambda text: (way(automata[0], text, budget) if automata else (), text))
    except Unsupported:
        return sorted(texts)


def _all(product: Product, limit: int) -> list[str] | None:
    """Every text of a product, in any order; None if there are more than ``limit`` or the search failed."""
    edges = _useful(product)
    order = _ends_first(product, edges) if edges is not None else None
    if edges is None or order is None:
        return None
    counts: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for state in order:
        steps = [(len(edge), edge.target) for edge in edges[state]]
        counts[state] = product.accepts(state) + sum(chars * counts[target] for chars, target in steps)
        lengths[state] = sum(chars * (counts[target] + lengths[target]) for chars, target in steps)
    if counts.get(product.start, 0) > limit or lengths.get(product.start, 0) > _CHARACTERS:
        return None
    texts: list[str] = []
    todo = [(product.start, "")] if product.start in edges else []
    while todo:
        state, text = todo.pop()
        if product.accepts(state):
            texts.append(text)
        for edge in edges[state]:
            todo.extend((edge.target, text + char) for char in edge.chars())
    return texts


def _useful(product: Product) -> dict[int, list[Edge]] | None:
    """The states on the way from the start to an end, and the steps between them; None if they are too many or
    anything may follow one of them."""
    reached = {product.start} if product.start >= 0 else set()
    todo = list(reached)
    before: dict[int, list[int]] = {}
    for state in todo:
        if product.everything(state) or len(todo) > _STATES:
            return None
        for edge in product.edges(state):
            before.setdefault(edge.target, []).append(state)
            if edge.target not in reached:
                reached.add(edge.target)
                todo.append(edge.target)
    useful = {state for state in todo if product.accepts(state)}
    todo = list(useful)
    for state in todo:
        for earlier in before.get(state, ()):
            if earlier not in useful:
                useful.add(earlier)
                todo.append(earlier)
    return {state: [edge for edge in product.edges(state) if edge.target in useful] for state in useful}


def _ends_first(product: Product, edges: dict[int, list[Edge]]) -> list[int] | None:
    """The states in an order in which each comes after those behind it; None if a text can go on for ever."""
    order: list[int] = []
    if product.start not in edges:
        return order
    done = {product.start: False}
    todo = [(product.start, iter(edges[product.start]))]
    while todo:
        state, steps = todo[-1]
        edge = next(steps, None)
        if edge is None:
            todo.pop()
            done[state] = True
            order.append(state)
        elif edge.target not in done:
            done[edge.target] = False
            todo.append((edge.target, iter(edges[edge.target])))
        elif not done[edge.target]:
            return None
    return order


def way(automaton: PatternAutomaton, text: str, budget: Budget) -> tuple[int, ...]:
    """The first way, in the order of the pattern as written, in which it matches all of the text.

    A way is the positions in the pattern of the characters that match, one for each of the text.
    """
    program, classes = automaton.program, automaton.classes_of(text)
    kinds = [kind for _, kind in classes]
    places = list(zip((EDGE, *kinds), (*kinds, EDGE), strict=True))
    reached: list[Mask] = []
    for (mask, _), place in zip(classes, places, strict=False):
        held = reached[-1] if reached else None
        reached.append(_after(program, held, *place) & mask)
        budget.spend(2 + 2 * reached[-1].bit_count())
    wanted = program.matched
    for at in range(len(text) - 1, -1, -1):
        place = places[at + 1]
        wanted = reached[at] = sum(1 << each for each in _bits(reached[at]) if program.follow(each, *place) & wanted)
    path: list[int] = []
    for mask, place in zip(reached, places, strict=False):
        choice = program.follow(path[-1], *place) if path else program.first(*place)
        first = next(_bits(choice & mask), None)
        if first is None:
            break
        path.append(first)
    return tuple(path)


def _after(program: Program, held: Mask | None, before: int, behind: int) -> Mask:
    if held is None:
        return program.first(before, behind)
    found = 0
    for each in _bits(held):
        found |= program.follow(each, before, behind)
    return found


def _bits(mask: Mask) -> Iterator[int]:
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
