"""What a change takes from everybody who uses a field: each value, or each change of a value.

Most rejections concern some values alone, and only if somebody writes one. These concern every user of the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, permutations
from typing import Any

from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.mentions import mentions
from crdcompat.candidates.sample import values
from crdcompat.candidates.variants import distinct, variants
from crdcompat.compare.changes import Change
from crdcompat.compare.facets.cel import OF_UPDATES
from crdcompat.compare.site import WriterReader
from crdcompat.schema.enums import enum_members
from crdcompat.schema.paths import node_at, with_value
from crdcompat.schema.structural import ABSENT, RULES, Node
from crdcompat.vocabulary import Direction

#: Values of a field that are combined, and members of an object that are looked at.
_MAX_VALUES, _MAX_MEMBERS = 5, 8


def shares_no_value(change: Change, pair: WriterReader) -> bool:
    """Whether neither side accepts a value of the other, where one of them lists its values."""
    writer, reader = (node_at(side.node, change.path) for side in (pair.writer, pair.reader))
    if writer is None or reader is None or change.of_crd:
        return False
    for listing, other, server in ((writer, reader, pair.reader.server), (reader, writer, pair.writer.server)):
        members = enum_members(listing)
        if members:
            judge = NodeJudge(other, server)
            return not any(judge.accepts(member) for member in members if member is not None)
    return False


def freezes(change: Change, direction: Direction, pair: WriterReader) -> bool:
    """Whether the reader's new transition rules refuse every change of the field, or of one of its members."""
    rules = change.old if direction == Direction.ROLLBACK else change.new
    node, reader = (node_at(side.node, change.path) for side in (pair.writer, pair.reader))
    if change.kind not in OF_UPDATES or node is None or reader is None or not isinstance(rules, list):
        return False
    ruled = Node({**{key: value for key, value in reader.raw.items() if key != RULES}, RULES: rules})
    judge = NodeJudge(ruled, pair.reader.server)
    return any(_is_frozen(made, judge) for made in _changing(node, ruled))


def _is_frozen(made: Iterable[Any], judge: NodeJudge) -> bool:
    """Whether the rules refuse each change from one of these values to another one."""
    known = [*islice(filter(judge.accepts, distinct(made)), _MAX_VALUES)]
    return len(known) > 1 and all(judge.breaks_rules(new, old) for old, new in permutations(known, 2))


def _changing(node: Node, ruled: Node) -> Iterator[Iterable[Any]]:
    """Values of the field that differ; then, for each member that the rules mention, values that differ in it alone."""
    if node.type != "object":
        yield variants(node)
        return
    plain = next(iter(variants(node)), ABSENT)
    for mention in mentions(ruled)[:_MAX_MEMBERS]:
        member = mention.at(node)
        if plain is not ABSENT and member is not None and member.type != "object":
            yield (with_value(plain, mention.member, value) for value in values(member))
