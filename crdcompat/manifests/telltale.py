"""What the lines of a file tell of the CRDs in it, without the file being parsed.

Every CRD has its plural and its group on lines of their own, or on one with everything else; a context is told by an
annotation. What else a file may hold shows in no line, so that whoever looks for a CRD by these can be sure of files
that have none.
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

_PLURAL = "plural"
#: Without one of these a line tells nothing, unless an annotation stands in it: what to search files for. There is no
#: looking for words in UTF-16, only for its byte order mark. A group in quotes is not looked for, as JSON has it: each
#: word more takes its time, and a group that nobody knows may be any.
WORDS = (_PLURAL, "group:", *map(os.fsdecode, WIDE_MARKS))
_BYTES = tuple(os.fsencode(word) for word in WORDS)
_KEYED = re.compile(
    r"""(?<![^\s{,"'?])(?P<key>plural|group)["']?\s*:"""
    r"""(?:\s*(?P<quote>["']?)(?P<value>[a-z0-9][-.a-z0-9]*|(?<=["']))(?P=quote)\s*(?=[,}#]|$))?"""
)
#: What stands in a line for bytes that are no UTF-8.
_NOT_UTF8 = "\ufffd"
#: A longer line, of JSON that was never broken, tells too much to be kept.
_LONGEST = 500


@dataclass(frozen=True, slots=True)
class Telltale:
    """``plurals`` and ``groups``: the values of these keys; no group: any. ``notes``: the lines, stripped, that an
    annotation which was asked for may stand in. ``is_open``: there may be any CRD in it.
    """

    plurals: Sequence[str] = ()
    groups: Sequence[str] = ()
    notes: Sequence[str] = ()
    is_open: bool = False

    def may_hold(self, names: Collection[tuple[str, str]]) -> bool:
        """Whether one of these CRDs, each a plural and a group, may be in the file."""
        return self.is_open or any(
            plural in self.plurals and (not self.groups or group in self.groups) for plural, group in names
        )


def telling_lines(data: bytes, annotations: Iterable[str]) -> Iterator[str]:
    """The lines of a file that tell something: that hold one of ``WORDS``, or one of these keys of annotations."""
    wanted = (*_BYTES, *(os.fsencode(key) for key in annotations))
    if any(word in data for word in wanted):
        for line in data.split(b"\n"):
            if any(word in line for word in wanted):
                yield line.decode("utf-8", "replace")


def told_by(lines: Iterable[str], annotations: tuple[str, ...]) -> Telltale:
    """What a file's ``telling_lines`` say."""
    of_lines = [_of_line(line, annotations) for line in lines]
    plurals = [plural for each in of_lines for plural in each.plurals]
    groups = [group for each in of_lines for group in each.groups]
    return Telltale(
        [*dict.fromkeys(plurals)],
        [*dict.fromkeys(groups)] if len(groups) >= len(plurals) else [],
        [*dict.fromkeys(note for each in of_lines for note in each.notes)],
        any(each.is_open for each in of_lines),
    )


@lru_cache(1 << 14)
def _of_line(line: str, annotations: tuple[str, ...]) -> Telltale:
    is_note = any(key in line for key in annotations)
    if _NOT_UTF8 in line or (is_note and len(line) > _LONGEST):
        return Telltale(is_open=True)
    keyed = [(found["key"], found["value"]) for found in _KEYED.finditer(line)]
    return Telltale(
        [value for key, value in keyed if key == _PLURAL and value],
        [value for key, value in keyed if key != _PLURAL and value],
        [line.strip()] if is_note else [],
        (_PLURAL, None) in keyed,  # an alias, a template: nobody knows; `plural: ""` is that of an empty status
    )
