"""Changed CRDs that the API server refuses: a finding for one of NEW, a remark for one of OLD.

No cluster of OLD ever had a CRD that OLD's server refuses, so a rollback cannot fail because of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from crdcompat.apiserver.versions import Server
from crdcompat.compare.refused import Placed, Refused, judge_refused, refused_documents
from crdcompat.crds.model import Crd
from crdcompat.crds.pairing import CrdPair, resolve
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem
from crdcompat.features.diff.comparison import Compared, Filters
from crdcompat.vocabulary import Owner, Side


def find_refused(compared: Compared, servers: tuple[Server, Server]) -> tuple[Sequence[Refused], Sequence[Refused]]:
    """The changed CRDs of OLD, and the changed and added ones of NEW, that the server of their side refuses.

    Parts of OLD that equal a part of NEW without faults are not validated again.
    """
    differing = [each for each in compared.pairs if each.old.name in compared.found.changed or _specs_differ(each)]
    good: dict[str, Crd] = {}
    of_new = refused_documents(
        (*(crd_pair.new for crd_pair in differing), *(placed.crd for placed in _entering(compared))), servers[1], good
    )
    of_old = refused_documents((crd_pair.old for crd_pair in differing), servers[0], good)
    return of_old, of_new


def _specs_differ(crd_pair: CrdPair) -> bool:
    """Whether the documents differ at all: a group or a plural alone is no change that the comparison reports."""
    old, new = ([each.crd.raw["spec"] for each in side.documents] for side in (crd_pair.old, crd_pair.new))
    return old != new


def with_refused(compared: Compared, found: Iterable[Refused], wanted: Filters) -> Compared:
    """The comparison with the refused CRDs of NEW among its results."""
    if wanted.owners and Owner.CRD not in wanted.owners:
        return compared
    placed = (Placed(crd_pair.context, crd_pair.terminal, crd_pair.new) for crd_pair in compared.pairs)
    return replace(compared, judged=(*compared.judged, *judge_refused((*placed, *_entering(compared)), found)))


def _entering(compared: Compared) -> Iterator[Placed]:
    """The CRDs that NEW alone has."""
    return (Placed(item.context, item.terminal, resolve(item.documents)) for item in compared.entering)


def remarks_on(crds: CrdSet, side: Side, found: Iterable[Refused]) -> Iterator[Problem]:
    """The refused CRDs of one side as remarks."""
    faults = {each.document: each.faults for each in found}
    places = crds.positions.of_values({document: {at for at, _ in said} for document, said in faults.items()})
    for document, said in faults.items():
        for at, sentence in said:
            line, _ = places.get((document.file, document.index, (*document.pointer, *at)), (1, 1))
            yield Problem(document.file, line, f"the API server refuses this CRD: {sentence}", side)
