"""Colour and wrapping of terminal output, and escaping of text from manifests.

A report marks its own colours and line breaks with a random secret. ``finish`` escapes all other text, then turns the
marks into terminal codes. So no line of a report can pass a terminal code from a manifest.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from os import urandom
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "info": "36",
    "bold": "1",
    "dim": "2",
    "good": "32",
    "path": "1;36",
}
#: Marks begin with a random text that no manifest can contain on purpose.
_SECRET = f"\ufdd0{urandom(8).hex()}"
_PAINT, _PAINTED, _PLAIN, _BREAK = (f"{_SECRET}{kind}" for kind in "psnb")
_MARKED = re.compile(f"{_PAINT}([0-9;]*){_PAINTED}")
#: Unicode marks that reorder the text on screen (Trojan Source): escaped.
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")


class Style(Struct, frozen=True):
    """``colour`` and ``width`` (0: never wrap) of the output; ``verbosity`` -1 quiet, 0 usual, 1 all.

    ``existing``: findings that existed before a change are shown, too.
    """

    colour: bool = False
    width: int = 0
    verbosity: int = 0
    existing: bool = False

    def paint(self, text: str, colour: str) -> str:
        """``text`` in a named colour; unchanged without ``colour``."""
        return f"{_PAINT}{_COLOURS[colour]}{_PAINTED}{text}{_PLAIN}" if self.colour else text

    def wrap(self, text: str, indent: str = "  ", first: str | None = None) -> str:
        """One paragraph, indented by ``indent``, its first line by ``first``; wrapped only with a ``width``."""
        start = indent if first is None else first
        if not self.width:
            return start + text
        return _BREAK.join(textwrap.wrap(
            text,
            width=max(self.width, 40),
            initial_indent=start,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        ))  # fmt: skip


def finish(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they are printed: text escaped, marks turned into terminal codes and line breaks."""
    for line in lines:
        for part in line.split(_BREAK):
            yield _MARKED.sub("\x1b[\\1m", escape_text(part)).replace(_PLAIN, "\x1b[0m")


def escape_text(text: str) -> str:
    """Escape control and reordering characters of a manifest's text: ``\\x1b``, ``\\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(char) for char in text)


def _escaped(char: str) -> str:
    if char in _REORDERING or unicodedata.category(char) in ("Cc", "Cs"):
        code = ord(char)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return char
