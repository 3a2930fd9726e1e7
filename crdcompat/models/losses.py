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


def general_path(path: str) -> str:
    """The path with ``[*]`` for each item of a list."""
    return _ITEM.sub("[*]", path)


class LossCounter:
    """Counts the fields that objects lose; memory grows with distinct fields, not with objects.

    ``most`` limits the number of fields, because a key of a map makes a path of its own. ``has_more``: some are not
    listed.
    """

    def __init__(self, most: int | None = None) -> None:
        self._found: dict[tuple[str, str], Loss] = {}
        self._most = most
        self.has_more = False

    def add(self, crd: str, kind: str, label: str, paths: Sequence[str]) -> None:
        """Count the fields of one object; ``label`` names it."""
        for path in dict.fromkeys(map(general_path, paths)):
            if (crd, path) not in self._found and len(self._found) == self._most:
                self.has_more = True
                continue
            loss = self._found.setdefault((crd, path), Loss(crd, kind, path, 0, label))
            loss.objects += 1

    def losses(self) -> list[Loss]:
        """All fields, those of most objects first."""
        return sorted(self._found.values(), key=lambda loss: (-loss.objects, loss.crd, loss.path))


def losses(report: SimulationReport) -> list[Loss]:
    """The fields that the next accepted write erases; those of most objects first."""
    return _counted((item, item.pruned) for item in report.objects if _loses(item))


def not_stored(report: SimulationReport) -> list[Loss]:
    """The recorded fields that the writing release prunes as well; those of most objects first."""
    return _counted((item, item.not_stored) for item in report.objects)


def _counted(items: Iterable[tuple[SimulatedObject, Sequence[str]]]) -> list[Loss]:
    counter = LossCounter()
    for item, paths in items:
        counter.add(item.crd, item.kind, item.label, paths)
    return counter.losses()


def _loses(item: SimulatedObject) -> bool:
    return any(write.verdict == WriteResult.LOSES_DATA for write in item.writes.values())
