"""Entries put into the text of a waiver file: every byte that stands in it stays as it is.

No library does that: a round trip (ruamel.yaml) keeps comments, and writes quotes, indents and line ends its own way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from yaml.nodes import MappingNode, Node, SequenceNode

from crdcompat.yaml.dump import to_yaml
from crdcompat.yaml.loader import node_key
from crdcompat.yaml.streams import compose_stream

_KEY = "waivers"
_MARK = "\ufeff"
#: What JSON allows in a text and YAML does not, or takes for the end of a line. YAML knows no pairs of surrogates.
_BARE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def with_entries(data: bytes, entries: Sequence[dict[str, Any]]) -> bytes:
    """The file with these entries behind those it has, in the manner of the file: block or flow, its line ends.

    An empty list in brackets gives way to lines. Raises Fault and ValueError where the text is not one document.
    """
    text = data.decode("utf-8")
    mark, body = (_MARK, text[1:]) if text.startswith(_MARK) else ("", text)
    roots = compose_stream(body.encode())
    if len(roots) > 1:
        raise ValueError("leave one document in it")
    root = roots[0] if roots else None
    return (mark + _put(body, root, entries, "\r\n" if "\r\n" in body else "\n")).encode()


def _put(body: str, root: Node | None, entries: Sequence[dict[str, Any]], end: str) -> str:
    if not isinstance(root, MappingNode):
        return _at_end(body, len(body), f"{_KEY}:\n{_lines(entries, 2)}", end)
    listed = next((value for key, value in root.value if node_key(key) == _KEY), None)
    if root.flow_style and listed is None:
        inside = f'"{_KEY}": [{_flow(entries, body)}]' + (", " if root.value else "")
        return _insert(body, root.start_mark.index + 1, inside)
    if not isinstance(listed, SequenceNode):
        return _at_end(body, root.end_mark.index, f"{_KEY}:\n{_lines(entries, 2)}", end)
    if not listed.flow_style:
        return _at_end(body, root.end_mark.index, _lines(entries, listed.start_mark.column), end)
    if listed.value:
        last: Node = listed.value[-1]
        own_line = last.start_mark.line > listed.start_mark.line
        between = f",{end}{' ' * last.start_mark.column}" if own_line else ", "
        return _insert(body, last.end_mark.index, between + _flow(entries, body, between))
    start, stop = listed.start_mark.index, listed.end_mark.index
    if root.flow_style or body[start + 1 : stop - 1].strip():
        return _insert(body, start + 1, _flow(entries, body))
    # `waivers: []` becomes `waivers:`, and the entries stand below.
    whole = body[:start].rstrip(" ") + body[stop:]
    return _at_end(whole, root.end_mark.index - (len(body) - len(whole)), _lines(entries, 2), end)


def _insert(body: str, at: int, more: str) -> str:
    return body[:at] + more + body[at:]


def _at_end(body: str, at: int, lines: str, end: str) -> str:
    """The lines where the document ends: before a line that says so, or at the end of the file."""
    before = body[:at]
    apart = end if before and not before.endswith("\n") else ""
    return before + apart + lines.replace("\n", end) + body[at:]


def _lines(entries: Sequence[dict[str, Any]], column: int) -> str:
    written = to_yaml([*entries], ascii_only=False).splitlines(keepends=True)
    return "".join(f"{' ' * column}{line}" if line.strip() else line for line in written)


def _flow(entries: Sequence[dict[str, Any]], body: str, between: str = ", ") -> str:
    """The entries in braces; as JSON where the file may be JSON."""
    if body.lstrip().startswith("{"):
        return between.join(_BARE.sub(_escaped, json.dumps(entry, ensure_ascii=False)) for entry in entries)
    return between.join(to_yaml(entry, ascii_only=False, flow=True).rstrip("\n") for entry in entries)


def _escaped(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
