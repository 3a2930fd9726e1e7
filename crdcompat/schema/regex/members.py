"""Members of languages: all of a finite one, the shortest of any, those that one set of patterns has over another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from crdcompat.schema.regex.automaton import PatternAutomaton, pattern_automaton
from crdcompat.schema.regex.errors import Budget, Unsupported
from crdcompat.schema.regex.language import Language, found
from crdcompat.schema.regex.product import Product
from crdcompat.schema.regex.search import Words
from crdcompat.schema.regex.written import way

_LIMIT = 1000
_STATES = 3000
#: Work to put members into the order of the pattern; some thousand texts. If it is more they are sorted.
_ORDERED = 200_000


def members(
    patterns: Sequence[str], *, min_length: int = 0, max_length: int | None = None, limit: int = _LIMIT
) -> Iterator[str]:
    """Texts in which every pattern is found, the shortest and most readable first, each confirmed by google-re2.

    At most ``limit``; fewer, perhaps none, if there are no more or more cannot be found within bounds.
    """
    return _words(patterns, (), min_length, max_length, limit)


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
    return _words(inside, without, min_length, max_length, limit) if without else iter(())


def _words(inside: Sequence[str], without: Sequence[str], least: int, most: int | None, limit: int) -> Iterator[str]:
    try:
        kept = Language(patterns=tuple(dict.fromkeys(inside)))
        product = Product(kept.automata(), [pattern_automaton(each) for each in dict.fromkeys(without)])
        for text in Words(product).listed(max(least, 0), most):
            if limit <= 0:
                return
            if text in kept and not (without and all(found(each, text) for each in without)):
                limit -= 1
                yield text
    except Unsupported:
        return


@lru_cache(maxsize=2048)
def finite(of: str | Language, *, limit: int = _LIMIT) -> tuple[str, ...] | None:
    """All members of a pattern or language, as written (``^(B|A)$``: B, A), if they are at most ``limit``.

    None if there are more, endlessly many, or it could not be found out.
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
    except Unsupported:
        return None
    if texts is None or any(text not in language for text in texts):
        return None
    return tuple(_ordered(texts, automata))


def _ordered(texts: list[str], automata: Sequence[PatternAutomaton]) -> list[str]:
    budget = Budget(_ORDERED, "the members are too long to be ordered")
    try:
        return sorted(texts, key=lambda text: (way(automata[0], text, budget) if automata else (), text))
    except Unsupported:
        return sorted(texts)


def _all(product: Product, limit: int) -> list[str] | None:
    """Every text of a product, in any order; None if they are more than ``limit`` or were not found out."""
    order = _ends_first(product)
    if order is None:
        return None
    counts: dict[int, int] = {}
    for state in order:
        counts[state] = product.accepts(state) + sum(len(edge) * counts[edge.target] for edge in product.edges(state))
    if counts.get(product.start, 0) > limit:
        return None
    texts: list[str] = []
    todo = [(product.start, "")] if counts.get(product.start) else []
    while todo:
        state, text = todo.pop()
        if product.accepts(state):
            texts.append(text)
        for edge in product.edges(state):
            if counts[edge.target]:
                todo.extend((edge.target, text + char) for char in edge.chars())
    return texts


def _ends_first(product: Product) -> list[int] | None:
    """The states that can be reached, each after all that come behind it; None if there is no such order
    because a text can go on for ever, or if there are too many states."""
    order: list[int] = []
    if product.start < 0:
        return order
    done = {product.start: False}
    todo = [(product.start, iter(product.edges(product.start)))]
    while todo:
        state, edges = todo[-1]
        edge = next(edges, None)
        if edge is None:
            todo.pop()
            done[state] = True
            order.append(state)
        elif edge.target not in done:
            if len(done) == _STATES:
                return None
            done[edge.target] = False
            todo.append((edge.target, iter(product.edges(edge.target))))
        elif not done[edge.target]:
            return None
    return order
