"""Inserts entries into the text of a waiver file without a change of its existing bytes.

No library does that: a round trip with ruamel.yaml keeps comments, but rewrites quotes, indents and line ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from yaml.nodes import MappingNode, Node, SequenceNode

from crdcompat.errors import UsageError
from crdcompat.yaml.dump import to_yaml
from crdcompat.yaml.loader import node_key
from crdcompat.yaml.streams import compose_stream

_MARK = "\ufeff"
#: Characters that JSON allows in a string, but YAML forbids or reads as a line end. YAML has no surrogate pairs.
_BARE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def with_entries(data: bytes, key: str, entries: Sequence[dict[str, Any]]) -> bytes:
    """The file with the entries appended to the list at ``key``, in the style of the file and with its line ends.

    Lines replace an empty list in brackets. Raises Fault and ValueError if the text is not a single document.
    """
    text = data.decode("utf-8")
    mark, body = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    roots = compose_stream(body.encode())
    if len(roots) > 1:
        raise ValueError("leave one document in it")
    root = roots[0] if roots else None
    return (mark + _put(body, root, key, entries, "\r\n" if "\r\n" in body else "\n")).encode()


def _put(body: str, root: Node | None, key: str, entries: Sequence[dict[str, Any]], end: str) -> str:
    if not isinstance(root, MappingNode):
        return _at_end(body, len(body), f"{key}:\n{_lines(entries, 2)}", end)
    index = next((at for at, (name, _) in enumerate(root.value) if node_key(name) == key), None)
    listed = root.value[index][1] if index is not None else None
    if root.flow_style and listed is None:
        inside = f'"{key}": [{_flow(entries, body)}]' + (", " if root.value else "")
        return _insert(body, root.start_mark.index + 1, inside)
    if not isinstance(listed, SequenceNode) or index is None:
        return _at_end(body, root.end_mark.index, f"{key}:\n{_lines(entries, 2)}", end)
    later = root.value[index + 1 :]
    if not listed.flow_style:
        at = _before(body, later[0][0].start_mark.index) if later else root.end_mark.index
        return _at_end(body, at, _lines(entries, listed.start_mark.column), end)
    if listed.value:
        last: Node = listed.value[-1]
        own_line = last.start_mark.line > listed.start_mark.line
        between = f",{end}{' ' * last.start_mark.column}" if own_line else ", "
        return _insert(body, last.end_mark.index, between + _flow(entries, body, between))
    start, stop = listed.start_mark.index, listed.end_mark.index
    if root.flow_style or later or body[start + 1 : stop - 1].strip():
        return _insert(body, start + 1, _flow(entries, body))
    # `waivers: []` becomes `waivers:`, and the entries follow below.
    whole = body[:start].rstrip(" ") + body[stop:]
    return _at_end(whole, root.end_mark.index - (len(body) - len(whole)), _lines(entries, 2), end)


def _before(body: str, at: int) -> int:
    """The end of what precedes the key at ``at``: comments and empty lines directly above belong to the key."""
    lines = body[:at].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].startswith("#")):
        at -= len(lines.pop())
    return at


def _insert(body: str, at: int, more: str) -> str:
    return body[:at] + more + body[at:]


def _at_end(body: str, at: int, lines: str, end: str) -> str:
    """Insert the lines at the end of the document: before an end marker, or at the end of the file."""
    before = body[:at]
    separator = end if before and not before.endswith("\n") else ""
    return before + separator + lines.replace("\n", end) + body[at:]


def _lines(entries: Sequence[dict[str, Any]], column: int) -> str:
    written = to_yaml([*entries], ascii_only=False).splitlines(keepends=True)
    return "".join(f"{' ' * column}{line}" if line.strip() else line for line in written)


def _flow(entries: Sequence[dict[str, Any]], body: str, between: str = ", ") -> str:
    """The entries in flow style; as JSON if the file may be JSON."""
    if body.lstrip().startswith("{"):
        return between.join(_BARE.sub(_escaped, json.dumps(entry, ensure_ascii=False)) for entry in entries)
    return between.join(to_yaml(entry, ascii_only=False, flow=True).rstrip("\n") for entry in entries)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


# Waivers in the comments of a pull request: lines such as ``/crdcompat waive ID reason``.


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
