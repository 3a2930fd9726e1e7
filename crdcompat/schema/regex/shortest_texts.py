"""Texts that a product of automata accepts: the shortest one, and all of them by length."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.schema.regex.open_questions import Budget, Unsupported
from crdcompat.schema.regex.product import Edge, Product

#: Steps looked at while texts are listed: length times states.
_UNITS = 1_200_000


def shortest(product: Product, bound: int) -> str | None:
    """The shortest text, the most readable of that length; None if there is none. Raises Unsupported beyond
    ``bound`` states."""
    if product.start < 0:
        return None
    if product.accepts(product.start):
        return ""
    level = {product.start: 0}
    came: dict[int, tuple[int, str]] = {}
    seen = {product.start}
    while level:
        found: dict[int, tuple[int, int, str]] = {}
        for state, cost in level.items():
            for edge in product.edges(state):
                if edge.target in seen:
                    continue
                known = found.get(edge.target)
                if known is None or cost + edge.cost < known[0]:
                    found[edge.target] = cost + edge.cost, state, edge.char
            if len(seen) + len(found) > bound:
                raise Unsupported(f"more than {bound} states")
        came.update((target, (state, char)) for target, (_, state, char) in found.items())
        ends = [(cost, target) for target, (cost, _, _) in found.items() if product.accepts(target)]
        if ends:
            return _spelled(min(ends)[1], product.start, came)
        seen.update(found)
        level = {target: cost for target, (cost, _, _) in found.items()}
    return None


def _spelled(state: int, start: int, came: dict[int, tuple[int, str]]) -> str:
    chars: list[str] = []
    while state != start:
        state, char = came[state]
        chars.append(char)
    return "".join(reversed(chars))


class Words:
    """The texts of a product by length. A layer has the states that texts of one length lead to. For each
    state the cost of the most readable end of a given length is known, so that listing meets no dead end."""

    def __init__(self, product: Product) -> None:
        self._product = product
        self._budget = Budget(_UNITS, "the patterns need too many steps")
        self._layers: list[set[int]] = [{product.start} if product.start >= 0 else set()]
        self._known = set(self._layers[0])
        #: Whether every state that can be reached is known.
        self._closed = False
        #: By number of characters left: the cost of the best end from a state, None if there is no end.
        self._ends: list[dict[int, int | None]] = []

    def listed(self, least: int, most: int | None) -> Iterator[str]:
        """All texts of ``least`` to ``most`` characters, by length, readable ones first."""
        length, last = least, least
        while most is None or length <= most:
            if not self._extend(length):
                return
            if any(self._product.accepts(state) for state in self._layers[length]):
                self._measure(length)
                yield from self._spell(length)
                last = length
            elif self._closed and length - last > len(self._known):
                # An automaton of n states that accepts a longer text accepts one at most n characters longer.
                return
            length += 1

    def _extend(self, length: int) -> bool:
        """Make the layers up to ``length``; False if no text is that long."""
        while len(self._layers) <= length:
            layer: set[int] = set()
            for state in self._layers[-1]:
                edges = self._product.edges(state)
                self._budget.spend(1 + len(edges))
                layer.update(edge.target for edge in edges)
            self._closed = self._closed or layer <= self._known
            self._known |= layer
            self._layers.append(layer)
        return bool(self._layers[length])

    def _measure(self, length: int) -> None:
        for left in range(length + 1):
            if left == len(self._ends):
                self._ends.append({})
            ends = self._ends[left]
            for state in self._layers[length - left]:
                self._budget.spend(1)
                if state not in ends:
                    ends[state] = self._best(state, left)

    def _best(self, state: int, left: int) -> int | None:
        if left == 0:
            return 0 if self._product.accepts(state) else None
        edges = self._product.edges(state)
        self._budget.spend(len(edges))
        after = self._ends[left - 1]
        return min((edge.cost + end for edge in edges if (end := after[edge.target]) is not None), default=None)

    def _spell(self, length: int) -> Iterator[str]:
        """Depth first, the cheapest way first."""
        chars = [""] * length
        ways = [self._ways(self._product.start, length)]
        while ways:
            depth = len(ways) - 1
            if depth == length:
                yield "".join(chars)
                ways.pop()
                continue
            step = next(ways[-1], None)
            if step is None:
                ways.pop()
                continue
            chars[depth], state = step
            ways.append(self._ways(state, length - depth - 1))

    def _ways(self, state: int, left: int) -> Iterator[tuple[str, int]]:
        if left == 0:
            return
        after = self._ends[left - 1]
        ranked: list[tuple[int, str, Edge]] = []
        for edge in self._product.edges(state):
            end = after[edge.target]
            if end is not None:
                ranked.append((edge.cost + end, edge.char, edge))
        for _, _, edge in sorted(ranked, key=lambda each: each[:2]):
            for char in edge.chars():
                yield char, edge.target
