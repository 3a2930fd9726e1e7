"""A table for spreadsheets: one row for each cluster of a fleet, the worst first, or for each version of each CRD."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, escape_text
from crdcompat.render.pages.versions import COLUMNS, cells
from crdcompat.render.wording.fleet import finding_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from crdcompat.models.fleet import FleetCluster, FleetReport
    from crdcompat.models.versions import VersionsReport

NAME, KINDS = "csv", ("fleet", "versions")
_COLUMNS = ("cluster", "id", "version", "platform", "recordings", "objects", "outside", "farthest", "blocked by")
#: A cell that begins with one of these is a formula in a spreadsheet.
_FORMULAS = tuple("=+-@\t\r")


def render(report: FleetReport | VersionsReport, style: Style) -> Iterator[str]:
    """The report as CSV; ignores ``style``."""
    return _versions(report) if report.KIND == "versions" else _fleet(report)


def _fleet(report: FleetReport) -> Iterator[str]:
    """The clusters, with a column of verdicts for each target."""
    yield _row((*_COLUMNS, *(f"to {target.name}" for target in report.targets)))
    places = finding_places(report)
    yield from (_row(_cells(cluster, places)) for cluster in report.clusters.worst_first())


def _versions(report: VersionsReport) -> Iterator[str]:
    yield _row(("crd", "kind", "version", *COLUMNS))
    yield from (_row((life.crd, life.kind, life.version, *cells(life))) for life in report.lives)


def _cells(cluster: FleetCluster, places: Mapping[str, str]) -> Iterator[object]:
    found = dict.fromkeys(places[id_] for each in cluster.verdicts for id_ in each.findings)
    yield from (cluster.name, cluster.id or "", cluster.version or "", cluster.platform or "", len(cluster.recordings))
    yield from (cluster.objects, cluster.outside, cluster.farthest or "", "; ".join(found))
    yield from (each.verdict for each in cluster.verdicts)


def _row(cells: Iterable[object]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerow([_cell(each) for each in cells])
    return written.getvalue()


def _cell(value: object) -> str:
    """A value as text without invisible characters. A quote before a formula makes a spreadsheet show it as text."""
    text = escape_text(str(value))
    return f"'{text}" if text.startswith(_FORMULAS) else text
