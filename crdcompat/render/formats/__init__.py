"""One module per report format: ``NAME`` and ``render``. Adding a file here adds a format.

A format without ``render`` shows only some of the other reports. A format that can show a matrix of releases has
``render_matrix``, too; one that can show many clusters, ``render_fleet``; one that can show a server's answers to a
report, ``render_verification``, or the answers of many servers to CRDs, ``render_servers``; one that can show whether a
cluster may go back, ``render_preflight``; one that can show the life of versions, ``render_versions``. ``EXCERPTS`` is
the lowest severity of findings whose lines it shows. ``PASSING = True``: it lists CRDs without findings.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, cast

from crdcompat.errors import UsageError

if TYPE_CHECKING:
    from crdcompat.models.reports import Report
    from crdcompat.render.escape import Style


class Format(Protocol):
    """How a report is shown."""

    NAME: str

    def render(self, report: Report, style: Style) -> str:
        """The report as text that ends with a newline."""
        ...


#: Shows a report: as text that ends with a newline, or (a fleet) in parts, each made when it is asked for.
Renderer = Callable[[Any, "Style"], str | Iterable[str]]
#: By the ``KIND`` of reports that ``render`` does not show: the function that shows them, and words for them.
_OTHERS = {
    "matrix": ("render_matrix", "a matrix of releases"),
    "fleet": ("render_fleet", "a fleet of clusters"),
    "verify": ("render_verification", "the answers of a server"),
    "servers": ("render_servers", "which servers take CRDs"),
    "preflight": ("render_preflight", "whether a cluster may go back"),
    "versions": ("render_versions", "the life of versions"),
}


@cache
def format_names() -> tuple[str, ...]:
    """The names of all formats, sorted."""
    return tuple(sorted(info.name for info in pkgutil.iter_modules(__path__)))


def get_format(name: str) -> Format:
    """The format called ``name``; only its own module is imported."""
    return cast("Format", importlib.import_module(f"{__name__}.{name}"))


def renderer(name: str, kind: str) -> Renderer:
    """What shows reports of a ``KIND`` in the format called ``name``. Raises UsageError that names able formats."""
    function, what = _OTHERS.get(kind, ("render", "a comparison"))
    found: Renderer | None = getattr(get_format(name), function, None)
    if found is None:
        able = ", ".join(other for other in format_names() if hasattr(get_format(other), function))
        raise UsageError(f"{name} cannot show {what}; what can: {able}")
    return found
