"""Fields that only one side requires (docs/semantics.md#properties-and-types).

A field with a default is never missing: the writer's server stores its default, and the reader's applies its own before
it validates.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, Widening, breaks
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.schema.paths import node_at, schema_pointer
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"required"})
EFFECTS = {
    "required.added": Effects(upgrade=(Effect.WRITE_REJECTED,)),
    "required.removed": Effects(rollback=(Effect.WRITE_REJECTED,)),
}


def changes(site: Site) -> Iterator[Change]:
    old, new = frozenset(site.old.required), frozenset(site.new.required)
    for kind, names in (("required.added", new - old), ("required.removed", old - new)):
        for name in sorted(names):
            yield Change(
                kind,
                (*site.path, name),
                name in old,
                name in new,
                old_at=(*site.old_at, "required") if site.old.required else site.old_at,
                new_at=(*site.new_at, "required") if site.new.required else site.new_at,
            )


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """The parent object without the field, or with the writer's default if the reader drops the field."""
    writer, reader = pair.nodes(change.path[:-1])
    name = str(change.path[-1])
    written, read = (side.properties.get(name) if side is not None else None for side in (writer, reader))
    if read is not None and read.default is not ABSENT:
        return Trials((), complete=True)
    if written is None or written.default is ABSENT:
        return Trials((Trial(ABSENT, change.path),), complete=True)
    if read is not None or (reader is not None and (reader.preserve or reader.additional)):
        return Trials((), complete=True)
    return Trials((Trial(written.default, change.path),))


def widen(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
    """OLD's list without the name. Several widenings of one list intersect."""
    above = change.path[:-1]
    parent = node_at(old, above)
    if parent is not None and node_at(new, above) is not None:
        kept = [name for name in parent.required if name != change.path[-1]]
        yield Widening(schema_pointer(above), "required", kept or ABSENT, _common)


def _common(first: list[str], second: list[str]) -> Any:
    return [name for name in first if name in second] or ABSENT


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, breaks(Keyword.REQUIRED), looks_above=True, widen=widen)
