"""One module per report format: ``NAME`` and ``render``. Adding a file here adds a format.

A format that can show many clusters has ``render_fleet``, too.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

from crdcompat.errors import UsageError

if TYPE_CHECKING:
    from crdcompat.report.fleet_model import FleetReport
    from crdcompat.report.model import Report
    from crdcompat.report.style import Style


class Format(Protocol):
    """How a report is shown."""

    NAME: str

    def render(self, report: Report, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


class FleetFormat(Protocol):
    """How many clusters are shown."""

    def render_fleet(self, report: FleetReport, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


@cache
def format_names() -> tuple[str, ...]:
    """The formats there are, by name."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def get_format(name: str) -> Format:
    """The format called ``name``; only its own module is imported."""
    return cast("Format", importlib.import_module(f"{__name__}.{name}"))


def fleet_format(name: str) -> FleetFormat:
    """The format called ``name``, to show many clusters. Raises UsageError that names the formats which can."""
    if not _shows_fleets(name):
        able = ", ".join(filter(_shows_fleets, format_names()))
        raise UsageError(f"{name} cannot show a fleet; what can: {able}")
    return cast("FleetFormat", get_format(name))


def _shows_fleets(name: str) -> bool:
    return hasattr(get_format(name), "render_fleet")
