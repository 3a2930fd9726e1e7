"""The report for terminals: its page as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, finish
from crdcompat.render.formats import COMPARISONS
from crdcompat.render.pages import page_of
from crdcompat.render.text.text_page import page_text
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.report import AnyReport

NAME = "text"
KINDS = (*COMPARISONS, "matrix", "fleet", "verify", "servers", "preflight", "versions")
EXCERPTS = Severity.ERROR


def render(report: AnyReport, style: Style) -> str | Iterator[str]:
    """The report as text, a fleet's report in parts; with colours and wrapped lines if ``style`` asks for them."""
    lines = (f"{line}\n" for line in finish(page_text(page_of(report, style), style)))
    return lines if report.KIND == "fleet" else "".join(lines)
