"""Trials for types and maps: values of every shape that the writer allows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import sample, values
from crdcompat.candidates.small_values import every_value
from crdcompat.candidates.strings import POOL
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects
from crdcompat.compare.reading import takes_all
from crdcompat.compare.site import ReaderVerdict, Trial, Trials, WriterReader
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

#: Pruning removes the members of a value of another shape before validation rejects it.
SHAPE_EFFECTS = Effects(
    rollback=(Effect.WRITE_REJECTED, Effect.VALUE_PRUNED), upgrade=(Effect.WRITE_REJECTED, Effect.VALUE_PRUNED)
)

_PLAIN: tuple[Any, ...] = ("a", 1, 0.5, True, ["a"], [], {"a": "b"}, {})
_MAX_VALUES = 4


def shape_trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values that the writer's type allows; for objects also one with a key that only a map accepts."""
    node, reader = pair.nodes(change.path)
    if node is None:
        return Trials(())
    if reader is not None and takes_all(node, reader, prunes=pair.reader.crd.prunes):
        return Trials((), complete=True)
    if node.type == "object" and pair.writer.crd.prunes and (every := every_value(node)) is not None:
        return Trials(tuple(Trial(value, change.path) for value in every), complete=True)
    made: list[Any] = list(islice(values(node), _MAX_VALUES))
    if isinstance(node.additional, Node) and (value := sample(node.additional)) is not ABSENT:
        made.insert(0, {"key": value})
    elif node.additional is True or (node.preserve and node.type == "object"):
        made[:0] = [{"key": value} for value in ("a", 1, True)]
    made += _members(node, reader, pair)
    for name, sub in islice(node.properties.items(), _MAX_VALUES):
        if (value := sample(sub)) is not ABSENT:
            base = sample(node)
            made.append({**(base if isinstance(base, dict) else {}), name: value})
    if not node.types or node.type == "number" or node.int_or_string:
        made += _PLAIN
    distinct = {repr(value): value for value in made if value is not None}
    return Trials(tuple(Trial(value, change.path) for value in distinct.values()))


def shows_shape(effect: Effect, observed: ReaderVerdict) -> bool:
    """Whether the reader rejects the value or a part of it, or prunes it."""
    return observed.rejects_below() if effect == Effect.WRITE_REJECTED else observed.prunes()


def _members(writer: Node, reader: Node | None, pair: WriterReader) -> Iterator[dict[str, Any]]:
    """Objects of one member each, with a value that the writer accepts and the reader rejects."""
    if reader is None or "object" not in (*writer.types, *reader.types):
        return
    for name in islice(dict.fromkeys((*writer.properties, *reader.properties)), _MAX_VALUES):
        mine, theirs = writer.child(name), reader.child(name)
        if mine is None or theirs is None:
            continue
        written, read = NodeJudge(mine, pair.writer.server), NodeJudge(theirs, pair.reader.server)
        candidates = (*islice(values(mine), _MAX_VALUES), *_PLAIN, *POOL)
        refused = (value for value in candidates if written.accepts(value) and not read.accepts(value))
        yield from ({name: value} for value in islice(refused, 1))
