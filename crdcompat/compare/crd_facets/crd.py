"""A CRD as a whole: the API server refuses it.

The facet finds nothing in a pair of CRDs; ``compare/refused.py`` judges each CRD alone.
"""

from __future__ import annotations

from crdcompat.compare.crd_facet import CrdFacet
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

EFFECTS = {"crd.refused": Effects(upgrade=(Effect.CRD_REJECTED,))}
FACET = CrdFacet(EFFECTS)
