"""Which servers accept which CRDs, as a page: the verdict, the reasons of refusals, ignored parts, the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.models.servers import Acceptance
from crdcompat.render.escape import shortened
from crdcompat.render.pages.blocks import (
    Answer,
    Block,
    Cell,
    Line,
    Listing,
    Notes,
    Number,
    Page,
    Section,
    Table,
    listing,
)
from crdcompat.render.wording.findings import crd_name, plural
from crdcompat.render.wording.servers import (
    LEGEND,
    WORDS,
    Row,
    ignored,
    message_of,
    place,
    reasons,
    table_rows,
    tally,
    verdict,
)
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.servers import Need, ServersReport
    from crdcompat.render.escape import Style
    from crdcompat.render.wording.servers import Reason

#: The tone of the verdict, by the worst answer.
_TONES = {
    Acceptance.REFUSED: ReleaseVerdict.BLOCKED,
    Acceptance.WARNED: ReleaseVerdict.AT_RISK,
    Acceptance.ACCEPTED: ReleaseVerdict.CLEAN,
}
_MAX_PLACES, _MAX_IGNORED, _MAX_LABEL = 3, 12, 64


def page(report: ServersReport, style: Style) -> Page:
    """The page; it has no details without a CRD."""
    worst = next((answer for answer, count in report.by_answer().items() if count), Acceptance.WARNED)
    return Page(
        command="servers",
        title="Which servers take these CRDs",
        answers=(Answer(verdict(report), _TONES[worst]),),
        problems=report.problems,
        body=tuple(_body(report, style)) if report.rows and style.verbosity >= 0 else (),
        sides=tuple(("", source) for source in report.sources),
        numbers=tuple(Number(answer, count, "") for answer, count in report.by_answer().items()),
    )


def _body(report: ServersReport, style: Style) -> Iterator[Block]:
    yield Notes(report.notes)
    for number, reason in enumerate(reasons(report), 1):
        yield _refusal(reason, f"refused-{number}")
    lines = dict.fromkeys(f"{crd}: {line}" for crd, lines in ignored(report) for line in lines)
    yield from listing(
        "What servers ignore in CRDs that they accept", tuple(map(Line, lines)), most=_MAX_IGNORED, anchor="ignored"
    )
    yield _table(report, style)
    yield Line(LEGEND, depth=0, hang=0)
    counted = report.by_answer()
    yield Line(f"{plural(sum(counted.values()), 'CRD')}: {tally(counted.items())}.", depth=0)


def _refusal(reason: Reason, anchor: str) -> Section:
    """A reason with all its places, then the message of a server."""
    message = Line(" ".join(message_of(reason.first).split()), most=3)
    return Section(reason.sentence, (Listing(tuple(map(_spot, reason.needs)), _MAX_PLACES), message), anchor=anchor)


def _spot(need: Need) -> Line:
    rule = (Line(" ".join(need.rule.split()), depth=2, most=2),) if need.rule else ()
    return Line(f"{crd_name(need.crd, need.version)} {need.path}".rstrip(), place(need), below=rule)


def _table(report: ServersReport, style: Style) -> Table:
    """A row for each CRD that a server refuses or warns about; the others share one, except with ``-v``."""
    rows = list(table_rows(report))
    plain = [row for row in rows if row.is_accepted]
    more: tuple[str, ...] = ()
    if style.verbosity <= 0 and len(plain) > 1:
        others = "CRDs" if len(plain) == len(rows) else "other CRDs"
        rows = [row for row in rows if row not in plain]
        rows.append(Row(f"{len(plain)} {others}", plain[0].answers))
        more = tuple(row.label for row in plain)
    heads = [name.number if name.product == "Kubernetes" else name.id for name in report.servers]
    cells = (
        (Cell(shortened(row.label, _MAX_LABEL)), *(Cell(WORDS[answer], answer) for answer in row.answers))
        for row in rows
    )
    return Table("Each CRD on each server", ("", *heads), tuple(cells), more)
