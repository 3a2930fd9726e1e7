"""The CRDs that a cluster has after an upgrade or a rollback, by who installs each (docs/installers.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from crdcompat.crds.positions import ManifestPositions
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.deleted import deleted_names
from crdcompat.vocabulary.installers import Installer


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
