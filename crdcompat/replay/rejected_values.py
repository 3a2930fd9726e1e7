"""Sums up the values of recorded objects that a release rejects, by kind, field and error type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct, field

from crdcompat.apiserver.field_errors import NOT_SUPPORTED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.redaction import is_public, names_secret
from crdcompat.crds.manifest_positions import Spot
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Chosen
from crdcompat.models.finding import Location
from crdcompat.models.simulation import RejectedCause
from crdcompat.replay.replayed import Replayed
from crdcompat.replay.replayed_writes import Cause
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.paths import SchemaPath, render, schema_pointer
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import HIDDEN, Side
from crdcompat.vocabulary.writes import COUNTED_WRITES, NOT_FOUND, Endpoint, WriteKind, WriteResult

_MAX_VALUES = 20
#: The types of errors whose values a report lists: enum values, and versions.
_WITH_VALUES = frozenset({NOT_SUPPORTED, NOT_FOUND})

#: The key of a cause: CRD, path and type of error.
CauseKey = tuple[str, SchemaPath, str]


class CauseGroup(Struct):
    """Rejected values of one kind's objects at one path with one type of error; ``hidden`` are keys of ``values``.

    ``writes`` are the kinds of write that fail by them.
    """

    chosen: Chosen
    kind: str
    path: SchemaPath
    type: str
    label: str
    source: str
    values: dict[Any, Any] = field(default_factory=dict)
    hidden: set[Any] = field(default_factory=set)
    writes: set[WriteKind] = field(default_factory=set)
    objects: int = 0

    @property
    def redacted(self) -> tuple[Any, ...]:
        """The values to publish."""
        shown = [value for key, value in self.values.items() if key not in self.hidden]
        return (*shown, HIDDEN) if self.hidden else tuple(shown)

    @property
    def key(self) -> CauseKey:
        """The key of the cause."""
        return self.chosen.document.crd.name, self.path, self.type

    @property
    def rendered(self) -> str:
        """The path as reports write it."""
        return render(self.path)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint whose write can remove the values."""
        return Endpoint.STATUS if self.path[:1] == ("status",) and self.chosen.version.has_status else Endpoint.MAIN

    @property
    def spot(self) -> Spot:
        """The place that rejects the values: file, index of the document in the file, pointer into the document."""
        document, version = self.chosen.document, self.chosen.version
        keyword = ("enum",) if self.type == NOT_SUPPORTED else ()
        in_schema = (*version.schema_pointer, *schema_pointer(self.path), *keyword)
        pointer = (*document.pointer, *(version.pointer if self.type == NOT_FOUND else in_schema))
        return document.file, document.index, pointer


def _counted(replayed: Replayed) -> Iterable[Cause]:
    """The causes of a replay by which a write fails; none for creating the object anew, which no rollback does.

    Rules count, too, that the server does not evaluate before the others are repaired. All causes count where no write
    names one: an apply that cannot be typed, a version that is not served.
    """
    if replayed.worst is WriteResult.ACCEPTED:
        return ()
    errors = [error for _, error in _failing(replayed)]
    named, hides_rules = {*map(_facts, errors)}, any(error.is_marker for error in errors)
    found = [
        cause
        for cause in replayed.last.causes
        if _facts(cause.error) in named or (hides_rules and cause.error.keyword is Keyword.RULE)
    ]
    return found or replayed.last.causes


def _failing(replayed: Replayed) -> Iterator[tuple[WriteKind, FieldError]]:
    """The errors of the writes that count and are rejected, on any of the servers."""
    for _, found in replayed.by_server:
        for kind in COUNTED_WRITES:
            answer = found.writes.get(kind)
            if answer is not None and answer.counts is WriteResult.REJECTED:
                yield from ((kind, error) for error in answer.errors)


def _facts(error: FieldError) -> tuple[Any, ...]:
    """What an error to a write has in common with the cause that it is about: the place and the type."""
    return error.pointer, error.type


class CauseCounter:
    """Collects causes object by object; memory grows with distinct causes, not with objects.

    ``causes_of`` selects the causes of an object; by default those of writes that count.
    """

    def __init__(self, causes_of: Callable[[Replayed], Iterable[Cause]] = _counted) -> None:
        self._causes_of = causes_of
        self._groups: dict[CauseKey, CauseGroup] = {}
        self._totals: dict[str, int] = {}
        self._public: dict[tuple[SchemaPath, Any, bool, tuple[Node, ...]], bool] = {}

    def add(self, replayed: Replayed) -> frozenset[CauseKey]:
        """Count one object. Returns its causes."""
        chosen, crd = replayed.chosen, replayed.chosen.document.crd
        self._totals[crd.name] = self._totals.get(crd.name, 0) + 1
        causes, failing = set(), [(kind, _facts(error)) for kind, error in _failing(replayed)]
        for cause in self._causes_of(replayed):
            key = (crd.name, cause.path, cause.error.type)
            if key not in self._groups:
                self._groups[key] = CauseGroup(
                    chosen, crd.kind, cause.path, cause.error.type, replayed.label, replayed.item.source
                )
            group = self._groups[key]
            error = cause.error
            if error.type in _WITH_VALUES and error.value is not ABSENT and len(group.values) < _MAX_VALUES:
                value, value_key = error.value, member_key(error.value)
                group.values.setdefault(value_key, value)
                if error.type == NOT_SUPPORTED and not self._is_public(cause, value_key, replayed.schemas):
                    group.hidden.add(value_key)
            group.writes.update(kind for kind, named in failing if named == _facts(error))
            causes.add(key)
        for key in causes:
            self._groups[key].objects += 1
        return frozenset(causes)

    def add_plain(self, crd: str, objects: int) -> None:
        """Count objects of a CRD without causes."""
        self._totals[crd] = self._totals.get(crd, 0) + objects

    def _is_public(self, cause: Cause, value_key: Any, schemas: tuple[Node, ...]) -> bool:
        """Whether a value at the path of a cause is one of the schemas' own. Many objects have the same few."""
        pointer = cause.error.pointer
        is_secret = any(isinstance(step, str) and names_secret(step) for step in pointer)
        key = cause.path, value_key, is_secret, schemas
        if key not in self._public:
            self._public[key] = is_public(cause.error.value, pointer, *schemas)
        return self._public[key]

    def groups(self) -> list[CauseGroup]:
        """All causes: first those that refuse every request for a version (404), then those of most objects."""
        return sorted(
            self._groups.values(),
            key=lambda g: (g.type != NOT_FOUND, -g.objects, g.chosen.document.crd.name, g.rendered),
        )

    def summary(self, crds: CrdSet, side: Side) -> tuple[RejectedCause, ...]:
        """All causes for a report, with the line of the schema that rejects them."""
        groups = self.groups()
        places = crds.positions.of_spots([group.spot for group in groups])
        return tuple(
            RejectedCause(
                crd=group.chosen.document.crd.name,
                kind=group.kind,
                path=group.rendered,
                type=group.type,
                values=tuple(group.values.values()),
                objects=group.objects,
                total=self._totals[group.chosen.document.crd.name],
                endpoint=group.endpoint,
                location=Location(side, group.chosen.document.file, *places.get(group.spot, (None, None))),
                example=f"{group.label} in {group.source}",
                redacted=group.redacted,
                writes=tuple(kind for kind in COUNTED_WRITES if kind in group.writes),
            )
            for group in groups
        )
