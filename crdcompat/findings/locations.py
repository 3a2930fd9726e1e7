"""Locations of changes on both sides: file, line and column."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.aside import place_of
from crdcompat.crds.context import prominence
from crdcompat.models.finding import Finding, Location
from crdcompat.schema.paths import Pointer
from crdcompat.vocabulary import Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from crdcompat.compare.result import Judged, Open
    from crdcompat.crds.manifest_positions import Spot
    from crdcompat.crds.model import CrdDocument
    from crdcompat.crds.reader import CrdSet
    from crdcompat.crds.resolving import Chosen
    from crdcompat.yaml.positions import Place


class Places(Struct, frozen=True):
    """Looked-up locations of both sides."""

    old: dict[Spot, Place]
    new: dict[Spot, Place]

    def of(self, item: Judged) -> tuple[Location, ...]:
        """The places of a change, each once: OLD's first, those of most clusters before other variants.

        A copy in a folder of tests or examples is behind the other ones.
        """
        change = item.change
        found: list[Location] = []
        for side, at in ((Side.OLD, change.old_at), (Side.NEW, change.new_at)):
            places = [
                (prominence(occurrence.context), place_of(chosen.document.file), chosen)
                for occurrence in item.occurrences
                for chosen in occurrence.at(side)
            ]
            found += (
                self._location(side, chosen, at, absolute=change.of_crd)
                for *_, chosen in sorted(places, key=lambda place: place[:2])
            )
        return tuple(dict.fromkeys(found))

    def of_open(self, item: Open) -> tuple[Location, ...]:
        """The places of an undecided difference."""
        found = []
        for side, chosen, at in (
            (Side.OLD, item.old, item.undecided.old_at),
            (Side.NEW, item.new, item.undecided.new_at),
        ):
            if chosen is not None:
                found.append(
                    self._location(side, chosen, at, absolute=not item.undecided.path and bool(at[:1] == ("spec",)))
                )
        return tuple(found)

    def _location(self, side: Side, chosen: Chosen, at: Pointer, *, absolute: bool = False) -> Location:
        spot = _spot(chosen, at, absolute=absolute)
        line, column = (self.old if side == Side.OLD else self.new).get(spot, (None, None))
        return Location(side, chosen.document.file, line, column)


def find_places(old: CrdSet, new: CrdSet, judged: Sequence[Judged], opened: Sequence[Open]) -> Places:
    """Look up the places of all results, with one pass over each document."""
    wanted_old, wanted_new = _Wanted(), _Wanted()
    for item in judged:
        change = item.change
        for occurrence in item.occurrences:
            wanted_old.add(occurrence.at(Side.OLD), change.old_at, absolute=change.of_crd)
            wanted_new.add(occurrence.at(Side.NEW), change.new_at, absolute=change.of_crd)
    for entry in opened:
        absolute = not entry.undecided.path and entry.undecided.old_at[:1] == ("spec",)
        wanted_old.add((entry.old,) if entry.old else (), entry.undecided.old_at, absolute=absolute)
        absolute = not entry.undecided.path and entry.undecided.new_at[:1] == ("spec",)
        wanted_new.add((entry.new,) if entry.new else (), entry.undecided.new_at, absolute=absolute)
    return Places(old.positions.of_values(wanted_old.pointers), new.positions.of_values(wanted_new.pointers))


def most_clusters_first(contexts: Iterable[str]) -> list[str]:
    """The names of contexts in the order of reports."""
    return sorted(contexts, key=prominence)


def with_touched(finding: Finding, touched: Callable[[str], bool]) -> Finding:
    """The finding with the newer side's files that a change has touched before the others, which are marked."""
    marked = (replace(place, touched=place.side == Side.OLD or touched(place.file)) for place in finding.locations)
    return replace(finding, locations=tuple(sorted(marked, key=lambda place: not place.touched)))


class _Wanted:
    """The pointers to look up in each document."""

    def __init__(self) -> None:
        self.pointers: dict[CrdDocument, set[Pointer]] = {}

    def add(self, places: Iterable[Chosen], at: Pointer, *, absolute: bool) -> None:
        for chosen in places:
            inside = at if absolute else (*chosen.version.schema_pointer, *at)
            self.pointers.setdefault(chosen.document, set()).add(inside)


def _spot(chosen: Chosen, at: Pointer, *, absolute: bool = False) -> Spot:
    document = chosen.document
    inside = at if absolute else (*chosen.version.schema_pointer, *at)
    return document.file, document.index, (*document.pointer, *inside)
