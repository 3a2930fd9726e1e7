"""A page as GitHub Markdown: the answer, then each section, folded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, finish
from crdcompat.render.markdown.markup import block, bullets, cell, code, details, span, unread
from crdcompat.render.pages.blocks import Cell, Entries, Line, Notes, Page, Section, Table
from crdcompat.render.text.page import blocks_text, page_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.render.pages.blocks import Block

#: Lines that fit on a page of GitHub; no screen, after which the answer is repeated.
_WRAPPED = Style(width=100, height=1_000_000)
_MAX_ROWS, _MAX_COLUMNS = 200, 20
_MAX_IN_SECTION = 20_000
_WORDS = re.compile("[A-Za-z ]+")
_MARKS = {"blocked": "🛑", "unknown": "❔", "at risk": "⚠️", "clean": "✅"}


def page_markdown(page: Page) -> Iterator[str]:
    """The parts of the page: text from manifests is in code alone. The heading is the only answer, or the title."""
    only = page.answers[0] if len(page.answers) == 1 and not page.heading else None
    heading = f"{span(only.question)} {only.word}" if only else span(page.heading)
    yield f"## crdcompat: {heading.rstrip()}"
    yield from unread(page.problems)
    about, details = page.parts()
    # The heading is all of an answer without a reason.
    repeated = page.answers if only is None or only.reason else ()
    said = (*page_text(Page("", repeated, (), head=page.head), _WRAPPED), *blocks_text(about, _WRAPPED))
    if text := "\n".join(finish(said)):
        yield block(text)
    for each in details:
        yield from _part(each)


def _part(item: Block) -> Iterator[str]:
    match item:
        case Section():
            heading, *lines = finish([*blocks_text((item,), _WRAPPED)][1:])
            text = block("\n".join(lines), _MAX_IN_SECTION)
            yield details(code(heading), text) if lines else span(heading)
        case Table():
            yield block(item.said) if item.said else _table(item)
        case Entries():
            for each in item.brief:
                yield from _part(each)
        case Line():
            yield span(item.text)
        case Notes() if item.texts:
            yield bullets(item.texts)


def _table(table: Table) -> str:
    """The table with its last columns: the oldest releases are first."""
    left_out = range(1, len(table.head) - _MAX_COLUMNS)
    rows = [[each for at, each in enumerate(map(_cell, row)) if at not in left_out] for row in table.rows]
    # Words without a mark are no markup.
    head = [cell(name) if at and not _WORDS.fullmatch(name) else name for at, name in enumerate(table.head)]
    head = [name for at, name in enumerate(head) if at not in left_out]
    lines = [head, ["---"] * len(head), *rows[:_MAX_ROWS]]
    rest = len(rows) - _MAX_ROWS
    more = [f"| and {rest} more |"] if rest > 0 else []
    texts = ["\n".join([*(f"| {' | '.join(line)} |" for line in lines), *more])]
    texts += [f"The first {len(left_out)} columns are left out here."] if left_out else []
    return "\n\n".join([*texts, *([table.legend] if table.legend else [])])


def _cell(item: Cell) -> str:
    mark = f"{_MARKS[item.tone]} " if item.tone in _MARKS else ""
    return f"{mark}{cell(item.text)}" if item.text not in ("", "-") else ""
