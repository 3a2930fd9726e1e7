"""Facts about the CRDs in a file, from single lines of it, without parsing.

Every CRD has a kind and a plural, mostly on separate lines, and annotations distinguish its variants. A file without
any of the wanted plurals contains none of the wanted CRDs. A file with more kinds than readable plurals may contain any
CRD.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from crdcompat.prefilter.candidates import HOLDERS
from crdcompat.prefilter.spelling import BINARY_TAGS, PRINTABLE_ESCAPE
from crdcompat.sources.encoding import WIDE_MARKS

#: Increase it when the same lines yield other facts: this invalidates cached facts.
FORMAT = 5

_KIND = "CustomResourceDefinition"
#: Escapes of printable characters in JSON and YAML strings begin so; they can spell the other words.
ESCAPED = tuple(f"{escape}{digit}" for escape in ("\\x", "\\u00", "\\U000000") for digit in "234567")
#: A key in double quotes whose first line ends inside of it.
_BROKEN_KEYS = tuple(f'"{word[:length]}\\' for word in ("plural", _KIND) for length in range(len(word) + 1))
#: The words to search files for, besides annotations: no other line contributes facts. UTF-16 text does not contain
#: these words as bytes, so its byte order mark is searched for.
WORDS = ("plural", _KIND, *map(os.fsdecode, WIDE_MARKS), *ESCAPED, *BINARY_TAGS, *HOLDERS, *dict.fromkeys(_BROKEN_KEYS))
# The key, and its value if that is plain or empty. No value matches if the key ends its line (`? plural`), or if the
# value is an alias, a template or on the next line.
_PLURAL = re.compile(
    r"""(?<![^\s{,"'?])plural["']?\s*"""
    r"""(?:$|:(?:\s*(?P<quote>["']?)(?P<value>[a-z0-9][-a-z0-9]*|(?<=["']))(?P=quote)\s*(?=[,}#]|$))?)"""
)
_ESCAPED = re.compile(PRINTABLE_ESCAPE)
#: What may hide a word of the file: a tag of base64, an object that holds others, a line that ends inside a key.
_HIDING = re.compile(
    rf"{'|'.join(map(re.escape, (*BINARY_TAGS, *HOLDERS)))}"
    rf"|(?:{'|'.join(map(re.escape, _BROKEN_KEYS))})(?:[\r\x85\u2028\u2029]|$)"
)
#: The replacement for bytes that are not UTF-8.
_NOT_UTF8 = "\ufffd"
#: Longer lines (JSON without line breaks) are cut: they are never a single annotation.
_MAX_LINE = 500


class FileFacts(Struct, frozen=True):
    """The facts about one file.

    ``plurals``: of the CRDs that it may contain. ``annotation_lines``: the lines, stripped, that contain the key of a
    wanted annotation, or an escape that may hide it. ``may_hold_any``: it may contain any CRD, or is not UTF-8 text.
    """

    plurals: Sequence[str] = ()
    annotation_lines: Sequence[str] = ()
    may_hold_any: bool = False

    def may_hold(self, plurals: Collection[str]) -> bool:
        """Whether the file may contain a CRD with one of these plurals."""
        return self.may_hold_any or any(plural in plurals for plural in self.plurals)


class _LineFacts(Struct, frozen=True):
    plurals: tuple[str, ...]
    kinds: int
    annotation_lines: tuple[str, ...]
    may_hold_any: bool


def relevant_lines(data: bytes, annotations: Iterable[str]) -> Iterator[str]:
    """The lines of a file that contain one of ``WORDS`` or one of these annotation keys."""
    wanted = (*map(os.fsencode, WORDS), *(key.encode("utf-8", "surrogateescape") for key in annotations))
    if any(word in data for word in wanted):
        for line in data.split(b"\n"):
            if any(word in line for word in wanted):
                yield line.decode("utf-8", "replace")


def facts_of(lines: Iterable[str], annotations: tuple[str, ...]) -> FileFacts:
    """The facts of a file, from its ``relevant_lines``."""
    read = [_of_line(line, annotations) for line in lines]
    plurals = [plural for line in read for plural in line.plurals]
    return FileFacts(
        [*dict.fromkeys(plurals)],
        [*dict.fromkeys(found for line in read for found in line.annotation_lines)],
        any(line.may_hold_any for line in read) or sum(line.kinds for line in read) > len(plurals),
    )


@lru_cache(1 << 14)
def _of_line(line: str, annotations: tuple[str, ...]) -> _LineFacts:
    values = [found["value"] for found in _PLURAL.finditer(line)]
    is_escaped = _ESCAPED.search(line) is not None
    has_annotation = is_escaped or any(key in line for key in annotations)
    return _LineFacts(
        tuple(filter(None, values)),  # controller-gen writes `plural: ""` in an empty status
        line.count(_KIND),
        (line.strip()[:_MAX_LINE],) if has_annotation else (),
        None in values or _NOT_UTF8 in line or f"{_KIND}List" in line or is_escaped or _HIDING.search(line) is not None,
    )
