"""GitHub Markdown in which text from manifests becomes no markup, link or mention.

GitHub links ``@user``, ``#1`` and addresses everywhere except in code, so text from manifests is always code.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from crdcompat.render.escape import Style, escape_text
from crdcompat.render.text.text_page import plain_text
from crdcompat.render.wording.entry_sentences import entry_lines
from crdcompat.render.wording.summaries import subject, title
from crdcompat.vocabulary.texts import first_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crdcompat.errors import Problem
    from crdcompat.findings.entries import Entry

_MAX_INLINE = 400
_MAX_IN_BLOCK = 4_000
_MAX_LINES = 100
_TICKS = re.compile("`+")
#: Backticks around code must outnumber those in it: without a bound, text of backticks would grow threefold.
_MANY_TICKS = re.compile("`{11,}")
_PIPE = re.compile(r"(\\*)\|")


def span(text: str) -> str:
    """Text as a code span. Not for table cells, where ``|`` ends even code: see ``cell``."""
    shown = _cut(escape_text(text), _MAX_INLINE)
    ticks = "`" * (_longest_run(shown) + 1)
    # CommonMark strips one space at either end; empty code would be no code.
    space = " " if shown[:1] in ("`", " ", "") or shown[-1:] in ("`", " ") else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def code(text: str) -> str:
    """Text as code inside a line of HTML, such as a summary."""
    return f"<code>{html.escape(_cut(escape_text(text), _MAX_INLINE))}</code>"


def cell(text: str) -> str:
    """Text as code in a cell of a table. A backslash keeps ``|`` from ending the cell; nothing escapes a backslash."""
    return _PIPE.sub(lambda pipe: f"{pipe[1]} \\|" if pipe[1] else r"\|", span(text))


def block(text: str, most: int = _MAX_IN_BLOCK) -> str:
    """Lines of escaped text as a fenced block, cut to so many bytes."""
    shown = _cut(text, most)
    fence = "`" * max(_longest_run(shown) + 1, 3)
    return f"{fence}text\n{shown}\n{fence}"


def details(summary: str, body: str) -> str:
    """A part that readers unfold; ``summary`` is HTML, ``body`` is Markdown, which needs the empty lines around it."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"


def bullets(texts: Sequence[str], most: int = 10) -> str:
    """A list of code spans, and how many more there are."""
    return "\n".join(first_lines([f"- {span(text)}" for text in texts], most, "- and {} more"))


_UNREAD, _NOT_DONE = "Could not be read", "Could not be read or compared"


def unread(problems: Sequence[Problem], more: Sequence[str] = ()) -> Iterator[str]:
    """A list of what could not be read; the lines of ``more`` come first. Yields nothing if all could be read."""
    tasks = {problem.task for problem in problems}
    if lines := [*more, *(f"{problem.file}:{problem.line or 1}: {problem.message}" for problem in problems)]:
        yield f"**{_UNREAD if not tasks or tasks == {'read'} else _NOT_DONE}:**\n\n{bullets(lines)}"


def folded(lines: Sequence[str], summary: str) -> Iterator[str]:
    """Lines that are folded below a summary in HTML; of many lines the first ones. Yields nothing without lines."""
    if lines:
        yield details(summary, block("\n".join(map(escape_text, first_lines(lines, _MAX_LINES)))))


def _longest_run(text: str) -> int:
    return max((len(run) for run in _TICKS.findall(text)), default=0)


def _cut(text: str, most: int) -> str:
    """At most ``most`` bytes: the limits of a comment are bytes, and a Chinese character has three."""
    text = _MANY_TICKS.sub(f"{'`' * 10}…", text)
    data = text.encode()
    return text if len(data) <= most else f"{data[:most].decode(errors='ignore')}… (cut)"


# What an editor shows over a line with findings.


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
