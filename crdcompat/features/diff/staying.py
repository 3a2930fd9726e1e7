"""What an upgrade and a rollback mean where the installer leaves the CRDs alone: Helm, for ``crds/``.

An upgrade leaves OLD's CRD to NEW's controllers: what a rollback of the CRD would bring occurs then, and for good. If
somebody applied NEW's CRD, a rollback leaves it to OLD's controllers. A server is asked to take a CRD only when a
cluster is new (Helm's documentation, "Best Practices: Custom Resource Definitions").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from crdcompat.compare.refused import NEEDS_NO_OBJECT, REFUSED
from crdcompat.compare.refused_by import REFUSED_BY
from crdcompat.compare.result import Harmless, Judged
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.subcharts import turned_on_by
from crdcompat.features.diff.compared import Compared
from crdcompat.vocabulary import Direction, Effect, Side
from crdcompat.vocabulary.filters import Filters
from crdcompat.vocabulary.installers import MISSING_CRDS, WITHOUT_API, Installer, Window

#: A version that OLD's CRD lacks: only those who ask for it notice.
_UNSERVED = WITHOUT_API | {"version.added"}


def both_ways(wanted: Filters, old: CrdSet, new: CrdSet) -> Filters:
    """The filters of a comparison, for both directions if a CRD stays: it is judged as in the other direction."""
    stays = any(_stays(document, crds) for crds in (old, new) for document in crds.documents)
    return replace(wanted, directions=tuple(Direction)) if stays else wanted


def with_staying(compared: Compared) -> Compared:
    """The comparison, in which changes of CRDs that stay have the effect of their window, or none."""
    return replace(compared, judged=tuple(_judged(compared)))


def _judged(compared: Compared) -> Iterator[Judged]:
    sides = ((Side.OLD, compared.old), (Side.NEW, compared.new))
    for item in compared.judged:
        manifests = [
            (chosen.document, crds)
            for side, crds in sides
            for occurrence in item.occurrences
            for chosen in occurrence.at(side)
        ]
        if not all(_stays(*each) for each in manifests):
            yield item
        elif (made := _staying(replace(item, stays=True))) is not None:
            yield _in_charts(made, manifests)
        else:
            contexts = tuple(dict.fromkeys(each.context for each in item.occurrences))
            made_none = Harmless(item.crd, item.version, contexts, item.change, item.direction, _REPLACED_BY_NOBODY)
            compared.found.without_effect.append(made_none)


_REPLACED_BY_NOBODY = "the installer does not replace the CRD: its schema stays as it is"


def _in_charts(item: Judged, manifests: Sequence[tuple[CrdDocument, CrdSet]]) -> Judged:
    """A CRD that NEW adds, with what turns its chart on: most clusters need none of a chart that is off."""
    if item.change.kind not in MISSING_CRDS:
        return item
    values = [turned_on_by(crds, document.file) for document, crds in manifests]
    return replace(item, turned_on_by=values[0]) if all(values) else item


def _stays(document: CrdDocument, crds: CrdSet) -> bool:
    return crds.installers.of(document.file, document.inside) is Installer.HELM_CRDS


def _staying(item: Judged) -> Judged | None:
    """The effect of a change where the CRD stays; None without any."""
    kind, window = item.change.kind, item.window
    is_refused = item.effect is Effect.CRD_REJECTED
    if window is None:
        is_asked = item.direction is Direction.UPGRADE and kind in (REFUSED, REFUSED_BY)
        return None if is_refused and not is_asked else item
    if window is Window.NEW_CRD_OLD_WRITER:
        # What no server takes does not stay, and OLD's CRD is there whatever NEW ships.
        return None if is_refused or kind in WITHOUT_API else item
    if not is_refused:
        return item
    served = all(chosen.version.served for occurrence in item.occurrences for chosen in occurrence.at(Side.NEW))
    if kind not in _UNSERVED or not served:
        return None
    return replace(
        item,
        effect=Effect.REQUEST_FAILED,
        witness=Witness(None, reason=NEEDS_NO_OBJECT),
        windows=(Effect.REQUEST_FAILED, item.windows[1]),
        doubtful=False,
    )
