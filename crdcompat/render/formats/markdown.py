"""A comment on a pull request, of bounded length: the verdict, a table of what to act on, then findings to unfold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import Style
from crdcompat.render.formats import COMPARISONS
from crdcompat.render.markdown.markdown_page import page_markdown
from crdcompat.render.pages import page_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.report import Report
    from crdcompat.models.versions import VersionsReport

NAME, KINDS = "markdown", (*COMPARISONS, "matrix", "fleet", "preflight", "versions")

#: GitHub limits a comment to 65,536 characters, other services to as many bytes.
_MAX_BYTES = 60_000


def render(report: Report | FleetReport | MatrixReport | PreflightReport | VersionsReport, style: Style) -> str:
    """The report as GitHub Markdown, with as many entries as fit; of ``style`` ``fails`` and ``allowed`` count."""
    verbosity = int(report.KIND in ("diff", "check"))
    made = page_markdown(page_of(report, Style(verbosity=verbosity, fails=style.fails, allowed=style.allowed)))
    room = _MAX_BYTES - sum(map(_size, (*made.head, *made.tail)))
    return "\n\n".join([*made.head, *_fitting(made.entries, room), *made.tail]) + "\n"


def _fitting(entries: Iterable[tuple[int, Callable[[], str]]], room: int) -> Iterator[str]:
    """The first entries that fit, and how much was left out."""
    room -= 1_000  # for the sentence on the rest, and the empty lines of head and tail
    remaining = iter(entries)
    for count, make in remaining:
        text = make()
        room -= _size(text) + 2
        if room < 0:
            left = count + sum(count for count, _ in remaining)
            yield f"**{left} more left out here**: a comment holds no more. The text and JSON reports have them all."
            return
        yield text


def _size(text: str) -> int:
    return len(text.encode())
