"""Recorded objects that hold a value of two-step growth before the release that is declared to write it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.config.configuration import Config
from crdcompat.config.releases import minor_of, openshift_minor
from crdcompat.crds.manifest_positions import ManifestPositions
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.deleted import deleted_names
from crdcompat.findings.growth import Declaration, Minor
from crdcompat.models.simulation import TOO_EARLY, RejectedCause
from crdcompat.replay.replayed import Replayed
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.paths import values_at
from crdcompat.vocabulary.growth import GrowthState
from crdcompat.vocabulary.installers import Installer
from crdcompat.vocabulary.writes import Endpoint


class Growing(Struct, frozen=True):
    """Declarations of growth, and the release that is taken to have written recorded objects; None if unknown."""

    declarations: tuple[Declaration, ...] = ()
    writer: Minor | None = None

    def early(self, versions: Iterable[str] = ()) -> tuple[Declaration, ...]:
        """The declarations whose values no object may hold yet.

        ``versions`` are the versions of the recorded clusters. If all have one minor, that minor counts, not the
        writer.
        """
        minor = self.release(versions)
        return tuple(each for each in self.declarations if each.is_unwritten_in(minor))

    def release(self, versions: Iterable[str] = ()) -> Minor | None:
        """The minor version that decides which values are early; None if it is not known."""
        recorded = {minor_of(version) for version in versions}
        return recorded.pop() if len(recorded) == 1 else self.writer


NOTHING_GROWS = Growing()


def growing(declarations: tuple[Declaration, ...], release: str, config: Config) -> Growing:
    """The declarations for objects that a release has written."""
    return Growing(declarations, openshift_minor(release, config))


class _Holders(Struct):
    """The objects that hold values of one declaration: their number, the values by key, and the first object."""

    kind: str
    example: str
    objects: int = 0
    values: dict[Any, Any] = field(default_factory=dict)


class EarlyValues:
    """Collects the objects that hold a value of one of the declarations; memory grows with the declarations."""

    def __init__(self, declarations: Sequence[Declaration]) -> None:
        self._declared: dict[str, list[tuple[int, Declaration]]] = {}
        for number, each in enumerate(declarations):
            self._declared.setdefault(each.crd, []).append((number, each))
        self._holders: dict[int, _Holders] = {}
        self._totals: dict[str, int] = {}

    def add(self, replayed: Replayed) -> frozenset[Declaration]:
        """Count one object. Returns the declarations whose values it holds."""
        found = set()
        declared = self._declared.get(replayed.crd, ())
        if declared:
            self._totals[replayed.crd] = self._totals.get(replayed.crd, 0) + 1
        for number, declaration in declared:
            held = [value for value in values_at(replayed.item.data, declaration.path) if declaration.names(value)]
            if held:
                example = f"{replayed.label} in {replayed.item.source}"
                holders = self._holders.setdefault(number, _Holders(replayed.kind, example))
                holders.objects += 1
                holders.values.update((member_key(value), value) for value in held)
                found.add(declaration)
        return frozenset(found)

    def causes(self, early: Sequence[Declaration]) -> Iterator[RejectedCause]:
        """A cause for each of the ``early`` declarations whose values are held, in the order of the file."""
        for listed in self._declared.values():
            for number, each in listed:
                if each in early and (holders := self._holders.get(number)) is not None:
                    yield self._cause(each, holders)

    def _cause(self, declaration: Declaration, holders: _Holders) -> RejectedCause:
        values = tuple(holders.values.values())
        return RejectedCause(
            crd=declaration.crd,
            kind=holders.kind,
            path=declaration.path,
            type=TOO_EARLY,
            values=values,
            objects=holders.objects,
            total=self._totals[declaration.crd],
            endpoint=Endpoint.STATUS if declaration.path.startswith("status") else Endpoint.MAIN,
            location=None,
            example=holders.example,
            redacted=values,
            growth=declaration.shown(GrowthState.EARLY),
        )


# The CRDs that a cluster has after an upgrade or a rollback, by who installs each (docs/installers.md).


def after_move(entered: CrdSet, left: CrdSet) -> CrdSet:
    """The CRDs of the release that is ``entered``, with the names of those that Helm has deleted on the way.

    Those in ``crds/`` of charts are of the release that is ``left``.
    """
    return moved(entered, left, deleted_names(entered, left), _staying(entered, left))


def moved(entered: CrdSet, left: CrdSet, deleted: frozenset[str], staying: Collection[str]) -> CrdSet:
    """The CRDs of the release that is ``entered``, of which Helm has ``deleted`` some, and left those ``staying``."""
    entered = replace(entered, deleted=deleted)
    if not staying:
        return entered
    kept = [each for each in entered.documents if each.crd.name not in staying]
    stays = [each for each in left.documents if each.crd.name in staying]
    theirs = {each.file for each in stays}

    def read(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        named = list(paths)
        yield from left.read([path for path in named if path in theirs])
        yield from entered.read([path for path in named if path not in theirs])

    names = ", ".join(sorted({each.crd.name for each in stays}))
    note = f"helm does not replace crds/: the CRDs of {left.title} stay in the cluster and judge: {names}"
    return replace(
        entered,
        documents=(*kept, *stays),
        read=read,
        positions=ManifestPositions(read),
        notes=(*entered.notes, *([note] if stays else [])),
    )


def _staying(*sides: CrdSet) -> set[str]:
    """The names of the CRDs that only Helm installs, once."""
    found: dict[str, set[Installer]] = {}
    for crds in sides:
        for each in crds.documents:
            found.setdefault(each.crd.name, set()).add(crds.installers.of(each.file, each.inside))
    return {name for name, installers in found.items() if installers == {Installer.HELM_CRDS}}
