"""Trials for list types and list keys: lists with items that are duplicates under only one of two schemas.

Servers tolerate duplicates that are already stored. They reject them when an object is created or restored, or when a
write adds them. Ratcheting and server-side apply use the same keys.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.apiserver.field_errors import DUPLICATE, INVALID
from crdcompat.apiserver.keywords import Keyword
from crdcompat.candidates.sample import list_of_size, sample, values
from crdcompat.candidates.unique_items import never_repeats
from crdcompat.compare.changes import Change
from crdcompat.compare.intersection import intersection
from crdcompat.compare.site import ReaderVerdict, Trial, Trials, WriterReader
from crdcompat.schema.paths import ITEM
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

_MAX_TRIALS = 4


def duplicate_trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Lists whose items are duplicates for the reader and distinct for the writer."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None or reader.list_type == "atomic" or writer.items is None:
        return Trials((), complete=reader is not None and reader.list_type == "atomic")
    if never_repeats(writer, reader):
        return Trials((), complete=True)
    items = writer.items if reader.items is None else intersection(writer.items, reader.items, pair.writer.server)
    made = islice(_doubles(items, writer, reader), _MAX_TRIALS)
    return Trials(tuple(Trial(value, change.path, at=(*change.path, ITEM)) for value in made))


def shows_duplicate(effect: Effect, observed: ReaderVerdict) -> bool:
    """Whether the reader rejects an item of the list."""
    place = observed.pointer[:-1] if observed.pointer[-1:] == (0,) else observed.pointer
    depth = len(place)
    return any(
        error.type in (DUPLICATE, INVALID)
        and error.keyword is Keyword.LIST_TYPE
        and error.pointer[:depth] == place
        and isinstance(next(iter(error.pointer[depth:]), None), int)
        for error in observed.verdict.errors
    )


def _doubles(items: Node, writer: Node, reader: Node) -> Iterator[list[Any]]:
    """Lists of two ``items``, which both sides accept by themselves."""
    if writer.list_type == "atomic":
        for value in islice(values(items), 2):
            yield [value, value]
        yield from _with_keys(items, writer, reader)
        return
    yield from _with_keys(items, writer, reader)
    found = list_of_size(writer, 2)
    if found is not ABSENT:
        yield found


def _with_keys(items: Node, writer: Node, reader: Node) -> Iterator[list[Any]]:
    """Lists of two ``items`` with equal values of the reader's keys and different values of another key or member."""
    base = sample(items)
    if reader.list_type != "map" or not isinstance(base, dict):
        return
    full = dict(base)
    for key in reader.list_keys:
        sub = items.properties.get(key)
        if key not in full and sub is not None and (value := sample(sub)) is not ABSENT:
            full[key] = value
    others = [key for key in writer.list_keys if key not in reader.list_keys] or list(items.properties)
    for key in others:
        sub = items.properties.get(key)
        two = list(islice(values(sub), 2)) if sub is not None and key not in reader.list_keys else []
        if len(two) == 2:
            yield [{**full, key: two[0]}, {**full, key: two[1]}]
    yield [full, full]
