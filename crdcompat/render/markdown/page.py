"""A page as GitHub Markdown: the answer, then each section, folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, finish
from crdcompat.render.markdown.markup import block, bullets, cell, code, details, span, unread
from crdcompat.render.pages.blocks import Fold, Line, Notes, Section, Table
from crdcompat.render.text.page import blocks_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.render.pages.blocks import Block, Page

#: Lines that fit on a page of GitHub; no screen, after which the answer is repeated.
_WRAPPED = Style(width=100, height=1_000_000)
_MAX_ROWS = 200


def page_markdown(page: Page) -> Iterator[str]:
    """The parts of the page: text from manifests is in code alone."""
    yield f"## crdcompat: {code(page.answer.question)} {page.answer.word}".rstrip()
    yield from unread(page.problems)
    yield from (_entry(line) for each in page.head for line in each.lines)
    first = next((at for at, each in enumerate(page.body) if isinstance(each, Section | Table)), len(page.body))
    reason = (Line(page.answer.reason, hang=0, fold=Fold.ALWAYS),) if page.answer.reason else ()
    if text := "\n".join(finish(blocks_text((*reason, *page.body[:first]), _WRAPPED))):
        yield block(text)
    for each in page.body[first:]:
        yield from _part(each)


def _entry(line: Line) -> str:
    return f"{span(line.mark)} {span(line.text)}\n\n{bullets([each.text for each in line.below])}"


def _part(item: Block) -> Iterator[str]:
    match item:
        case Section():
            heading, *lines = [*blocks_text((item,), _WRAPPED)][1:]
            yield details(code("".join(finish([heading]))), block("\n".join(finish(lines))))
        case Table():
            yield block(item.said) if item.said else _table(item)
        case Line():
            yield span(item.text)
        case Notes() if item.texts:
            yield bullets(item.texts)


def _table(table: Table) -> str:
    lines = [table.head, ("---",) * len(table.head)]
    lines += [tuple(cell(each.text) if each.text != "-" else "" for each in row) for row in table.rows[:_MAX_ROWS]]
    rest = len(table.rows) - _MAX_ROWS
    more = [f"| and {rest} more |"] if rest > 0 else []
    return "\n".join([*(f"| {' | '.join(line)} |" for line in lines), *more])
