"""What the lines of a file tell of the CRDs in it, without the file being parsed.

Every CRD says its kind and has its plural, mostly on lines of their own; a context is told by an annotation. A file
whose lines tell of no plural that is looked for can hold none of these CRDs: where a kind is told and no plural that
could be read goes with it, the file may hold any.
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

#: Raise it when the same lines come to tell something else: what was remembered of them is no longer so.
FORM = 1

_KIND = "CustomResourceDefinition"
#: Without one of these a line tells nothing, unless an annotation stands in it: what to search files for. There is no
#: looking for words in UTF-16, only for its byte order mark.
WORDS = ("plural", _KIND, *map(os.fsdecode, WIDE_MARKS))
# The key, and its value where it is plain or empty; where the key ends its line (`? plural`), or the value is an
# alias, a template or on the next line, there is none.
_PLURAL = re.compile(
    r"""(?<![^\s{,"'?])plural["']?\s*"""
    r"""(?:$|:(?:\s*(?P<quote>["']?)(?P<value>[a-z0-9][-a-z0-9]*|(?<=["']))(?P=quote)\s*(?=[,}#]|$))?)"""
)
#: What stands in a line for bytes that are no UTF-8.
_NOT_UTF8 = "\ufffd"
#: Of a longer line, of JSON that was never broken, the beginning is kept: it is nothing that an annotation could be.
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Telltale:
    """``plurals``: of the CRDs that may be in the file. ``notes``: the lines, stripped, that an annotation which was
    asked for may stand in. ``is_open``: there may be any CRD in it, or it is no text.
    """

    plurals: Sequence[str] = ()
    notes: Sequence[str] = ()
    is_open: bool = False

    def may_hold(self, plurals: Collection[str]) -> bool:
        """Whether a CRD with one of these plurals may be in the file."""
        return self.is_open or any(plural in plurals for plural in self.plurals)


@dataclass(frozen=True, slots=True)
class _Line:
    plurals: tuple[str, ...]
    kinds: int
    notes: tuple[str, ...]
    is_open: bool


def telling_lines(data: bytes, annotations: Iterable[str]) -> Iterator[str]:
    """The lines of a file that tell something: that hold one of ``WORDS``, or one of these keys of annotations."""
    wanted = (*map(os.fsencode, WORDS), *(key.encode("utf-8", "surrogateescape") for key in annotations))
    if any(word in data for word in wanted):
        for line in data.split(b"\n"):
            if any(word in line for word in wanted):
                yield line.decode("utf-8", "replace")


def told_by(lines: Iterable[str], annotations: tuple[str, ...]) -> Telltale:
    """What a file's ``telling_lines`` say."""
    read = [_of_line(line, annotations) for line in lines]
    plurals = [plural for line in read for plural in line.plurals]
    return Telltale(
        [*dict.fromkeys(plurals)],
        [*dict.fromkeys(note for line in read for note in line.notes)],
        any(line.is_open for line in read) or sum(line.kinds for line in read) > len(plurals),
    )


@lru_cache(1 << 14)
def _of_line(line: str, annotations: tuple[str, ...]) -> _Line:
    values = [found["value"] for found in _PLURAL.finditer(line)]
    is_note = any(key in line for key in annotations)
    return _Line(
        tuple(filter(None, values)),  # `plural: ""` is that of an empty status
        line.count(_KIND),
        (line.strip()[:_LONGEST],) if is_note else (),
        None in values or _NOT_UTF8 in line or f"{_KIND}List" in line,
    )
