"""Colour and wrapping of terminal output, and the escaping of text at every exit of the program.

Text from manifests, configurations, refs and file names can hold characters that steer a terminal, break lines, or
are not seen. ``escape_text`` makes them visible in reports, ``json_text`` escapes them in JSON, ``say`` and ``warn``
print messages. No other function of the program prints.

A report marks its own colours and line breaks with a random secret. ``finish`` escapes all other text, then turns the
marks into terminal codes. So no line of a report can pass a terminal code from a manifest.
"""

from __future__ import annotations

import os
import re
import sys
import textwrap
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from os import urandom
from typing import Any
from unicodedata import east_asian_width

from msgspec import Struct

from crdcompat.vocabulary import FailOn

#: Warnings are magenta and paths blue: yellow and bright cyan cannot be read on a light background.
_COLOURS = {
    "error": "1;31",
    "warning": "1;35",
    "info": "36",
    "bold": "1",
    "dim": "2",
    "good": "32",
    "path": "1;34",
}
#: Marks begin with a random text that no manifest can contain on purpose.
_SECRET = f"\ue000{urandom(8).hex()}"
_PAINT, _PAINTED, _PLAIN, _BREAK = (f"{_SECRET}{kind}" for kind in "psnb")
_MARKED = re.compile(f"{_PAINT}([0-9;]*){_PAINTED}")
#: Delete and C1, line and paragraph separators, marks that reorder text (Trojan Source), invisible characters, half
#: surrogates, tags and other special characters of plane 14, characters that XML and HTML forbid.
_UNSEEN = (
    "\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(chr(plane | last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
)
_HIDDEN = re.compile(f"[\x00-\x1f{_UNSEEN}]")
#: A serialiser has escaped C0 in strings; those that are left are the line breaks between values.
_HIDDEN_IN_JSON = re.compile(f"[{_UNSEEN}]")
#: The runner of GitHub Actions reads ``::error …`` at the start of a line, and the older ``##[error]`` anywhere.
_COMMAND = re.compile(r"^\s*::|##(?=\[)", re.MULTILINE)


#: Follows a wide character while a paragraph is wrapped. It is no character of any text.
_FILLER = "\ufdd0"

#: The columns of a page that no terminal limits.
_PAGE = 120
#: A longer word may be cut, at one of its dots unless these are further apart.
_MAX_WORD, _MAX_STEP = 20, 32
#: Text in quotes, such as a rule, and the columns that a cut one has at least.
_QUOTATION = re.compile(r'"(?:[^"\\]|\\.)*"')
_MIN_QUOTATION = 20


class Style(Struct, frozen=True):
    """``colour`` and ``width`` (0: never wrap) of the output; ``verbosity`` -1 quiet, 0 usual, 1 all.

    ``height``: the lines of a screen.
    ``existing``: findings that existed before a change are shown, too. ``fails``: the findings that fail the run.
    ``allowed``: the option that allows the unknown verdict of the report, "" if none does.
    """

    colour: bool = False
    width: int = 0
    verbosity: int = 0
    existing: bool = False
    height: int = 40
    fails: FailOn = FailOn.ERROR
    allowed: str = ""

    def paint(self, text: str, colour: str) -> str:
        """``text`` in a named colour; unchanged without ``colour``."""
        return f"{_PAINT}{_COLOURS[colour]}{_PAINTED}{text}{_PLAIN}" if self.colour else text

    def title(self, text: str, colour: str = "bold") -> str:
        """A line of its own in a colour, wrapped as ``wrap`` does it."""
        return self.paint(self.wrap(text, first=""), colour)

    def fits(self, lines: Iterable[str]) -> bool:
        """Whether paragraphs fit on a screen."""
        return sum(map(height, lines)) <= self.height

    def wrap(self, text: str, indent: str = "  ", first: str | None = None) -> str:
        """One paragraph, indented by ``indent``, its first line by ``first``; wrapped only with a ``width``."""
        start = indent if first is None else first
        return _wrapped(text, start, indent, self.width, cut_words=False) if self.width else start + text

    def clip(self, text: str, indent: str = "  ", lines: int = 2, first: str | None = None, spare: int = 0) -> str:
        """One paragraph as ``wrap`` makes it, cut to fit a number of lines of the page's width.

        The cuts are in long quotations, if that is enough: the sentence around them stays whole. Else the paragraph has
        up to ``spare`` lines more.
        """
        room = self.page - len(indent if first is None else first)
        for more in range(spare + 1):
            limit = room + (lines + more - 1) * (self.page - len(indent) - 8)
            made = _with_short_quotations(text, limit)
            if columns_of(made) <= limit:
                break
        return self.fill(shortened(made, limit), indent, first)

    def fill(self, text: str, indent: str = "  ", first: str | None = None) -> str:
        """One paragraph that is never wider than the page: longer words, such as patterns, are broken."""
        return _wrapped(text, indent if first is None else first, indent, self.page, cut_words=True)

    @property
    def page(self) -> int:
        """The columns to fill: as many as the terminal has, at most 120; 120 without a terminal."""
        return min(self.width or _PAGE, _PAGE)


def _wrapped(text: str, start: str, indent: str, width: int, *, cut_words: bool) -> str:
    return _BREAK.join(line.replace(_FILLER, "") for line in textwrap.wrap(
        _filled(text),
        width=max(width, 40),
        initial_indent=start,
        subsequent_indent=indent,
        break_long_words=cut_words,
        break_on_hyphens=False,
    ))  # fmt: skip


def _filled(text: str) -> str:
    """The text with a filler after each character that takes two columns, so that its length is its width."""
    if text.isascii():
        return text
    shown = text.replace(_FILLER, escape_text(_FILLER))
    return "".join(char + _FILLER if east_asian_width(char) in "WF" else char for char in shown)


def columns_of(text: str) -> int:
    """The columns of a terminal that the text takes: two for a Chinese character."""
    return len(_filled(text))


def justified(text: str, width: int) -> str:
    """The text, filled with spaces to a number of columns."""
    return text + " " * (width - columns_of(text))


def height(text: str) -> int:
    """The lines of a paragraph that ``Style`` has wrapped."""
    return text.count(_BREAK) + 1


def shortened(text: str, limit: int) -> str:
    """The text, cut in the middle to at most ``limit`` columns: between words or, in a long word, at a dot.

    Patterns and rules differ at their ends.
    """
    filled = _filled(text)
    if len(filled) <= limit:
        return text
    tail = limit // 3
    end = limit - tail - 3
    end -= filled[end] == _FILLER  # half of a character
    first = _up_to_gap(filled[:end], filled[end])
    last = _up_to_gap(filled[len(filled) - tail :][::-1], filled[-tail - 1])[::-1]
    return f"{first.rstrip()} … {last.lstrip()}".replace(_FILLER, "")


def _with_short_quotations(text: str, limit: int) -> str:
    """The text, too long for ``limit`` columns, with its long quotations cut in the middle, if that is enough."""
    over = len(text) - limit
    if over <= 0 or not text.isascii():
        return text
    lengths = [len(found[0]) for found in _QUOTATION.finditer(text)]
    rooms = range(_MIN_QUOTATION, max(lengths, default=0))
    # The longest are cut to one length, so that each shows as much as the others.
    fit = bisect_left(rooms, True, key=lambda room: sum(max(each - room, 0) for each in lengths) < over) - 1
    if fit < 0:
        return text
    room = rooms[fit]
    return _QUOTATION.sub(lambda found: f'"{shortened(found[0][1:-1], room - 2)}"', text)


def _up_to_gap(text: str, following: str) -> str:
    """The text without the word that the cut before ``following`` splits, or without the part of a long word."""
    for gap, longest in ((" ", _MAX_WORD), (".", _MAX_STEP)):
        if following == gap:
            return text
        if gap in text[-longest:]:
            return text[: text.rindex(gap)]
    return text


def finish(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they are printed: text escaped, marks turned into terminal codes and line breaks."""
    for line in lines:
        for part in line.split(_BREAK):
            yield _MARKED.sub("\x1b[\\1m", escape_text(part)).replace(_PLAIN, "\x1b[0m")


def escape_text(text: str) -> str:
    """Escape hidden characters of others' text, line breaks included: ``\\x1b``, ``\\u202e``, ``\\U000e0041``."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(_visible, text)


def escape_lines(text: str) -> str:
    """Escape hidden characters except line breaks."""
    return "\n".join(map(escape_text, text.split("\n")))


def json_text(value: Any, option: int = 0) -> str:
    """A value as JSON, in which hidden characters of strings are escaped. ``option``: as ``orjson.dumps`` takes it."""
    import orjson

    from crdcompat.render.any_json import as_text, dumped

    try:
        text = orjson.dumps(value, default=as_text, option=option).decode()
    except orjson.JSONEncodeError:
        text = dumped(value, option)
    return text if text.isascii() and "\x7f" not in text else _HIDDEN_IN_JSON.sub(_in_json, text)


def runs_on_github() -> bool:
    """Whether GitHub Actions reads what the program prints."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def without_commands(text: str) -> str:
    """Escape what the runner of GitHub Actions takes for a command; inside JSON the strings stay the same."""
    return _COMMAND.sub(lambda found: found[0].replace("::", "\\u003a:").replace("##", "\\u0023#"), text)


def say(text: str, *, end: str = "\n", error: bool = False) -> None:
    """Print a message, its hidden characters escaped, to standard output (``error``: standard error).

    Others' text can begin a line of it: under GitHub Actions commands are escaped, too.
    """
    shown = escape_lines(text)
    print(without_commands(shown) if runs_on_github() else shown, end=end, file=sys.stderr if error else sys.stdout)


def warn(message: str) -> None:
    """Print a message with the program's name to standard error."""
    say(f"crdcompat: {message}", error=True)


def _visible(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _in_json(found: re.Match[str]) -> str:
    """The character as one or two UTF-16 units."""
    units = found[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
