"""A page as lines of text: the answer and its reasons, then the details."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, columns_of, finish, justified
from crdcompat.render.pages.blocks import (
    Answers,
    Bars,
    Block,
    Brief,
    Cell,
    Code,
    Entries,
    Fold,
    Folded,
    Frame,
    Head,
    Line,
    Listing,
    Notes,
    Section,
    Table,
)
from crdcompat.render.pages.page import MAX_BLOCKED, Answer, Page, and_more
from crdcompat.render.wording.findings import more_lines, plural, problem_line
from crdcompat.vocabulary import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.errors import Problem

_ALL = Style(verbosity=1)
_STEP, _GAP = "  ", "  "
#: The colour of each tone that is not called as its colour.
_TONES: dict[str, str] = {
    "blocked": "error",
    "unknown": "path",
    "at risk": "warning",
    "clean": "good",
    "refused": "error",
    "warned": "warning",
    "accepted": "good",
    "refuted": "error",
    "not testable": "warning",
    "confirmed": "good",
    "rejected": "error",
    "loses-data": "info",
}
_MAX_PROBLEMS = 20


def page_text(page: Page, style: Style) -> Iterator[str]:
    """The answers, then the details, or the other way round; a text longer than a screen has the answers twice."""
    yield from (style.title(line, "warning") for line in page.trust)
    about, details = page.parts()
    body = [style.title(page.title)] if page.is_last and page.title else []
    body += [*blocks_text(about, style), *_problems(page.problems, style), *blocks_text(details, style)]
    if page.is_last and body[:1] == [""]:
        del body[0]
    answers = [*answers_text(page, style)]
    if not answers:
        yield from body
    else:
        yield from (with_verdict if page.is_last else verdict_first)(answers, body, style)


def answers_text(page: Page, style: Style) -> Iterator[str]:
    """The answers with what belongs to them, then what to do."""
    for answer in page.answers:
        yield from answer_lines(answer, style)
    yield from blocks_text(page.head, style)
    yield from (style.fill(step, indent="    ", first="") for step in page.steps)


def with_verdict(verdict: Sequence[str], body: Sequence[str], style: Style) -> Iterator[str]:
    """The body, then the verdict; if both are longer than a screen, the verdict comes first, too."""
    if not style.fits((*body, *verdict)):
        yield from verdict
        yield ""
    yield from body
    yield ""
    yield from verdict


def verdict_first(verdict: Sequence[str], body: Sequence[str], style: Style) -> Iterator[str]:
    """The verdict, then the body; if both are longer than a screen, the verdict ends them, too."""
    yield from verdict
    yield from body
    if not style.fits((*verdict, *body)):
        yield ""
        yield from verdict


def _problems(problems: Sequence[Problem], style: Style) -> Iterator[str]:
    shown = problems if style.verbosity > 0 else problems[:_MAX_PROBLEMS]
    yield from blocks_text(map(problem_line, shown), style)
    yield from more_lines(len(problems) - len(shown))


def blocks_text(blocks: Iterable[Block], style: Style) -> Iterator[str]:
    """The lines of blocks, in their order."""
    for block in blocks:
        yield from _lines(block, style)


def plain_text(blocks: Iterable[Block], style: Style = _ALL) -> str:
    """Blocks as escaped text, by default without any wrapping, and without the empty line before a section."""
    return "\n".join(finish(blocks_text(blocks, style))).lstrip("\n")


def colour_of(tone: str) -> str:
    """The colour of a tone."""
    return _TONES.get(tone, tone)


def answer_lines(answer: Answer, style: Style) -> Iterator[str]:
    """The answer, then what blocks: the kind with the field, then the reaction of the server."""
    colour = colour_of(answer.tone)
    if answer.question.endswith("?"):
        head = style.wrap(f"{answer.question}  {answer.word}", first="").removesuffix(answer.word)
        yield f"{style.paint(head, 'bold')}{style.paint(answer.word, colour)}"
        yield style.fill(answer.reason)
    elif answer.most:
        yield style.paint(style.clip(answer.sentence, indent="    ", lines=answer.most, first=""), colour)
    else:
        yield style.title(answer.sentence, colour)
    for item in answer.blocked[:MAX_BLOCKED]:
        yield f"  {item.kind}  {style.paint(item.path, 'path')}"
        yield style.clip(item.reaction, indent="    ")
    if more := and_more(answer.blocked):
        yield style.clip(more, indent="    ", lines=3, first="  ")


def _lines(block: Block, style: Style) -> Iterator[str]:
    match block:
        case Section():
            return _section(block, style)
        case Line():
            return _line(block, style, _STEP * block.depth, _STEP * (block.depth + block.hang))
        case Listing():
            return _listing(block, style)
        case Notes():
            return _notes(block, style)
        case Code():
            return (f"    {line}" for line in block.lines)
        case Table():
            return _table(block, style)
        case Entries():
            return _entries(block, style)
        case Brief():
            return blocks_text(block.blocks, style)
        case Head():
            return _head(block, style)
        case Frame():
            return _frame(block, style)
        case Folded() | Bars() | Answers():
            return iter(())


def _section(block: Section, style: Style) -> Iterator[str]:
    """The title, then the blocks; nothing if it has entries alone, and none of them is listed."""
    lines = [*blocks_text(block.blocks, style)]
    if not lines and (block.role == "way" or any(isinstance(each, Entries) for each in block.blocks)):
        return
    about = f" ({block.about})" if block.about else ""
    yield from () if lines[:1] == [""] and not (block.mark or block.title) else ("",)
    if block.mark:
        yield f"{style.paint(block.mark, colour_of(block.tone or 'path'))}{' ' if block.tone else _GAP}{block.title}"
    elif block.title:
        yield style.title(f"{block.title}{about}", colour_of(block.tone or "bold"))
    yield from lines


def _entries(block: Entries, style: Style) -> Iterator[str]:
    if block.brief or block.folded:
        yield from blocks_text(block.brief, style)
        return
    for entry in block.make():
        yield ""
        places = (Line(f"same change: {place}", hang=2) for place in entry.places)
        yield from blocks_text((*entry.lines, *places, *entry.after), style)


def _head(block: Head, style: Style) -> Iterator[str]:
    """The head in one line; a head without an id has as many lines as its parts need on the page."""
    path, head = style.paint(block.path, "path"), f"{style.paint(block.kind, block.tone)} {block.subject}"
    length = len(block.kind) + 1 + len(block.subject) + len(block.where)
    if block.id:
        yield f"{head}{block.where} {path}  {block.id}"
    elif length + 1 + len(block.path) <= style.page:
        yield f"{head}{block.where} {path}".rstrip()
    elif length <= style.page:
        yield from (f"{head}{block.where}", f"  {path}")
    else:
        yield from (head, f" {block.where}", f"  {path}")


def _frame(block: Frame, style: Style) -> Iterator[str]:
    """The chosen lines with their numbers, without the indentation they share."""
    excerpt = block.shown
    if excerpt is None:
        return
    lines = {number: excerpt.lines[number - excerpt.first] for number in sorted(block.numbers)}
    sign, colour = ("-", "error") if excerpt.side == Side.OLD else ("+", "good")
    indent = min((len(line) - len(line.lstrip()) for line in lines.values()), default=0)
    for number, line in lines.items():
        yield f"  {number:>6} {style.paint(f'{sign} {line[indent:]}', colour)}"


def _line(line: Line, style: Style, first: str, indent: str, most_commands: int = 0) -> Iterator[str]:
    text = f"{line.mark}{_GAP}{line.text}" if line.mark else line.text
    first += line.lead
    if line.fold is Fold.NEVER:
        shown = f"{first}{text}"
    elif line.most:
        shown = style.clip(text, indent, line.most, first, line.spare)
    else:
        shown = (style.fill if line.fold is Fold.ALWAYS else style.wrap)(text, indent, first)
    yield _painted(shown, line, style)
    yield from blocks_text(line.below, style)
    most = most_commands if most_commands and style.verbosity <= 0 else len(line.commands)
    yield from (f"{indent}{style.paint(command, 'path')}" for command in line.commands[:most])
    if len(line.commands) > most:
        yield f"{indent}and {plural(len(line.commands) - most, 'more command')} (-v or --format json)"


def _painted(shown: str, line: Line, style: Style) -> str:
    if line.mark:
        shown = shown.replace(line.mark, style.paint(line.mark, "path"), 1)
    part = line.part or (shown if line.tone else "")
    return shown.replace(part, style.paint(part, colour_of(line.tone)), 1) if part else shown


def _listing(block: Listing, style: Style) -> Iterator[str]:
    most = block.most if block.most and style.verbosity <= 0 else len(block.lines)
    for number, line in enumerate(block.lines[:most], 1):
        if block.ordered:
            yield from _line(line, style, f"{_STEP}{number}. ", "     ", block.most_commands)
        else:
            yield from _lines(line, style)
    yield from more_lines(len(block.lines) - most + block.rest)


def _notes(block: Notes, style: Style) -> Iterator[str]:
    for text in block.texts:
        yield from _lines(Line(f"note: {text}", depth=block.depth, hang=block.hang, fold=block.fold), style)


def _table(block: Table, style: Style) -> Iterator[str]:
    """The table, in a narrower form or in pieces where the terminal has no room for all columns."""
    yield ""
    if block.said:
        yield style.fill(block.said, first="")
        return
    table = next((each for each in (block, *block.narrower) if _fits(each, style)), (block, *block.narrower)[-1])
    widths = _widths(table)
    for number, columns in enumerate(_pieces(widths, style.width)):
        yield from ("",) if number else ()
        yield style.paint(_GAP.join(justified(table.head[at], widths[at]) for at in columns).rstrip(), "bold")
        for row in table.rows:
            yield _GAP.join(_cell(row[at], widths[at], style) for at in columns).rstrip()
    if table.legend:
        yield style.wrap(table.legend, indent="")


def _widths(table: Table) -> list[int]:
    rows = (table.head, *(tuple(cell.text for cell in row) for row in table.rows))
    return [max(map(columns_of, column)) for column in zip(*rows, strict=True)]


def _fits(table: Table, style: Style) -> bool:
    return not style.width or sum(_widths(table)) + len(_GAP) * (len(table.head) - 1) <= style.width


def _pieces(widths: Sequence[int], most: int) -> Iterator[list[int]]:
    """The columns in pieces at most ``most`` wide: the labels, and at least one other column; 0: no limit."""
    piece = [0]
    for column in range(1, len(widths)):
        if most and len(piece) > 1 and sum(widths[at] + len(_GAP) for at in (*piece, column)) - len(_GAP) > most:
            yield piece
            piece = [0]
        piece.append(column)
    yield piece


def _cell(cell: Cell, width: int, style: Style) -> str:
    if not cell.tone:
        return justified(cell.text, width)
    return style.paint(cell.text, colour_of(cell.tone)) + " " * (width - columns_of(cell.text))
