"""One module per report format: ``NAME`` and ``render``. Adding a file here adds a format.

A format shows comparisons, or the reports of the kinds in ``KINDS``. ``EXCERPTS`` is the lowest severity of findings
whose lines it shows. ``PASSING = True``: it lists CRDs without findings.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

from crdcompat.errors import UsageError

if TYPE_CHECKING:
    from crdcompat.render.escape import Style

#: Shows a report: as text that ends with a newline, or (a fleet) in parts, each made when it is asked for.
Renderer: TypeAlias = "Callable[[Any, Style], str | Iterable[str]]"
#: The kinds of reports that every format shows that does not say otherwise.
COMPARISONS = ("diff", "check", "simulation")
#: Words for the kinds of reports that not every format shows.
_WHAT = {
    "matrix": "a matrix of releases",
    "fleet": "a fleet of clusters",
    "verify": "the answers of a server",
    "servers": "which servers take CRDs",
    "preflight": "whether a cluster may go back",
    "versions": "the life of versions",
    "simulation": "a simulation",
}


class Format(Protocol):
    """How a report is shown."""

    NAME: str

    def render(self, report: Any, style: Style) -> Any:
        """The report as text that ends with a newline, or in parts."""
        ...


@cache
def format_names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def get_format(name: str) -> Format:
    """The format called ``name``; only its own module is imported."""
    return cast("Format", importlib.import_module(f"{__name__}.{name}"))


def renderer(name: str, kind: str) -> Renderer:
    """What shows reports of a ``KIND`` in the format called ``name``. Raises UsageError that names able formats."""
    if kind in _kinds(name):
        return get_format(name).render
    what = _WHAT.get(kind, "a comparison")
    raise UsageError(f"{name} cannot show {what}; what can: {', '.join(formats_of(kind))}")


def formats_of(kind: str) -> list[str]:
    """The formats that can show reports of a ``KIND``."""
    return [name for name in format_names() if kind in _kinds(name)]


def _kinds(name: str) -> tuple[str, ...]:
    found: tuple[str, ...] = getattr(get_format(name), "KINDS", COMPARISONS)
    return found
