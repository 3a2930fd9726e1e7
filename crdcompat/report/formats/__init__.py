"""One module per report format: ``NAME`` and ``render``. Adding a file here adds a format."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from crdcompat.report.fleet_model import FleetReport
    from crdcompat.report.model import Report
    from crdcompat.report.style import Style


class Format(Protocol):
    """How a report is shown. A module that says ``FLEETS = True`` shows reports on many clusters, too."""

    NAME: str

    def render(self, report: Report | FleetReport, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


@cache
def format_names() -> tuple[str, ...]:
    """The formats there are, by name."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def get_format(name: str) -> Format:
    """The format called ``name``; only its own module is imported."""
    return cast("Format", importlib.import_module(f"{__name__}.{name}"))


def fleet_formats() -> tuple[str, ...]:
    """Those that show reports on many clusters."""
    return tuple(name for name in format_names() if getattr(get_format(name), "FLEETS", False))
