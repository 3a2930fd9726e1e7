"""Embedded resources: objects with a kind and metadata of their own (docs/semantics.md#embedded-resources)."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.keywords import Keyword
from crdcompat.candidates.sample import sample
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, copy_from_new, explains_below
from crdcompat.compare.resource_fields import OF_RESOURCES
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader
from crdcompat.vocabulary import Direction, Effect

_KEYWORD = "x-kubernetes-embedded-resource"
KEYWORDS = frozenset({_KEYWORD})
_BROKEN = (Keyword.EMBEDDED, Keyword.METADATA)
EFFECTS = {
    "embedded-resource.added": Effects(rollback=(Effect.VALUE_PRUNED,), upgrade=(Effect.WRITE_REJECTED,)),
    "embedded-resource.removed": Effects(rollback=(Effect.WRITE_REJECTED,), upgrade=(Effect.VALUE_PRUNED,)),
}


def changes(site: Site) -> Iterator[Change]:
    old, new = (side.raw.get(_KEYWORD) is True for side in (site.old, site.new))
    if old != new:
        yield site.change("embedded-resource.added" if new else "embedded-resource.removed", old, new, _KEYWORD)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Objects without and with the fields that an embedded resource requires."""
    node, read = pair.nodes(change.path)
    if node is None:
        return Trials(())
    loses = Effect.VALUE_PRUNED in EFFECTS[change.kind].towards(direction)
    if loses and read is not None and read.preserve and not OF_RESOURCES & read.properties.keys():
        return Trials((), complete=True)
    made = sample(node)
    base = made if isinstance(made, dict) else {}
    bare = {name: value for name, value in base.items() if name not in OF_RESOURCES}
    whole = {"apiVersion": "v1", "kind": "Example", "metadata": {"name": "example"}, **bare}
    return Trials(tuple(Trial(value, change.path) for value in (bare, whole)))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.prunes() if effect == Effect.VALUE_PRUNED else observed.breaks_below(*_BROKEN)


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=copy_from_new(KEYWORDS), explains=explains_below)
