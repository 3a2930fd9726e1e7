"""Filters of the page: the values of each item as numbers; the form has their names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.render.pages.blocks import Facet


class Shown(Struct, frozen=True):
    """A facet in the form: its values, each with the number of findings that have it."""

    facet: Facet
    values: tuple[tuple[str, int], ...]


class Facets(Struct):
    """Collects the values of items in the order of the page."""

    facets: Sequence[Facet]
    _items: list[tuple[tuple[str, ...], ...]] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def add(self, size: int = 1, /, **values: str | Sequence[str]) -> None:
        """Add the values of the next item, by facet; an omitted facet has none.

        ``size``: how many findings the item lists. A value that several of them have is given as many times.
        """
        chosen = ((values.get(facet.key, ())) for facet in self.facets)
        self._items.append(tuple((value,) * size if isinstance(value, str) else tuple(value) for value in chosen))
        self._sizes.append(size)

    @property
    def total(self) -> int:
        """How many findings the items list."""
        return sum(self._sizes)

    def shown(self) -> tuple[Shown, ...]:
        """The facets with more than one value."""
        return tuple(found for _, found in self._numbered())

    def rows(self) -> list[list[int | list[int]]]:
        """For each item its size, then for each facet shown the number of its value, or the numbers of its values."""
        chosen = [
            (position, {value: number for number, (value, _) in enumerate(found.values)})
            for position, found in self._numbered()
        ]
        return [
            [size, *(_numbers([known[value] for value in item[at]]) for at, known in chosen)]
            for size, item in zip(self._sizes, self._items, strict=True)
        ]

    def _numbered(self) -> list[tuple[int, Shown]]:
        found = []
        for position, facet in enumerate(self.facets):
            counted = Counter(value for item in self._items for value in item[position])
            names: Sequence[str] = [value for value in facet.order if counted[value]] or sorted(counted)
            if len(names) > 1:
                found.append((position, Shown(facet, tuple((name, counted[name]) for name in names))))
        return found


def _numbers(values: list[int]) -> Any:
    return values[0] if len(values) == 1 else values
