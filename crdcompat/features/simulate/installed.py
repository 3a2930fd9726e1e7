"""The CRDs that a cluster has after an upgrade or a rollback, by who installs each (docs/installers.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from crdcompat.crds.positions import ManifestPositions
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.deleted import deleted_names
from crdcompat.models.simulation import SimulationReport
from crdcompat.vocabulary.installers import Installer


def after_move(entered: CrdSet, left: CrdSet) -> CrdSet:
    """The CRDs of the release that is ``entered``; those in ``crds/`` of charts are of the one that is ``left``."""
    staying = _staying(entered, left)
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


def with_deleted(report: SimulationReport, entered: CrdSet, left: CrdSet) -> SimulationReport:
    """The report; of objects that Helm deletes with their CRD it says so."""
    names = deleted_names(entered, left)
    reason = f"helm {report.direction} deletes the CRD, and each object with it"
    missed = (replace(each, reason=reason, lost=True) if each.crd in names else each for each in report.not_simulated)
    return replace(report, not_simulated=tuple(missed)) if names else report
