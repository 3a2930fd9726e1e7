"""Set keywords of a YAML or JSON document in its text, so that a patch of a long generated manifest stays small.

An edit changes the lines of a key in block style, and the characters of a value in flow style (``{…}``, ``[…]``, JSON):
each keeps the style that it has. A file that cannot be edited so is rewritten as a whole.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import yaml
from msgspec import Struct
from yaml.nodes import CollectionNode, MappingNode, Node, ScalarNode, SequenceNode

from crdcompat.schema.paths import Pointer, value_at, with_value
from crdcompat.schema.structural import ABSENT
from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.loader import node_key
from crdcompat.yaml.locate import value_node


class Setting(Struct, frozen=True):
    """Set ``keyword`` of the map at ``pointer`` in document ``index`` to ``value``; ABSENT removes it."""

    index: int
    pointer: Pointer
    keyword: str
    value: Any


_Pair = tuple[Node, Node]
"""A key and its value."""


class _Text(Struct, frozen=True):
    """The lines of a file, each with its end, and the number of lines before the document that the nodes are of."""

    lines: list[str]
    before: int

    def line(self, node: Node) -> int:
        """The index of the line where a node starts."""
        return self.before + int(node.start_mark.line)

    def start(self, node: Node) -> int:
        """The offset of a node."""
        return self._offset(node.start_mark.line, node.start_mark.column)

    def end(self, node: Node) -> int:
        """The offset behind a node that is not in block style."""
        return self._offset(node.end_mark.line, node.end_mark.column)

    def between(self, parent: Node, first: Node) -> str:
        """What separates members in flow style, as before the first one: a new line and its indentation, or a space."""
        lead = "".join(self.lines)[self.start(parent) + 1 : self.start(first)]
        return lead if "\n" in lead and not lead.strip() else " "

    def with_part(self, start: int, end: int, part: str) -> str:
        """The text with another part from ``start`` to ``end``."""
        whole = "".join(self.lines)
        return whole[:start] + part + whole[end:]

    def _offset(self, line: int, column: int) -> int:
        return sum(map(len, self.lines[: self.before + line])) + column


def apply_settings(data: bytes, settings: Sequence[Setting]) -> bytes:
    """The bytes of the file with all settings applied.

    Raises LookupError if a setting leads to no map, or into a List that cannot be edited.
    """
    values = _values(data)
    edited = data
    for setting in settings:
        item = next((at for at in values if at[0] == setting.index and setting.pointer[: len(at[1])] == at[1]), None)
        if item is None:
            raise LookupError(setting.index)
        pointer = setting.pointer[len(item[1]) :]
        before = value_at(values[item], pointer).get(setting.keyword)
        values[item] = with_value(values[item], (*pointer, setting.keyword), setting.value)
        edited = _edit(edited, setting, before)
    if _values(edited) == values:
        return edited
    if any(pointer for _, pointer in values):
        raise LookupError
    return _rewritten(data, [*values.values()])


def _values(data: bytes) -> dict[tuple[int, Pointer], Any]:
    """The documents and the items of Lists, by index and pointer."""
    found = (item for item in read_documents(data, "") if isinstance(item, Document))
    return {(item.index, item.pointer): item.data for item in found}


def _edit(data: bytes, setting: Setting, before: Any) -> bytes:
    """The bytes with one setting applied; ``before`` is the value of the keyword, None if it is not there."""
    found = value_node(data, setting.index, setting.pointer)
    if found is None or not isinstance(found[1], MappingNode):
        return data
    text, parent = _Text(data.decode("utf-8").splitlines(keepends=True), found[0]), found[1]
    pair = next((each for each in parent.value if node_key(each[0]) == setting.keyword), None)
    if setting.value is ABSENT:
        if pair is None:
            return data
        without = _without_in_flow if parent.flow_style else _without_in_block
        return without(text, parent, pair).encode()
    if pair is None:
        add = _added_in_flow if parent.flow_style else _added_in_block
        return add(text, parent, setting).encode()
    return _changed(text, pair, setting, _gained(before, setting.value)).encode()


def _gained(before: Any, after: Any) -> list[Any]:
    """The items that a list gains at its end; none if the change is not such a one."""
    if not isinstance(before, list) or not isinstance(after, list) or after[: len(before)] != before:
        return []
    return after[len(before) :] if before else []


# -- flow style: the characters of a value --------------------------------------------------------


def _changed(text: _Text, pair: _Pair, setting: Setting, gained: Sequence[Any]) -> str:
    """The text with another value; ``gained`` items follow those that are there."""
    key, node = pair
    if isinstance(node, ScalarNode) and node.style not in ("|", ">") and node.start_mark.line == node.end_mark.line:
        return text.with_part(text.start(node), text.end(node), _flow(setting.value, node))
    if not (isinstance(node, CollectionNode) and node.flow_style):
        return _changed_in_block(text, key, node, setting, gained)
    if gained and isinstance(node, SequenceNode):
        between, end = text.between(node, node.value[0]), text.end(node.value[-1])
        return text.with_part(end, end, "".join(f",{between}{_flow(item, node.value[0])}" for item in gained))
    return text.with_part(text.start(node), text.end(node), _flow(setting.value, node))


def _added_in_flow(text: _Text, parent: MappingNode, setting: Setting) -> str:
    first = text.start(parent) + 1
    if not parent.value:
        return text.with_part(first, first, f"{setting.keyword}: {_flow(setting.value, parent)}")
    key = parent.value[0][0]
    member, at = f"{_flow(setting.keyword, key)}: {_flow(setting.value, key)},", text.start(key)
    return text.with_part(at, at, member + text.between(parent, key))


def _without_in_flow(text: _Text, parent: MappingNode, pair: _Pair) -> str:
    at = parent.value.index(pair)
    start = text.end(parent.value[at - 1][1]) if at else text.start(pair[0])
    following = parent.value[1:2] if at == 0 else []
    return text.with_part(start, text.start(following[0][0]) if following else text.end(pair[1]), "")


def _flow(value: Any, like: Node) -> str:
    """A value in flow style, as JSON if the texts of ``like`` are in double quotes."""
    if _is_quoted(like):
        return json.dumps(value, ensure_ascii=False)
    text: str = yaml.safe_dump([value], default_flow_style=True, width=1_000_000, allow_unicode=True, sort_keys=False)
    return text.strip()[1:-1]


def _is_quoted(node: Node) -> bool:
    """Whether a text, or each text in a map or list, is in double quotes."""
    if isinstance(node, ScalarNode):
        return bool(node.style == '"')
    parts = [each for pair in node.value for each in pair] if isinstance(node, MappingNode) else node.value
    texts = [each for each in parts if isinstance(each, ScalarNode) and each.tag.endswith(":str")]
    return bool(texts) and all(each.style == '"' for each in texts)


# -- block style: the lines of a key --------------------------------------------------------------


def _changed_in_block(text: _Text, key: Node, node: Node, setting: Setting, gained: Sequence[Any]) -> str:
    lines, first, column = text.lines, text.line(key), key.start_mark.column
    if gained and not any(isinstance(item, (dict, list)) for item in gained):
        last = node.value[-1]
        number = text.line(last)
        lead = lines[number][: last.start_mark.column]
        if isinstance(last, ScalarNode) and last.end_mark.line == last.start_mark.line and lead.strip() == "-":
            more = [f"{lead}{_flow(item, last)}\n" for item in gained]
            return "".join([*lines[: number + 1], *more, *lines[number + 1 :]])
    written = _block(setting.keyword, setting.value, column)
    written[0] = lines[first][:column] + written[0][column:]
    return "".join([*lines[:first], *written, *lines[_end(lines, first, column) :]])


def _added_in_block(text: _Text, parent: MappingNode, setting: Setting) -> str:
    """Before the first member, or, if that stands behind a dash, after it."""
    key = parent.value[0][0]
    lines, first, column = text.lines, text.line(key), key.start_mark.column
    if lines[first][:column].strip():
        first = _end(lines, first, column)
    return "".join([*lines[:first], *_block(setting.keyword, setting.value, column), *lines[first:]])


def _without_in_block(text: _Text, parent: MappingNode, pair: _Pair) -> str:
    lines, first, column = text.lines, text.line(pair[0]), pair[0].start_mark.column
    last, lead = _end(lines, first, column), lines[first][:column]
    if len(parent.value) == 1:
        return "".join([*lines[:first], f"{lead}{{}}\n", *lines[last:]])
    if lead.strip():  # the next member takes the place behind the dash
        return "".join([*lines[:first], lead + lines[last][column:], *lines[last + 1 :]])
    return "".join([*lines[:first], *lines[last:]])


def _end(lines: list[str], first: int, column: int) -> int:
    """The index of the line after a key's value: it starts at the key's column or left of it, and is no list item."""
    for number in range(first + 1, len(lines)):
        text = lines[number]
        stripped = text.strip()
        if not stripped:
            continue
        indent = len(text) - len(text.lstrip(" "))
        if indent < column or (indent == column and not stripped.startswith("- ")):
            return number
    return len(lines)


def _block(keyword: str, value: Any, column: int) -> list[str]:
    text = yaml.safe_dump({keyword: value}, sort_keys=False, default_flow_style=False, width=10_000, allow_unicode=True)
    return [" " * column + line for line in text.splitlines(keepends=True)]


def _rewritten(data: bytes, documents: Sequence[Any]) -> bytes:
    if data.lstrip()[:1] in (b"{", b"["):
        return (json.dumps(documents[0], indent=2, ensure_ascii=False) + "\n").encode()
    return yaml.safe_dump_all(documents, sort_keys=False, width=10_000, allow_unicode=True).encode()
