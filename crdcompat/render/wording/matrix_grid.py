"""The grid of a matrix as lines: rows are origins, columns targets."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

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
#: A longer name is cut to its last parts, if it is a path.
_MAX_LABEL = 24


def labels(report: MatrixReport) -> dict[str, str]:
    """Names for the grid: a long path is cut to the shortest end that is unique."""
    names = [release.name for release in report.releases]
    return {name: _end(name, names) if len(name) > _MAX_LABEL else name for name in names}


def _end(name: str, names: Sequence[str]) -> str:
    others = [f"/{other.rstrip('/').replace(':', '/', 1)}" for other in names if other != name]
    parts = name.rstrip("/").split("/")
    ends = ("/".join(parts[at:]) for at in range(len(parts) - 1, 0, -1))
    return next((end for end in ends if not any(other.endswith(f"/{end}") for other in others)), name)


def short_names(report: MatrixReport) -> dict[str, str]:
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
    full, short = labels(report), short_names(report)
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
        self._label = max(map(len, (_CORNER, *names.values())))

    def width(self, columns: Sequence[str]) -> int:
        """Width of a piece with these columns, in characters."""
        return self._label + sum(len(_GAP) + self._column(name) for name in columns)

    def pieces(self, most: int) -> Iterator[list[str]]:
        """The columns in pieces of at most ``most`` characters, at least one column each; 0: no limit."""
        piece: list[str] = []
        for name in self._names:
            if piece and most and self.width([*piece, name]) > most:
                yield piece
                piece = []
            piece.append(name)
        yield piece

    def lines(self, columns: Sequence[str], style: Style) -> Iterator[str]:
        """A head, and a line per origin."""
        head = [_CORNER.ljust(self._label), *(self._names[name].ljust(self._column(name)) for name in columns)]
        yield style.paint(_GAP.join(head).rstrip(), "bold")
        for origin, label in self._names.items():
            parts = [label.ljust(self._label), *(self._painted(origin, target, style) for target in columns)]
            yield _GAP.join(parts).rstrip()

    def _column(self, target: str) -> int:
        texts = (self._texts.get((origin, target), "") for origin in self._names)
        return max(len(self._names[target]), *map(len, texts))

    def _painted(self, origin: str, target: str, style: Style) -> str:
        cell, text = self._cells.get((origin, target)), self._texts.get((origin, target), "")
        shown = style.paint(text, COLOURS[cell.verdict]) if cell is not None else "-" if origin == target else ""
        return shown + " " * (self._column(target) - len(text or shown))
