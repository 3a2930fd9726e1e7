"""Limits of a YAML document after the expansion of aliases: nine hostile lines can expand to a billion nodes."""

from __future__ import annotations

from collections.abc import Iterator

from yaml.constructor import ConstructorError
from yaml.nodes import MappingNode, Node, ScalarNode

MAX_DEPTH = 200
"""Levels of nesting after the expansion of aliases. The deepest CRD of openshift/api has 25."""

MAX_NODES = 1_000_000
"""Nodes of one stream (45 MB of CRDs), and of one document after the expansion of aliases."""

TOO_DEEP = f"nested deeper than {MAX_DEPTH} levels"
TOO_MANY = f"more than {MAX_NODES} nodes"
_BOMB = f"its aliases expand to more than {MAX_NODES} nodes"
_SCALAR_UNIT = 64  # characters: a scalar counts as one node for each


def refuse_bomb(root: Node) -> None:
    """Check the nodes and levels of a document after the expansion of aliases, in time linear in its text.

    Raises ConstructorError if there are too many, or if an anchor contains itself. After this check, the value can be
    built as a tree, with a separate object for each use of an alias.
    """
    done: dict[int, tuple[int, int]] = {}
    above: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, children_done = stack.pop()
        name = id(node)
        if children_done:
            above.discard(name)
            counts = [done[id(child)] for child in _children(node)]
            size = 1 + sum(size for size, _ in counts)
            depth = 1 + max((depth for _, depth in counts), default=0)
            if size > MAX_NODES or depth > MAX_DEPTH:
                message = _BOMB if size > MAX_NODES else TOO_DEEP
                raise ConstructorError(None, None, message, node.start_mark)
            done[name] = size, depth
        elif name in above:
            raise ConstructorError(None, None, "an anchor contains itself", node.start_mark)
        elif name not in done:
            if isinstance(node, ScalarNode):
                done[name] = 1 + len(node.value) // _SCALAR_UNIT, 0
            else:
                above.add(name)
                stack.append((node, True))
                stack.extend((child, False) for child in _children(node))


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, MappingNode):
        for pair in node.value:
            yield from pair
    else:
        yield from node.value
