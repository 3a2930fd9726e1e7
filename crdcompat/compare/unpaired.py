"""CRDs that only one release ships: the effect follows from their names alone.

No API server deletes or moves anything by itself. An installer that deletes the CRDs it no longer has (Helm for
templates, Argo CD, ``kubectl apply --prune``) deletes all their objects with them; one that only applies what it has
(``kubectl apply``, Helm's ``crds/``, OpenShift's cluster-version operator) leaves both where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crdcompat.compare.changes import Change
from crdcompat.compare.result import Judged, Lone, Occurrence
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.resolving import Chosen
from crdcompat.crds.unpaired import Unpaired
from crdcompat.vocabulary import Direction, Effect, Side

_NAME = ("metadata", "name")
_NEEDS_NO_OBJECT = "a change of the CRD as a whole: it needs no object to show"
#: The directions in which each kind of change has an effect.
_DIRECTIONS = {
    "crd.added": (Direction.ROLLBACK,),
    "crd.removed": (Direction.UPGRADE,),
    "crd.renamed": (Direction.ROLLBACK, Direction.UPGRADE),
}


def judge_unpaired(found: Iterable[Unpaired], directions: Sequence[Direction]) -> Iterator[Judged]:
    """The unpaired CRDs as judged changes: one for each CRD, with the contexts in which the other side lacks it."""
    groups: dict[tuple[str, ...], list[Unpaired]] = {}
    for item in found:
        groups.setdefault((_kind(item), *item.names), []).append(item)
    for (kind, name, *_), items in groups.items():
        for direction in _DIRECTIONS[kind]:
            if direction in directions:
                yield _judged(_change(kind, items[0]), direction, name, items)


def _kind(item: Unpaired) -> str:
    return "crd.renamed" if item.renamed else "crd.removed" if item.side == Side.OLD else "crd.added"


def _change(kind: str, item: Unpaired) -> Change:
    name, *other = item.names
    old, new = (name, other[0]) if other else (name, None) if item.side == Side.OLD else (None, name)
    return Change(kind, (), old, new, old_at=_NAME, new_at=_NAME, of_crd=True)


def _judged(change: Change, direction: Direction, name: str, items: Sequence[Unpaired]) -> Judged:
    rollback, upgrade = (
        Effect.REQUEST_FAILED if each in _DIRECTIONS[change.kind] else Effect.NONE for each in Direction
    )
    return Judged(
        change=change,
        direction=direction,
        effect=Effect.REQUEST_FAILED,
        witness=Witness(None, reason=_NEEDS_NO_OBJECT),
        labels=(),
        windows=(rollback, upgrade),
        crd=name,
        kind=items[0].documents[0].crd.kind,
        version="",
        occurrences=tuple(map(_occurrence, items)),
    )


def _occurrence(item: Unpaired) -> Occurrence | Lone:
    chosen = _chosen(item.documents)
    if item.renamed:
        change = _change(_kind(item), item)
        return Occurrence(item.context, item.terminal, chosen, _chosen(item.renamed), change)
    return Lone(item.context, item.terminal, item.side, chosen, elsewhere=item.elsewhere, has_sources=item.has_sources)


def _chosen(documents: Sequence[CrdDocument]) -> Chosen:
    first, *copies = (Chosen(document, document.crd.versions[0]) for document in documents)
    return Chosen(first.document, first.version, tuple(copies))
