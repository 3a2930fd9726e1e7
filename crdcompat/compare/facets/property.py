"""Properties that only one side has: one change per topmost added or removed property.

The server prunes an unknown field at every read, and the next write of any kind removes it from storage. A new field
with a default appears on objects that never had it (docs/semantics.md#decoding).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, takewhile

from crdcompat.candidates.sample import values
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, WaivedBy
from crdcompat.compare.resource_fields import is_resource
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader, summary
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.paths import ITEM, SchemaPath, node_at
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"properties"})
EFFECTS = {
    # Without a default a new field does not affect objects that lack it: see ``trials``.
    "property.added": Effects(rollback=(Effect.VALUE_PRUNED,), upgrade=(Effect.VALUE_DEFAULTED,)),
    "property.removed": Effects(rollback=(Effect.VALUE_DEFAULTED,), upgrade=(Effect.VALUE_PRUNED,)),
}
#: The path names the added or removed property, which is the whole change.
_WAIVED_BY = dict.fromkeys(EFFECTS, WaivedBy.PLACE)

_MAX_TRIALS = 4


def changes(site: Site) -> Iterator[Change]:
    if site.reshaped:
        return
    old, new = site.old.properties, site.new.properties
    # Where the side without the field preserves unknown fields, the facet ``free_field`` reports the change.
    for name in sorted(new.keys() - site.old.members.keys()) if not site.old.preserve else ():
        at = (*site.new_at, "properties", name)
        shown = summary(new[name])
        yield Change("property.added", (*site.path, name), None, shown, added=(name,), old_at=site.old_at, new_at=at)
    for name in sorted(old.keys() - site.new.members.keys()) if not site.new.preserve else ():
        at = (*site.old_at, "properties", name)
        shown = summary(old[name])
        yield Change(
            "property.removed",
            (*site.path, name),
            shown,
            None,
            removed=(name,),
            old_at=at,
            new_at=site.new_at,
        )


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values of the property to prove pruning; to prove defaulting, the parent without the property."""
    above = change.path[:-1]
    if EFFECTS[change.kind].towards(direction) == (Effect.VALUE_DEFAULTED,):
        field = node_at(pair.reader.node, change.path)
        if field is None or field.default is ABSENT:
            return Trials((), complete=True)
        return Trials((Trial(ABSENT, change.path),), complete=True)
    field = node_at(pair.writer.node, change.path)
    if field is None or keeps_unknown(pair.reader.node, above):
        return Trials((), complete=True)
    made = ValidValues(pair.writer.server)(field) if field.type in ("object", "array") else ABSENT
    found = values(field) if made is ABSENT else [made]
    return Trials(tuple(Trial(value, change.path) for value in islice(found, _MAX_TRIALS)))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.defaults() if effect == Effect.VALUE_DEFAULTED else observed.prunes()


def keeps_unknown(root: Node, path: SchemaPath) -> bool:
    """Whether a reader keeps undeclared members of the object at ``path``.

    The metadata of a resource are never pruned, and a list that preserves unknown fields preserves those of its items
    (docs/semantics.md#pruning).
    """
    if any(name == "metadata" and is_resource(root, path[:depth]) for depth, name in enumerate(path)):
        return True
    parent = node_at(root, path)
    if parent is None:
        return False
    lists = takewhile(lambda depth: path[depth] is ITEM, reversed(range(len(path))))
    holders = [parent, *(node for depth in lists if (node := node_at(root, path[:depth])) is not None)]
    return parent.additional is not None or any(node.preserve for node in holders)


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, looks_above=True, waived_by=_WAIVED_BY)
