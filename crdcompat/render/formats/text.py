"""The report for terminals: rollback errors first, a block per finding, a footer with all counts."""

from __future__ import annotations

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


def render(report: AnyReport, style: Style) -> str | Iterator[str]:
    """The report as text, that of a fleet in parts; colour and wrapping only where ``style`` asks for them."""
    lines = (f"{line}\n" for line in finish(_lines(report, style)))
    return lines if report.KIND == "fleet" else "".join(lines)


def _lines(report: AnyReport, style: Style) -> Iterable[str]:
    match report.KIND:
        case "diff":
            from crdcompat.render.text.diff import diff_text

            return diff_text(report, style)
        case "check":
            from crdcompat.render.text.check import check_text

            return check_text(report, style)
    from crdcompat.render.pages import page_of
    from crdcompat.render.text.page import page_text

    return page_text(page_of(report, style), style)
