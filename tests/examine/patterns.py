"""A pattern as a regular expression of the solver, from the program's own syntax tree of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import z3
from symbols import UntranslatedError

from crdcompat.schema.regex.nodes import Alternate, Assert, Assertion, Chars, Concat, Node, Repeat
from crdcompat.schema.regex.open_questions import Unsupported
from crdcompat.schema.regex.syntax_tree import parse

#: The last character of the solver's strings.
_LAST = 0x2FFFF
_STRINGS = z3.ReSort(z3.StringSort())


@cache
def searched(pattern: str) -> Any:
    """The texts in which a pattern finds a match. Raises UntranslatedError."""
    try:
        tree = parse(pattern)
    except Unsupported as error:
        raise UntranslatedError(str(error)) from None
    return _whole(tree, begins=False, ends=False)


def _whole(node: Node, *, begins: bool, ends: bool) -> Any:
    """The texts with a match: any text before and after it, where the pattern does not say that it begins or ends."""
    if isinstance(node, Alternate):
        return z3.Union(*(_whole(item, begins=begins, ends=ends) for item in node.items))
    items = list(node.items) if isinstance(node, Concat) else [node]
    while items and isinstance(items[0], Assert) and items[0].assertion is Assertion.BEGIN_TEXT:
        begins, items = True, items[1:]
    while items and isinstance(items[-1], Assert) and items[-1].assertion is Assertion.END_TEXT:
        ends, items = True, items[:-1]
    if len(items) == 1 and isinstance(items[0], Alternate):
        return _whole(items[0], begins=begins, ends=ends)
    every = z3.Full(_STRINGS)
    return _joined([*([] if begins else [every]), *map(_part, items), *([] if ends else [every])])


def _part(node: Node) -> Any:
    if isinstance(node, Chars):
        ranges = [z3.Range(chr(low), chr(min(high, _LAST))) for low, high in node.chars if low <= _LAST]
        return z3.Union(*ranges) if len(ranges) > 1 else ranges[0] if ranges else z3.Empty(_STRINGS)
    if isinstance(node, Concat):
        return _joined([_part(item) for item in node.items])
    if isinstance(node, Alternate):
        return z3.Union(*map(_part, node.items))
    if isinstance(node, Repeat):
        item = _part(node.item)
        if node.most is not None:
            return z3.Loop(item, node.least, node.most) if node.most else z3.Re("")
        return z3.Concat(z3.Loop(item, node.least, node.least), z3.Star(item)) if node.least else z3.Star(item)
    raise UntranslatedError("an assertion inside a pattern")


def _joined(parts: list[Any]) -> Any:
    return z3.Concat(*parts) if len(parts) > 1 else parts[0] if parts else z3.Re("")
