"""One self-contained HTML file, to open from a disk or a CI artifact, filter and print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import Style
from crdcompat.render.formats import COMPARISONS
from crdcompat.render.html.html_blocks import page_html
from crdcompat.render.pages import page_of
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.report import Report
    from crdcompat.models.servers import ServersReport

NAME, KINDS = "html", (*COMPARISONS, "matrix", "fleet", "servers", "preflight")

#: This format shows lines of files: commands read them.
EXCERPTS = Severity.INFO


def render(
    report: Report | MatrixReport | FleetReport | ServersReport | PreflightReport, style: Style
) -> str | Iterator[str]:
    """The report as a page, that on a fleet in parts; uses ``existing`` and ``allowed`` of ``style``."""
    verbosity = int(report.KIND not in ("fleet", "servers"))
    parts = page_html(page_of(report, Style(verbosity=verbosity, existing=style.existing, allowed=style.allowed)))
    return parts if report.KIND == "fleet" else "".join(parts)
