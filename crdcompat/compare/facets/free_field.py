"""Fields that one side declares and the other preserves as unknown fields.

A node that preserves unknown fields accepts any value of any name. Where the reader declares a field, it validates,
prunes and defaults the stored value for the first time (docs/semantics.md#pruning).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import sample
from crdcompat.candidates.strings import POOL
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, WaivedBy, explains_below
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader, summary
from crdcompat.schema.paths import node_at
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

#: The facet ``property`` has the keyword ``properties``; the two share the differing names.
KEYWORDS: frozenset[str] = frozenset()
_ALL = (Effect.WRITE_REJECTED, Effect.VALUE_PRUNED, Effect.VALUE_DEFAULTED)
EFFECTS = {
    "free-field.declared": Effects(upgrade=_ALL),
    "free-field.undeclared": Effects(rollback=_ALL),
}
#: The path names the added or removed property, which is the whole change.
_WAIVED_BY = dict.fromkeys(EFFECTS, WaivedBy.PLACE)

_FREE = "any value"
#: A value of every JSON type.
_PLAIN: tuple[Any, ...] = ("a", 1, True, {}, [], 0.5, ["a"], [{}], {"crdcompatUnknown": "a"}, -(2**40))
_MAX_TRIALS, _MAX_NESTED, _MAX_MEMBERS, _MAX_DEPTH = 4, 40, 8, 3


def changes(site: Site) -> Iterator[Change]:
    if site.reshaped:
        return
    old, new = site.old.properties, site.new.properties
    for name in sorted(new.keys() - site.old.members.keys()) if site.old.preserve else ():
        at = site.old_at, (*site.new_at, "properties", name)
        yield Change("free-field.declared", (*site.path, name), _FREE, summary(new[name]), (), (), *at)
    for name in sorted(old.keys() - site.new.members.keys()) if site.new.preserve else ():
        at = (*site.old_at, "properties", name), site.new_at
        yield Change("free-field.undeclared", (*site.path, name), summary(old[name]), _FREE, (), (), *at)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values that the writer preserves unchecked; the parent without the field if the reader has a default."""
    field = node_at(pair.reader.node, change.path)
    if field is None:
        return Trials((), complete=True)
    judge = NodeJudge(field, pair.reader.server)
    values: list[Any] = list(islice((value for value in _any_value(field, 0) if not judge.accepts(value)), _MAX_TRIALS))
    values += [value for value in _any_value(field, 0) if isinstance(value, (dict, list))][:_MAX_NESTED]
    if field.default is not ABSENT:
        values.append(ABSENT)
    return Trials(tuple(Trial(value, change.path) for value in values))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    if effect == Effect.WRITE_REJECTED:
        return observed.rejects_below()
    return observed.prunes() if effect == Effect.VALUE_PRUNED else observed.defaults()


def _any_value(node: Node, depth: int) -> Iterator[Any]:
    """Values of all types, and objects and lists of them where the node declares members or items."""
    yield from _PLAIN
    if depth < _MAX_DEPTH:
        base = sample(node)
        whole = base if isinstance(base, dict) else {}
        for name, member in islice(node.properties.items(), _MAX_MEMBERS):
            yield from ({**whole, name: value} for value in _any_value(member, depth + 1))
        if node.items is not None:
            yield from ([value] for value in _any_value(node.items, depth + 1))
        if isinstance(node.additional, Node):
            yield from ({"key": value} for value in _any_value(node.additional, depth + 1))
    yield from POOL


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, waived_by=_WAIVED_BY, explains=explains_below)
