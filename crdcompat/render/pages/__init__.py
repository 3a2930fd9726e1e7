"""One module for each kind of report that is a page of blocks: its function ``page`` makes it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdcompat.models.report import AnyReport
    from crdcompat.render.escape import Style
    from crdcompat.render.pages.page import Page


def page_of(report: AnyReport, style: Style) -> Page:
    """The page of a report, from the module that is called as the kind of the report."""
    made: Page = import_module(f"{__name__}.{report.KIND}").page(report, style)
    return made
