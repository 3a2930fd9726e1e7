"""The report of preflight as GitHub Markdown: the answer, then each section of the text, folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, finish
from crdcompat.render.markdown.markup import block, code, details
from crdcompat.render.text.preflight import preflight_text
from crdcompat.render.wording.preflight import answer, question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.preflight import PreflightReport

_PLAIN = Style(width=100)


def preflight_markdown(report: PreflightReport) -> Iterator[str]:
    """The parts of the page."""
    yield f"## crdcompat: {code(question(report))} {answer(report)}"
    head, *sections = "\n".join([*finish(preflight_text(report, _PLAIN))][1:]).split("\n\n")
    yield block(head)
    for section in sections:
        title, _, lines = section.partition("\n")
        yield details(code(title), block(lines)) if lines else block(title)
