"""Where in a file a value stands: JSON pointers to lines and columns.

For any file, whatever was or was not kept when it was read (`positions`): one parse for all places of a file.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from yaml.nodes import MappingNode, SequenceNode

from crdcompat.sources.encoding import to_utf8
from crdcompat.yaml.json_streams import json_pieces
from crdcompat.yaml.loader import node_key
from crdcompat.yaml.positions import Place
from crdcompat.yaml.streams import Fault, compose_stream, yaml_pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from yaml.nodes import Node

    from crdcompat.schema.paths import Pointer


def locate(data: bytes, wanted: Iterable[tuple[int, Pointer]]) -> dict[tuple[int, Pointer], Place]:
    """Find the places of (document index, pointer into the document) in a file's bytes.

    The index is that of ``read_documents``. An entry of a map stands where its key does, an item of a
    list where the item starts; of a pointer whose tail is missing, the deepest part found counts. What
    stands behind an alias is found at its anchor. Documents that cannot be read are left out; nothing is
    raised, and the work is bounded by the text, not by what its aliases expand to.
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


def _roots(data: bytes) -> Iterator[tuple[int, Node | None]]:
    """Give each document's root node and the lines before the text it was read from; None if unreadable."""
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
    """Follow a pointer as far as it goes; the node that marks the place (a map entry's key)."""
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
