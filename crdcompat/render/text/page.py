"""A page as lines of text: the answer and its reasons, then the details."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import columns_of, justified
from crdcompat.render.pages.blocks import Answer, Block, Cell, Code, Fold, Line, Listing, Notes, Section, Table
from crdcompat.render.wording.findings import more_lines, plural, problem_line
from crdcompat.render.wording.verdict import COLOURS, verdict_first

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.render.escape import Style
    from crdcompat.render.pages.blocks import Page

_STEP, _GAP = "  ", "  "
#: The colour of each tone.
_TONES: dict[str, str] = {
    **{verdict.value: colour for verdict, colour in COLOURS.items()},
    "refused": "error",
    "warned": "warning",
    "accepted": "good",
}


def page_text(page: Page, style: Style) -> Iterator[str]:
    """The answer, then the details; a long page repeats the answer at its end. A quiet one has no details."""
    head = [*_answer(page.answer, style), *(problem_line(problem, style) for problem in page.problems)]
    head += blocks_text(page.head, style)
    yield from verdict_first(head, [] if style.verbosity < 0 else [*blocks_text(page.body, style)], style)


def blocks_text(blocks: Iterable[Block], style: Style) -> Iterator[str]:
    """The lines of blocks, in their order."""
    for block in blocks:
        yield from _lines(block, style)


def _answer(answer: Answer, style: Style) -> Iterator[str]:
    colour = _TONES[answer.tone]
    if answer.word:
        head = style.wrap(f"{answer.question}  {answer.word}", first="").removesuffix(answer.word)
        yield f"{style.paint(head, 'bold')}{style.paint(answer.word, colour)}"
    else:
        yield style.title(answer.question, colour)
    if answer.reason:
        yield style.fill(answer.reason)


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


def _section(block: Section, style: Style) -> Iterator[str]:
    yield ""
    about = f" ({block.about})" if block.about else ""
    if block.mark:
        yield f"{style.paint(block.mark, 'path')}{_GAP}{block.title}"
    else:
        yield style.title(f"{block.title}{about}")
    yield from blocks_text(block.blocks, style)


def _line(line: Line, style: Style, first: str, indent: str, most_commands: int = 0) -> Iterator[str]:
    text = f"{line.mark}{_GAP}{line.text}" if line.mark else line.text
    if line.fold is Fold.NEVER:
        shown = f"{first}{text}"
    elif line.most:
        shown = style.clip(text, indent, line.most, first)
    else:
        shown = (style.fill if line.fold is Fold.ALWAYS else style.wrap)(text, indent, first)
    yield shown.replace(line.mark, style.paint(line.mark, "path"), 1) if line.mark else shown
    yield from blocks_text(line.below, style)
    most = most_commands if most_commands and style.verbosity <= 0 else len(line.commands)
    yield from (f"{indent}{style.paint(command, 'path')}" for command in line.commands[:most])
    if len(line.commands) > most:
        yield f"{indent}and {plural(len(line.commands) - most, 'more command')} (-v or --format json)"


def _listing(block: Listing, style: Style) -> Iterator[str]:
    most = block.most if block.most and style.verbosity <= 0 else len(block.lines)
    for number, line in enumerate(block.lines[:most], 1):
        if block.ordered:
            yield from _line(line, style, f"{_STEP}{number}. ", "     ", block.most_commands)
        else:
            yield from _lines(line, style)
    yield from more_lines(len(block.lines) - most)


def _notes(block: Notes, style: Style) -> Iterator[str]:
    for text in block.texts:
        yield from _lines(Line(f"note: {text}", depth=block.depth, hang=block.hang, fold=block.fold), style)


def _table(block: Table, style: Style) -> Iterator[str]:
    """The table, in pieces where the terminal is too narrow for all columns."""
    if block.said:
        yield from ("", style.fill(block.said, first=""))
        return
    rows = [tuple(map(Cell, block.head)), *block.rows]
    widths = [max(columns_of(row[at].text) for row in rows) for at in range(len(block.head))]
    room = (style.width or 10_000) - widths[0]
    most = max(room // (max(widths[1:]) + len(_GAP)), 1)
    for first in range(1, len(widths), most):
        yield from ("",) if first == 1 else ()
        part = (0, *range(first, min(first + most, len(widths))))
        for number, row in enumerate(rows):
            line = _GAP.join(_cell(row[at], widths[at], style) for at in part).rstrip()
            yield line if number else style.paint(line, "bold")


def _cell(cell: Cell, width: int, style: Style) -> str:
    if not cell.tone:
        return justified(cell.text, width)
    return style.paint(cell.text, _TONES[cell.tone]) + " " * (width - columns_of(cell.text))
