"""Read the plain block style in which Kubernetes tools write YAML, several times as fast as libyaml's nodes.

`read_block` reads only documents in which each line has one meaning: block maps and lists, plain scalars, quoted
scalars with the usual escapes, ``|`` blocks, ``{}`` and ``[]``, comments on lines of their own. libyaml reads all other
documents (anchors, tags, other comments, flow style, duplicate keys, errors), so that all errors and remarks come from
one parser. The result, with its places, equals that of `GoLoader`; tests compare both on all recorded YAML and on
mutations of it.

No faster library fits. rapidyaml and the Rust parsers resolve scalars as YAML 1.2 does, and do not report whether a
scalar had quotes. Kubernetes reads YAML 1.1, where both matter.
"""

from __future__ import annotations

import math
import re
from array import array
from functools import lru_cache
from typing import Any, cast

from msgspec import Struct

from crdcompat.yaml.positions import COLUMN_BITS
from crdcompat.yaml.scalars import INT64_MAX, TYPED_FIRST, json_number, plain_value

_MAX_COLUMN = 150
"""Keeps the depth below ``MAX_DEPTH``: each level, except a list in a map, is at least one column deeper."""

_MAX_LINES = 300_000
"""Keeps the nodes below ``MAX_NODES``: a line has at most three."""

#: Line breaks besides "\n", tabs, control characters, and what libyaml refuses.
_ODD = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
#: Those in ASCII. To take them out of a text of ASCII is five times as quick as to search for one.
_ODD_ASCII = bytes(code for code in range(128) if _ODD.match(chr(code)))
#: A plain scalar of one line; it ends neither in a space nor in a colon.
_PLAIN = r"(?:[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[-:](?=[^ \n]))[^:#\n]*+(?>(?:(?::(?=[^ \n])|(?<! )#)[^:#\n]*+)*)(?<! )"
#: Each line: its indent, its dash, its key, and its plain or other value.
_LINE = re.compile(
    r"^( *)(?>(?:(- +)(?!- |-$))?)(?>(?:([A-Za-z0-9_./][^ :#\n]{0,200}+(?>(?::[^ :#\n]{1,200}+){0,20})):(?: +|$))?)"
    rf"(?:({_PLAIN})|(.*))$",
    re.MULTILINE,
)
#: For each quote: the whole scalar, the line that ends it, and the parts to replace (escapes and line breaks).
_QUOTED = {
    '"': (
        re.compile(r'"((?>(?:[^"\\]++|\\["\\nt ]|\\\n(?! *\n))*))" *'),
        re.compile(r'(?>(?:[^"\\]++|\\(?:.|$))*)"'),
        re.compile(r"\\\n *|\\[^\n]|(?:(?<! )|(?<=\\ )) *+\n[ \n]*"),
    ),
    "'": (
        re.compile(r"'((?>(?:[^']++|'')*))' *"),
        re.compile(r"(?>(?:[^']++|'')*)'"),
        re.compile(r"''|(?<! ) *+\n[ \n]*"),
    ),
}
_MEANING = {r"\"": '"', r"\\": "\\", r"\n": "\n", r"\t": "\t", "\\ ": " ", "''": "'"}

#: The head of a block whose text begins with spaces: its indent, its line breaks at the end.
_INDENTED = re.compile(r"\|([1-9])([-+]?)")

_Row = tuple[str, str, str, str, str]


class Block(Struct, frozen=True):
    """A document: the line of its first key (from 1), its data, and the places of its values as in `Positions`."""

    line: int
    data: dict[str, Any]
    marks: array[int]


class _OtherStyleError(Exception):
    """A line that is not in plain block style."""


def read_block(text: bytes, line: int = 1) -> Block | None:
    """Read one document in plain block style with a map at the top; None for any other text. Raises nothing.

    ``line`` is the number of its first line.
    """
    if not text.endswith(b"\n") or text.count(b"\n") > _MAX_LINES:
        return None
    try:
        decoded = text.decode()
        if _has_odd(text, decoded):
            return None
        lines = decoded[:-1].split("\n")
        start = 1 if lines[0] == "---" else 0
        while start < len(lines) and _is_comment(lines[start]):
            start += 1
        marks = array("Q", [(start + line - 1) << COLUMN_BITS])
        data = _read(lines, _LINE.findall(decoded, 0, len(decoded) - 1), start, marks, line - 1)
        return Block(start + line, data, marks)
    except (UnicodeDecodeError, _OtherStyleError):
        return None


def _has_odd(text: bytes, decoded: str) -> bool:
    if text.isascii():
        return len(text.translate(None, _ODD_ASCII)) < len(text)
    return _ODD.search(decoded) is not None


def _is_comment(line: str) -> bool:
    """Whether a line between two values is a comment, or blank."""
    return line.lstrip(" ")[:1] in ("", "#")


def _read(lines: list[str], rows: list[_Row], at: int, marks: array[int], above: int) -> dict[str, Any]:
    """The map from row ``at`` to the end of the text. Appends the places of its values to ``marks``.

    ``above`` is the number of lines before the first row.
    """
    root: dict[str, Any] = {}
    column, inner = 0, cast("Any", root)  # the innermost map or list, and its column
    outer: list[tuple[int, Any]] = []
    in_list = False
    is_open = False  # whether the value of the last key is on the following lines
    last, end = "", len(rows)
    value: Any
    while at < end:
        indent, dash, key, plain, other = rows[at]
        if not (dash or key):
            if plain or other[:1] not in ("", "#"):
                raise _OtherStyleError
            at += 1  # a comment, or a blank line
            continue
        here = len(indent)
        if is_open and (here > column or (dash and here == column)):  # a list may have the column of its key
            outer.append((column, inner))
            value = [] if dash else {}
            inner[last] = value
            column, inner, in_list = here, value, bool(dash)
        while here < column or (in_list and here == column and not dash):
            column, inner = outer.pop()
            in_list = type(inner) is list
        if here != column or here > _MAX_COLUMN or in_list != bool(dash):
            raise _OtherStyleError
        if dash:
            here += len(dash)
            marks.append((at + above) << COLUMN_BITS | here)
            if key:
                outer.append((column, inner))
                inner.append({})
                column, inner, in_list = here, inner[-1], False
        if key:
            if key in inner or not _is_text(key):
                raise _OtherStyleError
            marks.append((at + above) << COLUMN_BITS | here)
        at += 1
        value = plain
        if plain:
            if at < end and len(rows[at][0]) > column:
                value, at = _folded(lines, at, plain, column)
            if value[0] in TYPED_FIRST:
                value = _typed_short(value) if len(value) <= _MAX_SHORT else _typed(value)
        elif other:
            value, at = (_literal if other[0] == "|" else _quoted)(lines, at, other, column)
        elif not key:  # a dash alone
            raise _OtherStyleError
        is_open = value == "" and not other
        if key:
            inner[key] = None if is_open else value
            last = key
        else:
            inner.append(value)
    if not root:
        raise _OtherStyleError
    return root


def _folded(lines: list[str], at: int, text: str, column: int) -> tuple[str, int]:
    """A plain scalar that continues in row ``at``, and the row after it."""
    parts = [text]
    while at < len(lines) and lines[at].startswith(" " * (column + 1)):
        more = lines[at].strip(" ")
        if more[:1] == "#":
            break
        if not more or ": " in more or " #" in more or more[-1] == ":":
            raise _OtherStyleError
        parts.append(more)
        at += 1
    return " ".join(parts), at


def _quoted(lines: list[str], at: int, text: str, column: int) -> tuple[Any, int]:
    """A scalar in quotes, which can continue in row ``at``, or an empty map or list; and the row after it."""
    if text in ("{}", "[]"):
        return {} if text == "{}" else [], at
    if text[0] not in _QUOTED:
        raise _OtherStyleError
    whole, end, special = _QUOTED[text[0]]
    quoted = whole.fullmatch(text)
    if quoted is None:
        start, indent = at, " " * (column + 1)
        while at < len(lines) and (lines[at].startswith(indent) or not lines[at]) and not end.match(lines[at]):
            at += 1
        at += 1
        quoted = whole.fullmatch("\n".join((text, *lines[start:at])))
    if quoted is None or at > len(lines):
        raise _OtherStyleError
    return special.sub(_meaning, quoted[1]), at


def _meaning(found: re.Match[str]) -> str:
    """The text of an escape or of line breaks: one line break is a space, n line breaks are n - 1."""
    what = found[0]
    if what in _MEANING:
        return _MEANING[what]
    return "" if what[0] == "\\" else "\n" * (what.count("\n") - 1) or " "


def _typed(text: str) -> Any:
    value = plain_value(text)
    if isinstance(value, float) and math.isfinite(value):
        return json_number(value)
    if text == "<<" or isinstance(value, float) or (isinstance(value, int) and value > INT64_MAX):
        raise _OtherStyleError
    return value


#: Short words and numbers recur in a document, so their values are cached.
_typed_short = lru_cache(maxsize=512)(_typed)
_MAX_SHORT = 32


def _literal(lines: list[str], at: int, header: str, column: int) -> tuple[str, int]:
    """The text of a ``|`` block that starts in row ``at``, and the row after it.

    ``header`` is ``|``, ``|-`` or ``|+``, which decides on the line breaks at the end. ``|2-`` is that of a text which
    begins with spaces: its lines are two columns deeper than their parent.
    """
    first = lines[at] if at < len(lines) else ""
    depth = len(first) - len(first.lstrip(" "))
    if depth <= column or depth == len(first):
        raise _OtherStyleError
    if (indented := _INDENTED.fullmatch(header)) is not None:
        wanted, header = column + int(indented[1]), f"|{indented[2]}"
        if depth < wanted:
            raise _OtherStyleError
        depth = wanted
    if header not in ("|", "|-", "|+"):
        raise _OtherStyleError
    indent = " " * depth
    start = at
    while at < len(lines) and (lines[at].startswith(indent) or not lines[at].strip(" ")):
        at += 1
    text = "\n".join(line[depth:] for line in lines[start:at]) + "\n"
    return text if header == "|+" else text.rstrip("\n") + ("\n" if header == "|" else ""), at


@lru_cache(maxsize=4096)
def _is_text(key: str) -> bool:
    """Whether a plain key is a string in Go's YAML: ``y`` and ``1`` are not."""
    return key[0] not in TYPED_FIRST or type(plain_value(key)) is str
