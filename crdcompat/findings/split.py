"""Splits a finding by its values: those that a waiver accepts or that existed before, and the others.

The example object of an enum finding contains one of its values. A part without that value gets another example
object, which both schemas judge again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

from msgspec.structs import replace

from crdcompat.apiserver.server_versions import server_of
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.site import WriterReader
from crdcompat.compare.witness import Witness
from crdcompat.crds.context import named_sides
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved, resolve_all
from crdcompat.findings.contrast import listed
from crdcompat.findings.finding import fingerprint
from crdcompat.models.finding import Finding, Location
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.paths import Object, Pointer, render, schema_path_of, value_at, with_value
from crdcompat.sources.encoding import legible
from crdcompat.vocabulary import Direction, Side


class FindingSplitter:
    """Splits findings of one comparison; resolves the CRDs when the first part needs another example object."""

    def __init__(self, old: CrdSet, new: CrdSet) -> None:
        self._old, self._new = old, new
        self._resolved: dict[tuple[bool, str], dict[str, Resolved]] = {}
        self._resources: dict[tuple[bool, int], Resource] = {}
        self._texts: dict[tuple[str, str], list[str]] = {}

    def split(self, finding: Finding, inside: Sequence[Any]) -> tuple[Finding | None, Finding | None]:
        """The finding for its values among ``inside``, and for its other values; None for an empty part."""
        keys = set(map(member_key, inside))
        values = finding.added or finding.removed
        mine = tuple(value for value in values if member_key(value) in keys)
        rest = tuple(value for value in values if member_key(value) not in keys)
        if not mine or not rest:
            return (finding, None) if mine else (None, finding)
        return self._with(finding, mine), self._with(finding, rest)

    def _with(self, finding: Finding, values: tuple[Any, ...]) -> Finding:
        added, removed = (values, finding.removed) if finding.added else (finding.added, values)
        place = finding.rule, finding.direction, finding.crd, finding.versions, finding.path
        return replace(
            finding,
            added=added,
            removed=removed,
            id=fingerprint(*place, added, removed),
            message=finding.message.replace(listed(finding.added or finding.removed), listed(values)),
            witness=self._witness(finding, values),
            locations=tuple(self._moved(finding, location, values[0]) for location in finding.locations),
        )

    def _moved(self, finding: Finding, location: Location, value: Any) -> Location:
        """The line of another value of the same enum if each value has its own line; else the same place."""
        side = Side.NEW if finding.added else Side.OLD
        if (location.side, location.kind) != (side, "yaml") or location.line is None:
            return location
        for line, text in enumerate(self._lines(side, location.file)[location.line - 1 :], location.line):
            dash, _, item = text.partition("- ")
            if dash.strip() or not item:
                break
            if item.strip().strip("'\"") == str(value):
                return replace(location, line=line, column=len(dash) + 3)
        return location

    def _lines(self, side: Side, file: str) -> list[str]:
        key = (side, file)
        if key not in self._texts:
            crds = self._new if side == Side.NEW else self._old
            read = dict(crds.read([file]))
            self._texts[key] = legible(read[file]).decode("utf-8", "replace").splitlines() if file in read else []
        return self._texts[key]

    def _witness(self, finding: Finding, values: tuple[Any, ...]) -> Witness:
        witness = finding.witness
        if witness.object is None:
            return witness
        if finding.versions != finding.version:
            return Witness(None, reason="written as another version: not judged again for a part of the values")
        sides = self._sides(finding)
        if not sides:
            return Witness(None, reason="its CRD could not be judged again")
        root = sides[0].writer.node
        places = [at for at in _scalars(witness.object, ()) if render(schema_path_of(root, at)) == finding.path]
        held = {member_key(value_at(witness.object, place)) for place in places}
        if any(member_key(value) in held for value in values):
            return witness
        for place, value in product(places, values):
            other = with_value(witness.object, place, value)
            errors = [_errors_at(place, other, pair) for pair in sides]
            if all(errors):
                return Witness(other, errors[0], at=witness.at)
        return Witness(None, reason="no object was found that holds one of these values alone")

    def _sides(self, finding: Finding) -> list[WriterReader]:
        """Both sides in each context of the finding; empty if a context does not have the CRD."""
        found: dict[tuple[int, int], WriterReader] = {}
        for context in finding.contexts:
            name_in_old, name_in_new = named_sides(context)
            old = self._resource(finding, name_in_old, of_new=False)
            new = self._resource(finding, name_in_new, of_new=True)
            if old is None or new is None:
                return []
            reader, writer = (old, new) if finding.judged_as == Direction.ROLLBACK else (new, old)
            found.setdefault((id(writer), id(reader)), WriterReader(writer, reader))
        return list(found.values())

    def _resource(self, finding: Finding, context: str, *, of_new: bool) -> Resource | None:
        mine, other = (self._new, self._old) if of_new else (self._old, self._new)
        side = (of_new, context)
        if side not in self._resolved:
            self._resolved[side] = {crd.name: crd for crd in resolve_all(mine, other, context)[1].values()}
        crd = self._resolved[side].get(finding.crd)
        chosen = crd.versions.get(finding.version) if crd is not None else None
        if chosen is None:
            return None
        key = (of_new, id(chosen.version))
        if key not in self._resources:
            self._resources[key] = Resource(chosen.document.crd, chosen.version, server_of(mine))
        return self._resources[key]


def _errors_at(place: Pointer, obj: Object, pair: WriterReader) -> tuple[str, ...]:
    """The reader's errors if one is at ``place``, for an object that the writer accepts; else none."""
    stored = pair.writer.create(obj, keep_status=True)
    errors = pair.reader.create(stored.object, keep_status=True).errors if stored.object is not None else ()
    return tuple(error.text() for error in errors) if any(error.pointer == place for error in errors) else ()


def _scalars(value: Any, at: Pointer) -> Iterator[Pointer]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _scalars(member, (*at, name))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _scalars(item, (*at, index))
    else:
        yield at
