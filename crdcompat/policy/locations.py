"""Where to look: file, line and column of a change on both sides; only files that findings name are composed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.manifests.locate import locate
from crdcompat.policy.findings import Location
from crdcompat.schema.paths import Pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.compare.result import Judged, Open
    from crdcompat.manifests.crdset import CrdSet
    from crdcompat.manifests.pairing import Chosen

_Spot = tuple[str, int, Pointer]  # file, document in the stream, pointer inside it


@dataclass(frozen=True, slots=True)
class Places:
    """Looked-up locations of both sides."""

    old: dict[_Spot, tuple[int, int]]
    new: dict[_Spot, tuple[int, int]]

    def of(self, item: Judged) -> tuple[Location, ...]:
        """Every place of a change: OLD's first, each file once."""
        change = item.change
        found = [
            self._location(side, chosen, at, absolute=change.of_crd)
            for side, at in (("old", change.old_at), ("new", change.new_at))
            for standing in item.standings
            for chosen in (standing.old if side == "old" else standing.new).everywhere()
        ]
        return tuple(dict.fromkeys(found))

    def of_open(self, item: Open) -> tuple[Location, ...]:
        """The places of an undecided difference."""
        found = []
        for side, chosen, at in (
            ("old", item.old, item.undecided.old_at),
            ("new", item.new, item.undecided.new_at),
        ):
            if chosen is not None:
                found.append(
                    self._location(side, chosen, at, absolute=not item.undecided.path and bool(at[:1] == ("spec",)))
                )
        return tuple(found)

    def _location(self, side: str, chosen: Chosen, at: Pointer, *, absolute: bool = False) -> Location:
        spot = _spot(chosen, at, absolute=absolute)
        line, column = (self.old if side == "old" else self.new).get(spot, (None, None))
        return Location(side, chosen.document.file, line, column)


def find_places(old: CrdSet, new: CrdSet, judged: Sequence[Judged], opened: Sequence[Open]) -> Places:
    """Look up all places of these results, one pass over each file."""
    wanted_old, wanted_new = [], []
    for item in judged:
        change = item.change
        for standing in item.standings:
            wanted_old += [_spot(each, change.old_at, absolute=change.of_crd) for each in standing.old.everywhere()]
            wanted_new += [_spot(each, change.new_at, absolute=change.of_crd) for each in standing.new.everywhere()]
    for entry in opened:
        absolute = not entry.undecided.path and entry.undecided.old_at[:1] == ("spec",)
        wanted_old += [_spot(entry.old, entry.undecided.old_at, absolute=absolute)] if entry.old else []
        absolute = not entry.undecided.path and entry.undecided.new_at[:1] == ("spec",)
        wanted_new += [_spot(entry.new, entry.undecided.new_at, absolute=absolute)] if entry.new else []
    return Places(_look_up(old, wanted_old), _look_up(new, wanted_new))


def _spot(chosen: Chosen, at: Pointer, *, absolute: bool = False) -> _Spot:
    document = chosen.document
    inside = at if absolute else (*chosen.version.schema_pointer, *at)
    return document.file, document.index, (*document.pointer, *inside)


def _look_up(crds: CrdSet, spots: Iterable[_Spot]) -> dict[_Spot, tuple[int, int]]:
    by_file: dict[str, set[tuple[int, Pointer]]] = {}
    for file, index, pointer in spots:
        by_file.setdefault(file, set()).add((index, pointer))
    found: dict[_Spot, tuple[int, int]] = {}
    try:
        for file, data in crds.read(sorted(by_file)):
            for (index, pointer), place in locate(data, by_file[file]).items():
                found[file, index, pointer] = place
    except SourceError:
        pass  # a file went away while we ran: the findings stand, without lines
    return found
