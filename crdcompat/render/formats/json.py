"""The JSON report, format "1" (design, section 7): sorted, byte-identical over two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.models.check import CheckReport
from crdcompat.models.reports import Report
from crdcompat.models.simulation import SimulationReport
from crdcompat.render.escape import Style, json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.servers import ServersReport
    from crdcompat.models.verification import VerificationReport
    from crdcompat.models.versions import VersionsReport

NAME = "json"
#: The member of the report on a fleet that is written cluster by cluster. No string of JSON has a line break.
_CLUSTERS = '\n  "clusters": ['


def render(report: Report, style: Style) -> str:
    """The report as JSON text; of ``style`` only ``allowed`` counts."""
    if isinstance(report, SimulationReport):
        from crdcompat.render.data.simulation import simulation_data

        return _text({**simulation_data(report), **_judged(report, style)})
    from crdcompat.render.data.diff import check_data, diff_data

    data = check_data(report) if isinstance(report, CheckReport) else diff_data(report)
    return _text({**data, **_judged(report, style)})


def render_fleet(report: FleetReport, style: Style) -> Iterator[str]:
    """A report on many clusters as JSON text, cluster by cluster; of ``style`` only ``allowed`` counts."""
    from crdcompat.render.data.fleet import cluster_data, fleet_data

    before, opening, after = _text({**fleet_data(report), **_judged(report, style)}).partition(_CLUSTERS)
    yield before + opening
    mark = ""
    for cluster in report.clusters:
        lines = _text(cluster_data(cluster)).rstrip("\n").replace("\n", "\n    ")
        yield f"{mark}\n    {lines}"
        mark = ","
    yield f"\n  {after}" if mark else after


def render_matrix(report: MatrixReport, style: Style) -> str:
    """A matrix as JSON text; of ``style`` only ``allowed`` counts."""
    from crdcompat.render.data.matrix import matrix_data

    return _text({**matrix_data(report), **_judged(report, style)})


def render_preflight(report: PreflightReport, style: Style) -> str:
    """Whether a cluster may go back, as JSON text; ignores ``style``."""
    from crdcompat.render.data.preflight import preflight_data

    return _text(preflight_data(report))


def render_verification(report: VerificationReport, style: Style) -> str:
    """The answers of a server as JSON text; ignores ``style``."""
    from crdcompat.render.data.verification import verification_data

    return _text(verification_data(report))


def render_servers(report: ServersReport, style: Style) -> str:
    """Which servers take which CRDs, as JSON text; ignores ``style``."""
    from crdcompat.render.data.servers import servers_data

    return _text(servers_data(report))


def render_versions(report: VersionsReport, style: Style) -> str:
    """The life of versions, as JSON text; of ``style`` only ``allowed`` counts."""
    from crdcompat.render.data.versions import versions_data

    return _text({**versions_data(report), **_judged(report, style)})


def _judged(report: Report | MatrixReport | FleetReport | VersionsReport, style: Style) -> dict[str, str]:
    """The verdict on all of a report, and the option that allows an unknown one."""
    return {"verdict": report.verdict, **({"allowed_by": style.allowed} if style.allowed else {})}


def _text(data: dict[str, Any]) -> str:
    return json_text(data, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
