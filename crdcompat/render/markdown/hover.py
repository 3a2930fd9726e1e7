"""What an editor shows over a line with findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.render.escape import Style
from crdcompat.render.markdown.markup import block, span
from crdcompat.render.text.page import plain_text
from crdcompat.render.wording.entries import entry_lines
from crdcompat.render.wording.report import subject, title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.findings.entries import Entry

_WRAPPED = Style(width=90, verbosity=1)
_MAX_ENTRIES = 5


def hover_text(found: Sequence[Entry]) -> str:
    """The findings of a line as Markdown: message, the server's sentence, example object, way out."""
    shown = [
        f"**{entry.finding.severity}** {title(entry.finding)} {span(subject(entry.finding))}\n\n"
        f"{block(plain_text(entry_lines(entry), _WRAPPED))}"
        for entry in found[:_MAX_ENTRIES]
    ]
    rest = len(found) - _MAX_ENTRIES
    return "\n\n---\n\n".join([*shown, *([f"and {rest} more"] if rest > 0 else [])])
