"""CRDs that were compared although no server would take them: what the server says of each, and where.

``simulate`` and ``judge`` refuse such a CRD. A comparison goes as far as it can, for what it finds elsewhere in the
schema stands; but whoever reads it has to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.refusals import refusals
from crdcompat.jobs.comparing import Compared
from crdcompat.manifests.crd import Crd
from crdcompat.manifests.crdset import CrdDocument, CrdSet
from crdcompat.manifests.pairing import Resolved
from crdcompat.policy.locations import look_up
from crdcompat.problems import Problem
from crdcompat.schema.paths import Pointer
from crdcompat.vocabulary import Side

_Faults = list[tuple[Pointer, str]]


def refused(compared: Compared, servers: tuple[Server, Server]) -> Iterator[Problem]:
    """Remarks on the CRDs of both sides that differ and that the server of their side would refuse.

    What both sides have alike is looked at once: nothing that makes a server refuse a CRD came with another release.
    """
    differing = [facing for facing in compared.facings if facing.old.name in compared.found.changed]
    good: dict[str, Crd] = {}
    yield from _of_side(Side.NEW, compared.new, servers[1], (facing.new for facing in differing), good)
    yield from _of_side(Side.OLD, compared.old, servers[0], (facing.old for facing in differing), good)


def _of_side(
    side: Side, crds: CrdSet, server: Server, found: Iterable[Resolved], good: dict[str, Crd]
) -> Iterator[Problem]:
    """Remarks on one side; ``good`` is a CRD of each name that nothing is known against, and is added to."""
    documents = dict.fromkeys(
        each.document for resolved in found for chosen in resolved.versions.values() for each in chosen.everywhere()
    )
    known: dict[int, _Faults] = {}
    told: dict[CrdDocument, _Faults] = {}
    for document in documents:
        crd = document.crd
        faults = known.get(id(crd.versions))
        if faults is None:
            faults = known[id(crd.versions)] = refusals(crd, server, good.get(crd.name))
        if faults:
            told[document] = faults
        else:
            good.setdefault(crd.name, crd)
    places = look_up(crds, {document: {at for at, _ in faults} for document, faults in told.items()})
    for document, faults in told.items():
        for at, sentence in faults:
            line, _ = places.get((document.file, document.index, (*document.pointer, *at)), (1, 1))
            yield Problem(document.file, line, f"the API server refuses this CRD: {sentence}", side)
