"""A page as GitHub Markdown: the answer, then each section, folded."""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.render.escape import Style, escape_text, finish
from crdcompat.render.markdown.markup import block, bullets, cell, code, details, folded, span, unread
from crdcompat.render.pages.blocks import Block, Brief, Cell, Entries, Entry, Line, Notes, Section, Table
from crdcompat.render.text.text_page import answers_text, blocks_text, plain_text
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary import Severity
from crdcompat.vocabulary.texts import first_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crdcompat.render.pages.page import Compared, Page

#: Lines that fit on a page of GitHub; no screen, after which the answer is repeated.
_WRAPPED = Style(width=100, height=1_000_000, verbosity=1)
_MAX_COLUMNS, _MAX_COMPARED = 20, 20
#: Other places of a change that are shown in its text; if there are more, all are folded.
_MAX_PLACES = 3
_MAX_IN_SECTION = 20_000
_WORDS, _PLAIN = re.compile("[A-Za-z ]+"), re.compile("[A-Za-z0-9, ]+")
_MARKS = {"blocked": "🛑", "unknown": "❔", "at risk": "⚠️", "clean": "✅"}


#: The number of things that a part shows, and how to make its text: what does not fit is only counted.
_Part: TypeAlias = "tuple[int, Callable[[], str]]"


class Comment(Struct, frozen=True):
    """The parts of a page in a comment: ``entries`` may be left out; each stands for a number of things."""

    head: tuple[str, ...]
    entries: Iterator[_Part]
    tail: tuple[str, ...]


def page_markdown(page: Page) -> Comment:
    """The parts of the page: text from manifests is in code alone. The heading is the only answer, or the title."""
    only = page.answers[0] if len(page.answers) == 1 and not page.heading else None
    heading = page.heading if _PLAIN.fullmatch(page.heading) else span(page.heading)
    about, rest = page.parts()
    is_calm = not (page.problems or any(group.count for group in _groups(page.body)))
    tail = bullets(page.notes) if page.notes else ""
    return Comment(
        (
            f"## crdcompat: {f'{span(only.question)} {only.word}' if only else heading}".rstrip(),
            *([bullets(page.trust)] if page.trust else ()),
            *_said(page, about, is_all=only is None or bool(only.reason)),
            *_compared(page.compared),
            *unread(page.problems),
            *([bullets(page.leads)] if page.leads else ()),
            *([block("\n".join(map(escape_text, page.steps)))] if page.steps else ()),
            *([_table(page.overview)] if page.overview else ()),
        ),
        chain(_findings(page.body), (part for each in rest for part in _part(each))),
        tuple(filter(None, (page.nothing if is_calm else "", tail))),
    )


def _said(page: Page, about: Sequence[Block], *, is_all: bool) -> Iterator[str]:
    """The answers with what belongs to them. The heading is all of an answer without a reason."""
    top = replace(page, answers=page.answers if is_all else (), steps=())
    said = (
        *answers_text(top, _WRAPPED),
        *blocks_text((each for each in about if not isinstance(each, Brief)), _WRAPPED),
    )
    if text := "\n".join(finish(said)):
        yield block(text)


def _compared(found: Sequence[Compared]) -> Iterator[str]:
    """The comparisons with their counts."""
    if lines := [f"- {span(each.title)}: {each.counted}\n  {span(each.scope)}" for each in found]:
        yield "\n".join(first_lines(lines, _MAX_COMPARED, "- and {} more targets"))


def _findings(blocks: Sequence[Block]) -> Iterator[_Part]:
    """Errors and warnings to unfold, under headings, then a line for each info, folded."""
    groups = [*_groups(blocks)]
    causes: dict[str, tuple[Entry, ...]] = {}
    for entry in (each for group in groups if group.tone != Severity.INFO for each in group.make() if each.cause):
        causes[entry.cause] = (*causes.get(entry.cause, ()), entry)
    for severity in (Severity.ERROR, Severity.WARNING):
        alike = [group for group in groups if group.tone == severity]
        heading = f"### {plural(sum(group.count for group in alike), severity)}\n\n"
        for entry in (each for group in alike for each in group.make()):
            # The first entry of a cause stands for all: the worst is first.
            if found := causes.pop(entry.cause, ()) if entry.cause else (entry,):
                yield len(found), partial(_unfolding, heading, found)
                heading = ""
    infos = [group for group in groups if group.tone == Severity.INFO]
    lines = [entry.line for group in infos for entry in group.make()]
    for text in folded(lines, f"{sum(group.count for group in infos)} info"):
        yield len(lines), partial(str, text)


def _groups(blocks: Iterable[Block]) -> Iterator[Entries]:
    for each in blocks:
        if isinstance(each, Section):
            yield from _groups(each.blocks)
        elif isinstance(each, Entries) and each.tone:
            yield each


def _unfolding(heading: str, alike: Sequence[Entry]) -> str:
    """An entry to unfold. Entries with one cause are one, which names their other places once."""
    first = alike[0]
    if not first.cause:
        return heading + details(f"{first.title} {code(first.subject)}", _entry(first))
    texts = (block(plain_text((*each.lines, *each.after), _WRAPPED)) for each in alike)
    places = [place for each in alike for place in each.places]
    return heading + details(
        code(first.cause), "\n\n".join([*texts, *folded(places, f"the other places: {len(places)}")])
    )


def _entry(entry: Entry) -> str:
    """All of an entry as text, with few of its places; if there are more, all of them are folded below."""
    few = len(entry.places) <= _MAX_PLACES
    places = tuple(Line(f"same change: {place}", hang=2) for place in entry.places if few)
    text = block(plain_text((*entry.lines, *places, *entry.after), _WRAPPED))
    more = () if few else folded(entry.places, f"same change in {plural(len(entry.places), 'more place')}")
    return "\n\n".join([text, *more])


def _part(item: Block) -> Iterator[_Part]:
    match item:
        case Section() if any(isinstance(each, Section | Entries) for each in item.blocks):
            for each in item.blocks:
                yield from _part(each) if isinstance(each, Section | Entries) else ()
        case Entries():
            for each in item.brief:
                yield from _part(each)
        case Section(title="", mark="") | Notes(texts=()):
            pass
        case Section() | Table() | Line() | Notes():
            yield 1, partial(_text, item)


def _text(item: Section | Table | Line | Notes) -> str:
    match item:
        case Section():
            heading, *lines = plain_text((item,), _WRAPPED).split("\n")
            text = block("\n".join(lines), _MAX_IN_SECTION)
            return details(code(heading), text) if lines else span(heading)
        case Table():
            return block(item.said) if item.said else _table(item)
        case Line():
            return span(item.text)
        case Notes():
            return bullets(item.texts)


def _table(table: Table) -> str:
    """The table with its last columns: the oldest releases are first."""
    left_out = range(1, len(table.head) - _MAX_COLUMNS)
    rows = [[each for at, each in enumerate(map(_cell, row)) if at not in left_out] for row in table.rows]
    # Words without a mark are no markup.
    head = [cell(name) if at and not _WORDS.fullmatch(name) else name for at, name in enumerate(table.head)]
    head = [name for at, name in enumerate(head) if at not in left_out]
    lines = [head, ["---"] * len(head), *rows[: table.most]]
    rest = len(rows) - table.most
    more = [f"| and {rest} more |"] if rest > 0 else []
    texts = ["\n".join([*(f"| {' | '.join(line)} |" for line in lines), *more])]
    texts += [f"The first {len(left_out)} columns are left out here."] if left_out else []
    return "\n\n".join([*texts, *([table.legend] if table.legend else [])])


def _cell(item: Cell) -> str:
    if item.tone in frozenset(Severity):
        return item.tone
    mark = f"{_MARKS[item.tone]} " if item.tone in _MARKS else ""
    return f"{mark}{cell(item.text)}" if item.text not in ("", "-") else ""
