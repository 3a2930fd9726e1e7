"""A page of blocks as values of its template: contents, notes, and what stands beside the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.html.facets import Facets
from crdcompat.render.html.findings import side_line
from crdcompat.render.html.page import page as filled
from crdcompat.render.pages.blocks import MAX_BLOCKED, Line, Notes, Section, Table

if TYPE_CHECKING:
    from crdcompat.render.pages.blocks import Page


def page_html(page: Page) -> str:
    """The page; nothing on it is filtered."""
    about, details = page.parts()
    answer = page.answers[0]
    return filled(
        "page.j2",
        command=page.command,
        title=page.title or answer.question,
        answer=answer,
        most=MAX_BLOCKED,
        numbers=page.numbers,
        about=[each for each in about if isinstance(each, Line)],
        body=details,
        sides=[(role, release.full, side_line(release)) for role, release in page.sides],
        notes=[text for each in page.body if isinstance(each, Notes) for text in each.texts],
        problems=page.problems,
        contents=[_entry(each) for each in page.body if isinstance(each, Section | Table)],
        facets=Facets(()),
        what="details",
    )


def _entry(block: Section | Table) -> tuple[str, str, tuple[()]]:
    return (block.anchor if isinstance(block, Section) else "table"), block.title, ()
