"""The fields that recorded objects lose through an accepted write, summed up by kind and field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from crdcompat.models.simulation import SimulatedObject, SimulationReport

_ITEM = re.compile(r"\[\d+\]")


class Loss(Struct):
    """A field that ``objects`` of one kind lose, and an example; ``[*]`` in a path is any item of a list."""

    crd: str
    kind: str
    path: str
    objects: int
    example: str


def losses(report: SimulationReport) -> list[Loss]:
    """The fields that the next accepted write erases; those of most objects first."""
    found: dict[tuple[str, str], Loss] = {}
    for item in filter(_loses, report.objects):
        for path in dict.fromkeys(_ITEM.sub("[*]", path) for path in item.pruned):
            loss = found.setdefault((item.crd, path), Loss(item.crd, item.kind, path, 0, item.label))
            loss.objects += 1
    return sorted(found.values(), key=lambda loss: (-loss.objects, loss.crd, loss.path))


def _loses(item: SimulatedObject) -> bool:
    return any(write.verdict == WriteResult.LOSES_DATA for write in item.writes.values())
