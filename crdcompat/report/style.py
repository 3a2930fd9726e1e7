"""How text looks on a terminal, and how text from manifests is made harmless on one."""

from __future__ import annotations

import textwrap
import unicodedata
from dataclasses import dataclass

_COLOURS = {
    "error": "1;31",
    "warning": "1;33",
    "info": "36",
    "bold": "1",
    "dim": "2",
    "good": "32",
    "path": "1;36",
}
#: Marks that reorder what a reader sees: shown, not obeyed.
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c")


@dataclass(frozen=True, slots=True)
class Style:
    """``colour`` and ``width`` (0: never wrap) of the output; ``verbosity`` -1 quiet, 0 usual, 1 all."""

    colour: bool = False
    width: int = 0
    verbosity: int = 0

    def paint(self, text: str, colour: str) -> str:
        """``text`` in a named colour, plain where there is none."""
        return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if self.colour else text

    def wrap(self, text: str, indent: str = "  ", first: str | None = None) -> str:
        """One paragraph, indented; broken into lines only on a terminal."""
        start = indent if first is None else first
        if not self.width:
            return start + text
        return textwrap.fill(
            text,
            width=max(self.width, 40),
            initial_indent=start,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


def harmless(text: str) -> str:
    """Text from a manifest with control and reordering characters written out: ``\\x1b``, ``\\u202e``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_written_out(char) for char in text)


def _written_out(char: str) -> str:
    if char in _REORDERING or unicodedata.category(char) in ("Cc", "Cs"):
        code = ord(char)
        return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return char
