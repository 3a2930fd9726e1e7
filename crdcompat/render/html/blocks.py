"""A page of blocks as values of its template: contents, filters, notes, and what stands beside the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.html.facets import Facets
from crdcompat.render.html.findings import side_line
from crdcompat.render.html.overview import arrow, folded
from crdcompat.render.html.page import page_parts
from crdcompat.render.pages.blocks import MAX_BLOCKED, Bars, Entries, Line, Notes, Section, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.render.pages.blocks import Page


def page_html(page: Page) -> Iterator[str]:
    """The parts of the page. Its entries are made twice: for the filters, and to be shown."""
    about, details = page.parts()
    answer = arrow(page.answers[0])
    facets = Facets(page.facets)
    for entries in details:
        for entry in entries.make() if isinstance(entries, Entries) else ():
            facets.add(**entry.facets)
    title = page.title.replace(" -> ", " → ")
    return page_parts(
        "page.j2",
        command=page.command,
        title=title or answer.question,
        subtitle=title if page.is_last else "",
        heading=page.heading,
        answer=answer,
        most=MAX_BLOCKED,
        numbers=page.numbers,
        rows=folded(page.rows),
        about=[each for each in (*page.head, *about) if isinstance(each, Line)],
        body=details,
        sides=[(role, release.full, side_line(release)) for role, release in page.sides],
        notes=[text for each in page.body if isinstance(each, Notes) for text in each.texts],
        problems=page.problems,
        contents=[_link(each) for each in details if isinstance(each, Section | Table | Entries | Bars)],
        facets=facets,
        what=page.what,
    )


def _link(block: Section | Table | Entries | Bars) -> tuple[str, str, tuple[()]]:
    """A page has at most one table and one picture of its own."""
    return (block.anchor if isinstance(block, Section | Entries) else type(block).__name__.lower()), block.title, ()
