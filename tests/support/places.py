"""Places in a document, compared between two readers."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from crdcompat.yaml.documents import Document, read_documents
from crdcompat.yaml.locate import locate


def pointers(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    yield at
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for part, member in members:
        yield from pointers(member, (*at, part))


def agree(data: bytes, chosen: int | None = None) -> int:
    """Compare all places, or ``chosen`` random ones; returns the number of known ones."""
    known = 0
    for document in read_documents(data, "f"):
        assert isinstance(document, Document)
        if document.positions is None:
            continue
        wanted = list(pointers(document.data))
        if chosen is not None:
            wanted = random.Random(0).sample(wanted, min(chosen, len(wanted)))
        wanted += [(*wanted[-1], "missing"), (*wanted[-1], 99), (*wanted[0], -1), ("nothing", "below")]
        places = document.positions.find(document.data, wanted)
        found = locate(data, ((document.index, pointer) for pointer in wanted))
        assert places == {pointer: found[document.index, pointer] for pointer in wanted}
        known += len(places)
    return known
