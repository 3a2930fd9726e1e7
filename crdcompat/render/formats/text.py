"""The report for terminals: rollback errors first, a block per finding, a footer with all counts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, finish
from crdcompat.render.formats import COMPARISONS
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.models.report import AnyReport

NAME = "text"
KINDS = (*COMPARISONS, "matrix", "fleet", "verify", "servers", "preflight", "versions")
EXCERPTS = Severity.ERROR
#: The reports that are pages of blocks.
_PAGES = ("servers", "preflight", "versions", "verify", "fleet", "matrix", "simulation")


def render(report: AnyReport, style: Style) -> str | Iterator[str]:
    """The report as text, that of a fleet in parts; colour and wrapping only where ``style`` asks for them."""
    lines = (f"{line}\n" for line in finish(_lines(report, style)))
    return lines if report.KIND == "fleet" else "".join(lines)


def _lines(report: AnyReport, style: Style) -> Iterable[str]:
    if report.KIND in _PAGES:
        from crdcompat.render.pages import page_of
        from crdcompat.render.text.page import page_text

        return page_text(page_of(report, style), style)
    module = import_module(f"crdcompat.render.text.{report.KIND}")
    found: Iterable[str] = getattr(module, f"{report.KIND}_text")(report, style)
    return found
