"""CEL rules whose cost is near the budget of a server. The server does not refuse the CRD yet.

The facet finds nothing in a pair of CRDs; ``compare/near_budget.py`` judges each changed CRD of NEW alone.
"""

from __future__ import annotations

from crdcompat.compare.crd_facet import CrdFacet
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

NEAR = "cel-cost.near-budget"
EFFECTS = {NEAR: Effects(upgrade=(Effect.NONE,))}
FACET = CrdFacet(EFFECTS)
