"""A CRD as a whole: only one side ships it, it has another name, or a server refuses it.

The facet finds nothing in a pair of CRDs; ``compare/unpaired.py``, ``compare/refused.py`` and ``compare/refused_by.py``
judge each CRD alone.
"""

from __future__ import annotations

from crdcompat.compare.crd_facet import CrdFacet
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

_FAILS = (Effect.REQUEST_FAILED,)
EFFECTS = {
    "crd.added": Effects(rollback=_FAILS),
    "crd.deleted": Effects(rollback=_FAILS, upgrade=_FAILS),
    "crd.removed": Effects(upgrade=_FAILS),
    "crd.renamed": Effects(rollback=_FAILS, upgrade=_FAILS),
    "crd.refused": Effects(rollback=(Effect.CRD_REJECTED,), upgrade=(Effect.CRD_REJECTED,)),
    "crd.refused-by": Effects(rollback=(Effect.CRD_REJECTED,), upgrade=(Effect.CRD_REJECTED,)),
    "crd.refused-on-way": Effects(rollback=(Effect.CRD_REJECTED,), upgrade=(Effect.CRD_REJECTED,)),
}
FACET = CrdFacet(EFFECTS)
