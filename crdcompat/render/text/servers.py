"""Which servers accept which CRDs, as lines of text: the verdict, the reasons, the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.servers import Acceptance
from crdcompat.render.escape import columns_of, justified, shortened
from crdcompat.render.wording.findings import more_lines, plural, problem_line
from crdcompat.render.wording.servers import (
    LEGEND,
    WORDS,
    Row,
    ignored,
    message_of,
    reasons,
    table_rows,
    tally,
    verdict,
    where,
)
from crdcompat.render.wording.verdict import verdict_first

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.models.servers import ServersReport
    from crdcompat.render.escape import Style
    from crdcompat.render.wording.servers import Reason

_COLOURS = {Acceptance.REFUSED: "error", Acceptance.WARNED: "warning", Acceptance.ACCEPTED: "good"}
_MAX_PLACES, _MAX_IGNORED, _MAX_LABEL = 3, 12, 64
_GAP = "  "


def servers_text(report: ServersReport, style: Style) -> Iterator[str]:
    """The verdict, then the details; a long report repeats the verdict at its end. A quiet one has no details."""
    worst = next((answer for answer, count in report.by_answer().items() if count), Acceptance.WARNED)
    head = [
        style.title(verdict(report), _COLOURS[worst]),
        *(problem_line(problem, style) for problem in report.problems),
    ]
    is_short = style.verbosity < 0 or not report.rows
    yield from verdict_first(head, [] if is_short else [*_body(report, style)], style)


def _body(report: ServersReport, style: Style) -> Iterator[str]:
    for note in report.notes:
        yield style.wrap(f"note: {note}", indent="")
    for reason in reasons(report):
        yield ""
        yield from _reason(reason, style)
    yield from _ignored(report, style)
    yield ""
    yield from _table(report, style)
    counted = report.by_answer()
    yield style.wrap(f"{plural(sum(counted.values()), 'CRD')}: {tally(counted.items())}.", first="")


def _reason(reason: Reason, style: Style) -> Iterator[str]:
    yield style.title(reason.sentence)
    shown = reason.needs if style.verbosity > 0 else reason.needs[:_MAX_PLACES]
    for need in shown:
        yield style.wrap(where(need), indent="    ", first="  ")
        if need.rule:
            yield style.clip(" ".join(need.rule.split()), indent="      ", first="    ")
    yield from more_lines(len(reason.needs) - len(shown))
    yield style.clip(" ".join(message_of(reason.first).split()), indent="    ", lines=3, first="  ")


def _ignored(report: ServersReport, style: Style) -> Iterator[str]:
    found = list(dict.fromkeys(f"{crd}: {line}" for crd, lines in ignored(report) for line in lines))
    if not found:
        return
    yield ""
    yield style.paint("What servers ignore in CRDs that they accept", "bold")
    shown = found if style.verbosity > 0 else found[:_MAX_IGNORED]
    for line in shown:
        yield style.wrap(line, indent="    ", first="  ")
    yield from more_lines(len(found) - len(shown))


def _table(report: ServersReport, style: Style) -> Iterator[str]:
    """A line for each CRD that a server refuses or warns about; the others share one line, except with ``-v``."""
    rows = list(table_rows(report))
    plain = [row for row in rows if row.is_accepted]
    if style.verbosity <= 0 and len(plain) > 1:
        others = "CRDs" if len(plain) == len(rows) else "other CRDs"
        rows = [row for row in rows if row not in plain]
        rows.append(Row(f"{len(plain)} {others}", plain[0].answers))
    heads = [name.number if name.product == "Kubernetes" else name.id for name in report.servers]
    width = max(columns_of(_label(row)) for row in rows)
    columns = [max(len(head), len(WORDS[Acceptance.REFUSED])) for head in heads]
    yield from _pieces(rows, heads, width, columns, style)
    yield style.wrap(LEGEND, indent="")


def _pieces(
    rows: Sequence[Row], heads: Sequence[str], width: int, columns: Sequence[int], style: Style
) -> Iterator[str]:
    """The table, in pieces where the terminal is too narrow for all servers."""
    room = (style.width or 1000) - width
    most = max(room // (max(columns) + len(_GAP)), 1)
    for first in range(0, len(heads), most):
        part = slice(first, first + most)
        shown = [head.ljust(column) for head, column in zip(heads[part], columns[part], strict=True)]
        yield style.paint(_GAP.join([" " * width, *shown]).rstrip(), "bold")
        for row in rows:
            cells = [
                style.paint(WORDS[answer], _COLOURS[answer]) + " " * (column - len(WORDS[answer]))
                for answer, column in zip(row.answers[part], columns[part], strict=True)
            ]
            yield _GAP.join([justified(_label(row), width), *cells]).rstrip()


def _label(row: Row) -> str:
    return shortened(row.label, _MAX_LABEL)
