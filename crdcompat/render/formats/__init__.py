"""One module per report format: ``NAME`` and ``render``. Adding a file here adds a format.

A format without ``render`` shows only some of the other reports. A format that can show a matrix of releases has
``render_matrix``, too; one that can show many clusters, ``render_fleet``; one that can show a server's answers to a
report, ``render_verification``, or the answers of many servers to CRDs, ``render_servers``; one that can show whether a
cluster may go back, ``render_preflight``. ``EXCERPTS`` is the lowest severity of findings whose lines it shows.
``PASSING = True``: it lists CRDs without findings.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from crdcompat.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.matrix import MatrixReport
    from crdcompat.models.preflight import PreflightReport
    from crdcompat.models.reports import Report
    from crdcompat.models.servers import ServersReport
    from crdcompat.models.verification import VerificationReport
    from crdcompat.render.escape import Style


class Format(Protocol):
    """How a report is shown."""

    NAME: str

    def render(self, report: Report, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


class MatrixFormat(Protocol):
    """How a matrix is shown."""

    def render_matrix(self, report: MatrixReport, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


class FleetFormat(Protocol):
    """How many clusters are shown."""

    def render_fleet(self, report: FleetReport, style: Style) -> Iterator[str]:
        """The report in parts, each made when it is asked for; the last one ends with a newline."""
        ...


class VerificationFormat(Protocol):
    """How a server's answers to a report are shown."""

    def render_verification(self, report: VerificationReport, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


class ServersFormat(Protocol):
    """How the answers of many servers to CRDs are shown."""

    def render_servers(self, report: ServersReport, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


class PreflightFormat(Protocol):
    """How the answer of preflight is shown."""

    def render_preflight(self, report: PreflightReport, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


@cache
def format_names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def get_format(name: str) -> Format:
    """The format called ``name``; only its own module is imported."""
    return cast("Format", importlib.import_module(f"{__name__}.{name}"))


def report_format(name: str) -> Format:
    """The format called ``name``, to show a comparison or the objects of one cluster. Raises UsageError."""
    return _able(name, "render", "a comparison")


def matrix_format(name: str) -> MatrixFormat:
    """The format called ``name``, to show a matrix. Raises UsageError that names the formats which can."""
    return cast("MatrixFormat", _able(name, "render_matrix", "a matrix of releases"))


def fleet_format(name: str) -> FleetFormat:
    """The format called ``name``, to show many clusters. Raises UsageError that names the formats which can."""
    return cast("FleetFormat", _able(name, "render_fleet", "a fleet of clusters"))


def verification_format(name: str) -> VerificationFormat:
    """The format called ``name``, to show a server's answers. Raises UsageError that names the formats which can."""
    return cast("VerificationFormat", _able(name, "render_verification", "the answers of a server"))


def servers_format(name: str) -> ServersFormat:
    """The format called ``name``, to show which servers take CRDs. Raises UsageError that names the able ones."""
    return cast("ServersFormat", _able(name, "render_servers", "which servers take CRDs"))


def preflight_format(name: str) -> PreflightFormat:
    """The format called ``name``, to show whether a cluster may go back. Raises UsageError."""
    return cast("PreflightFormat", _able(name, "render_preflight", "whether a cluster may go back"))


def _able(name: str, function: str, what: str) -> Format:
    if not hasattr(get_format(name), function):
        able = ", ".join(other for other in format_names() if hasattr(get_format(other), function))
        raise UsageError(f"{name} cannot show {what}; what can: {able}")
    return get_format(name)
