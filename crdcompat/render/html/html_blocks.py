"""A page of blocks as values of its template: contents, filters, notes, and what stands beside the answers."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.findings.rules import catalogue
from crdcompat.render.html.html_page import page_parts
from crdcompat.render.pages.blocks import Answers, Bars, Block, Entries, Facet, Line, Notes, Section, Table
from crdcompat.render.pages.page import MAX_BLOCKED, Answer, MarkedRow, Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.models.release import Release

#: An entry of the table of contents: anchor, name, and the links below it.
_Link = tuple[str, str, tuple[tuple[str, str], ...]]
#: Rows of a first screen.
_MAX_ROWS = 8


class View(Struct, frozen=True):
    """An answer as the page shows it, and its rows: those that are shown, and ``more`` that are folded away."""

    answer: Answer
    shown: Sequence[MarkedRow]
    more: Sequence[MarkedRow]


def page_html(page: Page) -> Iterator[str]:
    """The parts of the page. Its entries are made twice: for the filters, and to be shown."""
    about, details = page.parts()
    facets = Facets(page.facets)
    for entries in _entries(details):
        for entry in entries.make():
            facets.add(entry.size, **entry.facets)
    title = page.title.replace(" -> ", " → ")
    ways = next((at for at, each in enumerate(details) if isinstance(each, Section) and each.role == "ways"), 0)
    explained = tuple(rule for name, rule in catalogue().items() if name in page.rules) if page.rules else ()
    links = [link for each in details for link in _links(each)]
    if explained:
        links.append(("rules", "Rules: why, and fixes", ()))
    texts = (*page.notes, *(text for each in page.body if isinstance(each, Notes) for text in each.texts))
    return page_parts(
        "page.j2",
        page=page,
        command=page.command,
        title=page.name.replace(" -> ", " → ") or title or (page.answers[0].question if page.answers else ""),
        subtitle=title if page.is_last else "",
        views=[_view(each) for each in page.views or page.answers[:1]],
        most=MAX_BLOCKED,
        about=[each for each in (*page.head, *about) if isinstance(each, Line)],
        above=details[:ways],
        body=details[ways:],
        sides=[(role, release.full, side_line(release)) for role, release in page.sides],
        notes=[*dict.fromkeys(texts)],
        problems=page.problems,
        contents=links,
        facets=facets,
        what=page.what,
        rules=explained,
    )


def side_line(release: Release) -> str:
    """Commit and server version of a side, as far as known."""
    known = [f"commit {release.commit[:12]}"] if release.commit else []
    return ", ".join([*known, *([f"Kubernetes {release.kubernetes}"] if release.kubernetes else [])])


def _view(answer: Answer) -> View:
    """The answer with ``→`` for ``->``, which terminals show."""
    question = answer.question.replace(" -> ", " → ")
    shown = replace(answer, question=question, reason=answer.reason.strip())
    return View(shown, answer.rows[:_MAX_ROWS], answer.rows[_MAX_ROWS:])


def _entries(blocks: Iterable[Block]) -> Iterator[Entries]:
    for each in blocks:
        if isinstance(each, Section):
            yield from _entries(each.blocks)
        elif isinstance(each, Entries):
            yield each


def _links(block: Block) -> Iterator[_Link]:
    """The contents: a page has at most one table and one picture of its own."""
    match block:
        case Section(role="part", title=title):
            if title:
                yield block.anchor, title, ()
            inner = (each for each in block.blocks if isinstance(each, Section | Entries))
            for each in inner:
                yield from () if title and isinstance(each, Section) and each.role == "scope" else _links(each)
        case Section():
            below = tuple((each.anchor, each.title) for each in block.blocks if isinstance(each, Entries))
            yield block.anchor, block.short or block.name or block.title, below
        case Entries() | Answers():
            yield block.anchor, block.title, ()
        case Table() | Bars():
            yield type(block).__name__.lower(), block.title, ()


# Filters of the page: the values of each item as numbers; the form has their names.


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
