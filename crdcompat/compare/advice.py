"""Advice on new fields of status, while they are still easy to change: nothing breaks yet.

The first release of a field decides what its later changes cost. Controllers write status without being asked, so a
value that a later release adds to a closed enum is refused after a rollback; so is an object without a field that was
required once; and a list without keys is refused as a whole, because the server cannot know which items were there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crdcompat.compare.changes import Change
from crdcompat.compare.crd_facets.status import ENUM, LIST, REQUIRED
from crdcompat.compare.result import Judged
from crdcompat.compare.witness import Witness
from crdcompat.schema.paths import ITEM, VALUE, Pointer, SchemaPath, node_at, render, schema_pointer
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect, Owner, Side

#: The reason why advice has no example object.
NOTHING_YET = "advice: nothing is refused yet"
#: The members that identify metav1.Condition, whose enum and required members are the same in every CRD.
_CONDITION = frozenset({"type", "status", "lastTransitionTime"})
_MAX_DEPTH = 32
#: Kind of change, path, pointer inside the schema.
_Place = tuple[str, SchemaPath, Pointer]


def judge_new_status(judged: Iterable[Judged], directions: Sequence[Direction]) -> Iterator[Judged]:
    """Advice on the fields that the ``judged`` changes add to status, or newly require there.

    One result for each new field and kind of advice, whatever the number of places below the field.
    """
    if Direction.ROLLBACK not in directions:
        return
    for item in judged:
        change = item.change
        if change.owner != Owner.STATUS or change.of_crd:
            continue
        if change.kind == "property.added" and item.direction == Direction.ROLLBACK:
            yield from _advice(item, _places_in(item))
        elif change.kind == "required.added" and _is_upgrade(item) and not _has_to_be(item):
            yield from _advice(item, ((REQUIRED, change.path, change.new_at),))


def _node(item: Judged, path: SchemaPath) -> Node | None:
    return node_at(item.occurrences[0].at(Side.NEW)[0].version.node, path)


def _is_upgrade(item: Judged) -> bool:
    """Whether an upgrade meets the change inside one version: a version that OLD alone has shows nothing new of NEW."""
    return item.direction == Direction.UPGRADE and not item.occurrences[0].written_as


def _has_to_be(item: Judged) -> bool:
    """Whether the newly required field is a key of its list, or a member of every condition."""
    *above, name = item.change.path
    parent, holder = _node(item, tuple(above)), _node(item, tuple(above[:-1]))
    is_key = holder is not None and holder.type == "array" and name in holder.list_keys
    return is_key or (parent is not None and parent.properties.keys() >= _CONDITION)


def _places_in(item: Judged) -> Iterable[_Place]:
    field = _node(item, item.change.path)
    return () if field is None else _walk(field, item.change.path, _MAX_DEPTH)


def _walk(node: Node, path: SchemaPath, depth: int) -> Iterator[_Place]:
    """The places in a new field for which advice is due, from the top down."""
    at = schema_pointer(path)
    if not depth or node.properties.keys() >= _CONDITION:
        return
    if node.enum:
        yield ENUM, path, (*at, "enum")
    items, values = node.items, node.additional
    if node.type == "array" and items is not None:
        if (
            items.type == "object"
            and not items.properties.keys() >= _CONDITION
            and "x-kubernetes-list-type" not in node.raw
        ):
            yield LIST, path, at
        yield from _without_keys(_walk(items, (*path, ITEM), depth - 1), (*path, ITEM), node.list_keys)
    if isinstance(values, Node):
        yield from _walk(values, (*path, VALUE), depth - 1)
    for name, member in node.properties.items():
        if name in node.required:
            yield REQUIRED, (*path, name), (*at, "required")
        yield from _walk(member, (*path, name), depth - 1)


def _without_keys(places: Iterable[_Place], above: SchemaPath, keys: Sequence[str]) -> Iterator[_Place]:
    """The places without the keys of a list, which have to be required."""
    named = {(*above, key) for key in keys}
    return (place for place in places if place[0] != REQUIRED or place[1] not in named)


def _advice(item: Judged, places: Iterable[_Place]) -> Iterator[Judged]:
    """The advice for the places; nothing that was found out about the effect of ``item`` holds for it.

    The effect is that of an upgrade to NEW, or of a rollback to OLD. The advice is about later rollbacks to NEW.
    """
    by_kind: dict[str, list[_Place]] = {}
    for place in places:
        by_kind.setdefault(place[0], []).append(place)
    for kind, found in by_kind.items():
        _, path, at = found[0]
        paths = [render(each) for _, each, _ in found]
        yield Judged(
            change=Change(kind, path, None, paths, old_at=item.change.old_at, new_at=at),
            direction=Direction.ROLLBACK,
            effect=Effect.NONE,
            witness=Witness(None, reason=NOTHING_YET),
            labels=(),
            windows=(Effect.NONE, Effect.NONE),
            crd=item.crd,
            kind=item.kind,
            version=item.version,
            occurrences=item.occurrences,
        )
