"""The fields that recorded objects lose through an accepted write, summed up by kind and field."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.models.simulation import SimulatedObject, SimulationReport

_ITEM = re.compile(r"\[\d+\]")


class Loss(Struct):
    """A field that ``objects`` of one kind lose or do not store, and an example.

    ``[*]`` in a path is any item of a list.
    """

    crd: str
    kind: str
    path: str
    objects: int
    example: str


def losses(report: SimulationReport) -> list[Loss]:
    """The fields that the next accepted write erases; those of most objects first."""
    return _counted((item, item.pruned) for item in report.objects if _loses(item))


def not_stored(report: SimulationReport) -> list[Loss]:
    """The recorded fields that the writing release prunes as well; those of most objects first."""
    return _counted((item, item.not_stored) for item in report.objects)


def _counted(items: Iterable[tuple[SimulatedObject, Sequence[str]]]) -> list[Loss]:
    found: dict[tuple[str, str], Loss] = {}
    for item, paths in items:
        for path in dict.fromkeys(_ITEM.sub("[*]", path) for path in paths):
            loss = found.setdefault((item.crd, path), Loss(item.crd, item.kind, path, 0, item.label))
            loss.objects += 1
    return sorted(found.values(), key=lambda loss: (-loss.objects, loss.crd, loss.path))


def _loses(item: SimulatedObject) -> bool:
    return any(write.verdict == WriteResult.LOSES_DATA for write in item.writes.values())
