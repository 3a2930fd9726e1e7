"""What a change takes from everybody who uses a field: each value, or each change of a value.

Most rejections concern some values alone, and only if somebody writes one. These concern every user of the field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice, permutations
from typing import Any

from crdcompat.candidates.local import NodeJudge, shape
from crdcompat.candidates.mentions import mentions
from crdcompat.candidates.small_values import distinct, variants
from crdcompat.compare.changes import Change
from crdcompat.compare.facets.cel import OF_UPDATES
from crdcompat.compare.site import WriterReader
from crdcompat.schema.listed_values import enum_members
from crdcompat.schema.paths import is_within, with_value
from crdcompat.schema.structural import RULES, Node
from crdcompat.vocabulary import Direction

#: Values of a field that are combined, members of an object that are looked at, and values of the rest of the object.
_MAX_VALUES, _MAX_MEMBERS, _MAX_BASES = 5, 8, 12


def shares_no_value(change: Change, pair: WriterReader) -> bool:
    """Whether neither side accepts a value of the other, where one of them lists its values.

    Where a side accepts none of the values that it lists, as in an enum of a list that was meant for its items, nobody
    used the field.
    """
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None or change.of_crd:
        return False
    sides = (writer, pair.writer.server), (reader, pair.reader.server)
    for (listing, server), (other, others_server) in (sides, reversed(sides)):
        members = [each for each in enum_members(listing) or () if each is not None]
        if any(map(NodeJudge(listing, server).accepts, members)):
            return not any(map(NodeJudge(other, others_server).accepts, members))
    return False


def freezes(change: Change, direction: Direction, pair: WriterReader) -> bool:
    """Whether the reader's new transition rules refuse every change of the field, or of one of its members.

    Changes that the writer refuses do not count, and rules below the field are not new.
    """
    rules = change.old if direction == Direction.ROLLBACK else change.new
    node, reader = pair.nodes(change.path)
    if change.kind not in OF_UPDATES or node is None or reader is None or not isinstance(rules, list):
        return False
    ruled = Node({**{key: value for key, value in reader.raw.items() if key != RULES}, RULES: rules})
    accepts = NodeJudge(ruled, pair.reader.server).accepts
    new = NodeJudge(Node({**shape(ruled.raw), RULES: rules}), pair.reader.server)
    old = NodeJudge(node, pair.writer.server)
    return any(_is_frozen(made, accepts, old, new) for made in _changing(node, ruled))


def _is_frozen(made: Iterable[Iterable[Any]], accepts: Callable[[Any], bool], old: NodeJudge, new: NodeJudge) -> bool:
    """Whether ``new`` rules refuse each change from one value to another one of a group that ``old`` ones accept."""
    known = ([*islice(filter(accepts, distinct(group)), _MAX_VALUES)] for group in made)
    changes = (change for group in known for change in permutations(group, 2) if not old.breaks_rules(*change))
    first = next(changes, None)
    return first is not None and all(new.breaks_rules(*change) for change in chain([first], changes))


def _changing(node: Node, ruled: Node) -> Iterator[Iterable[Iterable[Any]]]:
    """Values of the field that differ. Of an object: in any member, then in one member that the rules mention.

    The values come in groups, with other values of the rest in each: a rule may refuse changes only under some. Those
    that the rules name are tried first: one of them may be what can be changed.
    """
    mentioned = mentions(ruled)[:_MAX_MEMBERS]
    if node.type != "object":
        yield [chain(*(each.values for each in mentioned), variants(node))]
        return
    bases = [base for base in islice(variants(ruled), _MAX_BASES) if isinstance(base, dict)]
    few = [((name,), value) for name, member in node.properties.items() for value in islice(variants(member), 2)]
    yield ((with_value(base, *each) for each in few) for base in bases)
    for mention in mentioned:
        if mention.member and (member := mention.at(node)) is not None:
            made = [*mention.values, *islice(variants(member), 2 * _MAX_VALUES)]
            fitting = (base for base in bases if is_within(base, mention.member))
            yield ((with_value(base, mention.member, value) for value in made) for base in fitting)
