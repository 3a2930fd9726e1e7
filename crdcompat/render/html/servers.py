"""Which servers accept which CRDs, as parts of a page: the table, the reasons, and ignored parts of CRDs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.render.html.facets import Facets
from crdcompat.render.wording.findings import crd_name
from crdcompat.render.wording.servers import LEGEND, WORDS, ignored, message_of, place, reasons, table_rows

if TYPE_CHECKING:
    from crdcompat.models.servers import Acceptance, Need, ServersReport


class Line(Struct, frozen=True):
    """A CRD, and for each server its answer as a CSS class and as a word."""

    label: str
    cells: tuple[tuple[Acceptance, str], ...]


class Spot(Struct, frozen=True):
    """A place at which something is refused; ``rule`` is the CEL expression there."""

    place: str
    crd: str
    path: str
    rule: str


class Refusal(Struct, frozen=True):
    """A reason of refusals, the message of one server, and all places."""

    sentence: str
    message: str
    spots: tuple[Spot, ...]


class Parts(Struct, frozen=True):
    """The content of the page: a line for each CRD that not all servers accept, and the names of the others."""

    servers: tuple[str, ...]
    legend: str
    lines: tuple[Line, ...]
    accepted: tuple[str, ...]
    refusals: tuple[Refusal, ...]
    ignored: tuple[tuple[str, tuple[str, ...]], ...]


def parts(report: ServersReport) -> tuple[Parts, Facets]:
    """The parts of the page; nothing on it is filtered."""
    rows = list(table_rows(report))
    shown = Parts(
        servers=tuple(map(str, report.servers)),
        legend=LEGEND,
        lines=tuple(
            Line(row.label, tuple((answer, WORDS[answer]) for answer in row.answers))
            for row in rows
            if not row.is_accepted
        ),
        accepted=tuple(row.label for row in rows if row.is_accepted),
        refusals=tuple(
            Refusal(reason.sentence, message_of(reason.first), tuple(map(_spot, reason.needs)))
            for reason in reasons(report)
        ),
        ignored=tuple(dict.fromkeys(ignored(report))),
    )
    return shown, Facets(())


def _spot(need: Need) -> Spot:
    return Spot(place(need), crd_name(need.crd, need.version), need.path, need.rule)
