"""What the lines of a file say about the CRDs in it, without the file being parsed.

Every CRD has its kind and its plural, mostly on lines of their own, and annotations say which variant it is. A file
whose lines have none of the plurals that are looked for holds none of these CRDs. A file that has more kinds than
readable plurals may hold any CRD.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from crdcompat.records import dataclass
from crdcompat.sources.encoding import WIDE_MARKS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

#: Raise it when the same lines come to yield other facts: cached ones are then no longer valid.
FORMAT = 1

_KIND = "CustomResourceDefinition"
#: What to search files for, beside annotations: no other line says anything. UTF-16 cannot be searched for words, only
#: for its byte order mark.
WORDS = ("plural", _KIND, *map(os.fsdecode, WIDE_MARKS))
# The key, and its value where that is plain or empty. There is no value where the key ends its line (`? plural`), or
# where the value is an alias, a template or on the next line.
_PLURAL = re.compile(
    r"""(?<![^\s{,"'?])plural["']?\s*"""
    r"""(?:$|:(?:\s*(?P<quote>["']?)(?P<value>[a-z0-9][-a-z0-9]*|(?<=["']))(?P=quote)\s*(?=[,}#]|$))?)"""
)
#: The replacement for bytes that are not UTF-8.
_NOT_UTF8 = "\ufffd"
#: Of a longer line (JSON without line breaks) only the beginning is kept: it is no annotation alone in any case.
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of one file.

    ``plurals``: of the CRDs that it may hold. ``annotation_lines``: the lines, stripped, that contain a key of the
    annotations asked for. ``may_hold_any``: it may hold any CRD, or is no text.
    """

    plurals: Sequence[str] = ()
    annotation_lines: Sequence[str] = ()
    may_hold_any: bool = False

    def may_hold(self, plurals: Collection[str]) -> bool:
        """Whether the file may hold a CRD with one of these plurals."""
        return self.may_hold_any or any(plural in plurals for plural in self.plurals)


@dataclass(frozen=True, slots=True)
class _LineFacts:
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
    has_annotation = any(key in line for key in annotations)
    return _LineFacts(
        tuple(filter(None, values)),  # `plural: ""` is that of an empty status
        line.count(_KIND),
        (line.strip()[:_LONGEST],) if has_annotation else (),
        None in values or _NOT_UTF8 in line or f"{_KIND}List" in line,
    )
