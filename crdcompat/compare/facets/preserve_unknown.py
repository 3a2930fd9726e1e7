"""Nodes that preserve unknown fields (docs/semantics.md#pruning)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.candidates.sample import sample
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, copy_from_new, explains_below
from crdcompat.compare.intersection import intersection
from crdcompat.compare.shapes import shows_shape
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.schema.structural import PRESERVE
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({PRESERVE})
EFFECTS = {
    "preserve-unknown.added": Effects(rollback=(Effect.VALUE_PRUNED, Effect.WRITE_REJECTED)),
    "preserve-unknown.removed": Effects(upgrade=(Effect.VALUE_PRUNED, Effect.WRITE_REJECTED)),
}

#: A member that no schema declares.
_MEMBER = "crdcompatUnknown"


def changes(site: Site) -> Iterator[Change]:
    old, new = site.old.preserve, site.new.preserve
    if old != new and not site.reshaped:  # the change of the type says that anything may be there
        yield site.change("preserve-unknown.added" if new else "preserve-unknown.removed", old, new, PRESERVE)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Objects with an undeclared member and what both sides require, and a list of one."""
    node, reader = pair.nodes(change.path)
    if node is None or reader is None:
        return Trials(())
    made = sample(intersection(node, reader, pair.writer.server))
    base = made if isinstance(made, dict) else {}
    values: list[Any] = [{**base, _MEMBER: {"a": "b"}}, [{_MEMBER: "a"}], {_MEMBER: "a"}]
    return Trials(tuple(Trial(value, change.path) for value in values))


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows_shape, widen=copy_from_new(KEYWORDS), explains=explains_below)
