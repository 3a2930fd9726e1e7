"""Find the lines and columns of JSON pointers in a file, with one parse for all pointers.

It works for any file, also without the `positions` that reading may record.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING

from yaml.nodes import MappingNode, Node, SequenceNode

from crdcompat.sources.encoding import to_utf8
from crdcompat.yaml.json_streams import json_pieces
from crdcompat.yaml.loader import node_key
from crdcompat.yaml.positions import Place
from crdcompat.yaml.streams import Fault, compose_stream, yaml_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.schema.paths import Pointer


def locate(data: bytes, wanted: Iterable[tuple[int, Pointer]]) -> dict[tuple[int, Pointer], Place]:
    """Find the places of (document index, pointer into the document) in a file's bytes.

    Documents are counted as by ``read_documents``. The place of a map entry is its key, the place of a list item its
    start. A pointer to a missing value gets the place of its deepest existing ancestor, a value behind an alias the
    place at the anchor. Documents that cannot be read are left out. Raises nothing; the work is linear in the text, not
    in the expansion of its aliases.
    """
    pointers: dict[int, list[Pointer]] = defaultdict(list)
    for index, pointer in wanted:
        pointers[index].append(pointer)
    found: dict[tuple[int, Pointer], Place] = {}
    if not pointers:
        return found
    for index, (lines_before, root) in enumerate(_roots(data)):
        if root is None:
            continue
        tables: dict[int, dict[str, tuple[Node, Node]]] = {}
        for pointer in pointers.get(index, ()):
            mark = _node_at(root, pointer, tables).start_mark
            found[index, pointer] = (lines_before + mark.line + 1, mark.column + 1)
    return found


def value_node(data: bytes, index: int, pointer: Pointer) -> tuple[int, Node] | None:
    """The node of a value in document ``index``, and the number of lines before the text that its marks are of.

    None if there is no such value. Raises nothing.
    """
    lines_before, node = next(islice(_roots(data), index, None), (0, None))
    for part in pointer:
        if isinstance(node, MappingNode):
            node = next((value for key, value in node.value if node_key(key) == part), None)
        elif isinstance(node, SequenceNode) and isinstance(part, int) and 0 <= part < len(node.value):
            node = node.value[part]
        else:
            return None
    return None if node is None else (lines_before, node)


def _roots(data: bytes) -> Iterator[tuple[int, Node | None]]:
    """For each document, the number of lines before its text, and its root node, None if it cannot be read."""
    try:
        text = to_utf8(data)
    except UnicodeError:
        return
    try:
        yield from ((0, root) for root in compose_stream(text))
        return
    except Fault as fault:
        if fault.final:
            return
    try:
        pieces = json_pieces(text) or yaml_pieces(text)
    except Fault:
        return
    for first_line, piece in pieces:
        try:
            roots: list[Node | None] = [*compose_stream(piece)]
        except Fault:
            roots = [None]
        yield from ((first_line - 1, root) for root in roots)


def _node_at(root: Node, pointer: Pointer, tables: dict[int, dict[str, tuple[Node, Node]]]) -> Node:
    """The node at the deepest existing ancestor of a pointer, for a map entry its key node."""
    place = node = root
    for part in pointer:
        if isinstance(node, MappingNode) and isinstance(part, str):
            if id(node) not in tables:
                tables[id(node)] = {name: pair for pair in node.value if (name := node_key(pair[0])) is not None}
            if part not in tables[id(node)]:
                break
            place, node = tables[id(node)][part]
        elif isinstance(node, SequenceNode) and isinstance(part, int) and 0 <= part < len(node.value):
            place = node = node.value[part]
        else:
            break
    return place
