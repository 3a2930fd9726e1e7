"""Waivers in the comments of a pull request: lines such as ``/crdcompat waive ID reason``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from crdcompat.errors import UsageError

_LINE = re.compile(r"/crdcompat[ \t]+waive(?:[ \t]+(?P<id>\S+)(?:[ \t]+(?P<reason>.*))?)?")


class Request(Struct, frozen=True):
    """The id of a finding, or its beginning, and why it is accepted."""

    id: str
    reason: str


def requests_in(lines: Iterable[str]) -> list[Request]:
    """The requests in the lines of a comment; other lines are ignored. Raises UsageError for an incomplete request."""
    found = []
    for line in lines:
        matched = _LINE.fullmatch(line.strip())
        if matched is None:
            continue
        reason = (matched["reason"] or "").strip()
        if not reason:
            raise UsageError(f"{line.strip()!r}: write /crdcompat waive ID REASON")
        found.append(Request(matched["id"], reason))
    return found
