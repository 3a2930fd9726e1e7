"""The grid of a matrix as lines: rows are origins, columns targets."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from crdcompat.models.report import short_names
from crdcompat.render.escape import columns_of, justified
from crdcompat.render.wording.verdict import COLOURS
from crdcompat.vocabulary import Severity
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.matrix import Cell, MatrixReport
    from crdcompat.render.escape import Style

_LETTERS = {
    ReleaseVerdict.BLOCKED: "B",
    ReleaseVerdict.UNKNOWN: "?",
    ReleaseVerdict.AT_RISK: "R",
    ReleaseVerdict.CLEAN: "ok",
}
_CORNER = "from \\ to"
_GAP = "  "


def labels(report: MatrixReport) -> dict[str, str]:
    """Names for the grid: a long path is cut to the shortest end that is unique."""
    return short_names([release.name for release in report.releases])


def shortest_names(report: MatrixReport) -> dict[str, str]:
    """The labels without their common beginning, versions kept whole: ``4.13`` for ``release-4.13``."""
    shown = labels(report)
    same = "".join(
        chars[0] for chars in takewhile(lambda chars: len(set(chars)) == 1, zip(*shown.values(), strict=False))
    )
    common = same.rstrip("v.0123456789")
    return {name: label.removeprefix(common) or label for name, label in shown.items()}


def cell_text(cell: Cell, *, letters: bool = False) -> str:
    """``blocked 5/12``: the verdict with errors and warnings; a mark where not all was judged."""
    counted = cell.by_severity()
    words = [_LETTERS[cell.verdict] if letters else cell.verdict]
    if counted[Severity.ERROR] or counted[Severity.WARNING]:
        words.append(f"{counted[Severity.ERROR]}/{counted[Severity.WARNING]}")
    return " ".join(words) + ("?" if cell.verdict == ReleaseVerdict.BLOCKED and cell.unjudged else "")


def legend(report: MatrixReport, *, letters: bool = False) -> str:
    """How to read the grid."""
    text = "From the row to the column: errors/warnings."
    if letters:
        text += f" {', '.join(f'{letter}: {verdict}' for verdict, letter in _LETTERS.items())}."
    doubt = any(cell.verdict == ReleaseVerdict.BLOCKED and cell.unjudged for cell in report.cells)
    return f"{text} A ? at the end: not all of it was judged." if doubt else text


def grid(report: MatrixReport, style: Style) -> Iterator[str]:
    """The lines; a narrow terminal gets short names, then letters for verdicts, then pieces of the grid."""
    full, short = labels(report), shortest_names(report)
    for names, letters in ((full, False), (short, False), (short, True)):
        table = _Table(report, names, letters=letters)
        if not style.width or table.width(tuple(names)) <= style.width:
            break
    for number, columns in enumerate(table.pieces(style.width)):
        yield from ("",) if number else ()
        yield from table.lines(columns, style)
    yield style.wrap(legend(report, letters=letters), indent="")


class _Table:
    """The texts of all cells, and the width of each column."""

    def __init__(self, report: MatrixReport, names: dict[str, str], *, letters: bool) -> None:
        self._names = names
        self._cells = {(cell.origin, cell.target): cell for cell in report.cells}
        self._texts = {way: cell_text(cell, letters=letters) for way, cell in self._cells.items()}
        self._label = max(map(columns_of, (_CORNER, *names.values())))

    def width(self, columns: Sequence[str]) -> int:
        """Width of a piece with these columns on a terminal."""
        return self._label + sum(len(_GAP) + self._column(name) for name in columns)

    def pieces(self, most: int) -> Iterator[list[str]]:
        """The columns in pieces at most ``most`` wide, at least one column each; 0: no limit."""
        piece: list[str] = []
        for name in self._names:
            if piece and most and self.width([*piece, name]) > most:
                yield piece
                piece = []
            piece.append(name)
        yield piece

    def lines(self, columns: Sequence[str], style: Style) -> Iterator[str]:
        """A head, and a line per origin."""
        head = [justified(_CORNER, self._label)]
        head += (justified(self._names[name], self._column(name)) for name in columns)
        yield style.paint(_GAP.join(head).rstrip(), "bold")
        for origin, label in self._names.items():
            parts = [justified(label, self._label), *(self._painted(origin, target, style) for target in columns)]
            yield _GAP.join(parts).rstrip()

    def _column(self, target: str) -> int:
        texts = (self._texts.get((origin, target), "") for origin in self._names)
        return max(map(columns_of, (self._names[target], *texts)))

    def _painted(self, origin: str, target: str, style: Style) -> str:
        cell, text = self._cells.get((origin, target)), self._texts.get((origin, target), "")
        shown = style.paint(text, COLOURS[cell.verdict]) if cell is not None else "-" if origin == target else ""
        return shown + " " * (self._column(target) - len(text or shown))
