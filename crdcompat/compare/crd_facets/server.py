"""Differences between the servers on which a release has to work: one accepts a write that another refuses.

The facet finds nothing in a pair of CRDs; ``features/diff/across_servers.py`` judges what a change touches.
"""

from __future__ import annotations

from crdcompat.compare.crd_facet import CrdFacet
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

_REJECTED = (Effect.WRITE_REJECTED,)
EFFECTS = {
    "server.stricter-on": Effects(upgrade=_REJECTED),
    "server.refuses-all": Effects(upgrade=_REJECTED),
    "server.looser-on": Effects(rollback=_REJECTED, upgrade=_REJECTED),
}
FACET = CrdFacet(EFFECTS)
