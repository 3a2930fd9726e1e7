"""Colons at the end of plain scalars in ``[]`` and ``{}``: ``[1.2.3.4, 2001:db8::]``.

In Go's YAML reader the scalar ``2001:db8::`` ends at the bracket. libyaml refuses a colon before a bracket, a brace or
a comma. Such a text is read with another character in place of these colons; the values get the colons back.
"""

from __future__ import annotations

import re

from yaml.nodes import MappingNode, Node, ScalarNode

#: The problem that libyaml's scanner names.
UNEXPECTED_COLON = "found unexpected ':'"

#: After a quote or a bracket the colon separates key and value: ``{"a":[1]}``.
_LAST_COLONS = re.compile(rb"([^\s,\[\]{}\"':][ \t]*)(:+)(?=[,?\[\]{}])")
#: Characters of the private use areas: YAML allows them, and texts rarely have them.
_STAND_INS = tuple(map(chr, range(0xE000, 0xE100)))


def hide_colons(text: bytes) -> tuple[bytes, str]:
    """The UTF-8 text with the same number of characters, and the character for such colons: "" if there is none."""
    stand_in = next((each for each in _STAND_INS if each.encode() not in text), "")
    if not stand_in:
        return text, ""
    return _LAST_COLONS.sub(lambda match: match[1] + stand_in.encode() * len(match[2]), text), stand_in


def restore_colons(root: Node, stand_in: str) -> None:
    """Put the colons back into all scalars below a node, and look at a node behind aliases once."""
    pending, seen = [root], {id(root)}
    while pending:
        node = pending.pop()
        if isinstance(node, ScalarNode):
            node.value = node.value.replace(stand_in, ":")
            continue
        below = [part for pair in node.value for part in pair] if isinstance(node, MappingNode) else node.value
        fresh = [each for each in below if id(each) not in seen]
        seen.update(map(id, fresh))
        pending.extend(fresh)
