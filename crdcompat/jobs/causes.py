"""What recorded objects hold that a release rejects, summed up by kind, field and value; worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from crdcompat.apiserver.errors import NOT_SUPPORTED
from crdcompat.jobs.replays import Replayed
from crdcompat.manifests.crdset import CrdSet
from crdcompat.manifests.locate import locate
from crdcompat.manifests.pairing import Chosen
from crdcompat.policy.findings import Location
from crdcompat.report.model import RejectedCause
from crdcompat.schema.paths import Pointer, SchemaPath, render, schema_pointer
from crdcompat.schema.sample import member_key

_MOST_VALUES = 20


@dataclass(slots=True)
class _Group:
    chosen: Chosen
    kind: str
    path: SchemaPath
    type: str
    example: str
    values: dict[Any, Any] = field(default_factory=dict)
    objects: int = 0


class CauseCounter:
    """Collects causes object by object; memory grows with distinct causes, not with objects."""

    def __init__(self) -> None:
        self._groups: dict[tuple[str, SchemaPath, str], _Group] = {}
        self._totals: dict[str, int] = {}

    def add(self, replayed: Replayed) -> None:
        """Count one object."""
        chosen, crd = replayed.chosen, replayed.chosen.document.crd
        self._totals[crd.name] = self._totals.get(crd.name, 0) + 1
        met = set()
        for cause in replayed.last.causes:
            key = (crd.name, cause.path, cause.error.type)
            if key not in self._groups:
                self._groups[key] = _Group(
                    chosen, crd.kind, cause.path, cause.error.type, f"{replayed.label} in {replayed.item.source}"
                )
            group = self._groups[key]
            if cause.error.type == NOT_SUPPORTED and len(group.values) < _MOST_VALUES:
                group.values.setdefault(member_key(cause.error.value), cause.error.value)
            met.add(key)
        for key in met:
            self._groups[key].objects += 1

    def summary(self, crds: CrdSet, side: str) -> tuple[RejectedCause, ...]:
        """All causes, those met by most objects first, with the line of the schema that rejects them."""
        groups = sorted(self._groups.values(), key=lambda g: (-g.objects, g.chosen.document.crd.name, render(g.path)))
        places = _places(crds, groups)
        return tuple(
            RejectedCause(
                crd=group.chosen.document.crd.name,
                kind=group.kind,
                path=render(group.path),
                type=group.type,
                values=tuple(group.values.values()),
                objects=group.objects,
                total=self._totals[group.chosen.document.crd.name],
                endpoint="status" if group.path[:1] == ("status",) and group.chosen.version.has_status else "main",
                location=Location(side, group.chosen.document.file, *places.get(_spot(group), (None, None))),
                example=group.example,
            )
            for group in groups
        )


def _spot(group: _Group) -> tuple[str, int, Pointer]:
    document, version = group.chosen.document, group.chosen.version
    keyword = ("enum",) if group.type == NOT_SUPPORTED else ()
    return (
        document.file,
        document.index,
        (*document.pointer, *version.schema_pointer, *schema_pointer(group.path), *keyword),
    )


def _places(crds: CrdSet, groups: Sequence[_Group]) -> dict[tuple[str, int, Pointer], tuple[int, int]]:
    wanted: dict[str, set[tuple[int, Pointer]]] = {}
    for file, index, pointer in map(_spot, groups):
        wanted.setdefault(file, set()).add((index, pointer))
    return {
        (file, index, pointer): place
        for file, data in crds.read(sorted(wanted))
        for (index, pointer), place in locate(data, wanted[file]).items()
    }
