"""New fields in status that will be expensive to change later: nothing breaks yet.

The facet finds nothing in a pair of CRDs; ``compare/advice.py`` looks at the fields that other facets find new.
"""

from __future__ import annotations

from crdcompat.compare.crd_facet import CrdFacet
from crdcompat.compare.facet import Effects
from crdcompat.vocabulary import Effect

ENUM, REQUIRED, LIST = "status.enum-born-closed", "status.required-born", "status.list-born-without-keys"
#: Nothing happens on this rollback; the advice is about those to come.
_NOTHING_YET = Effects(rollback=(Effect.NONE,))
EFFECTS = dict.fromkeys((ENUM, REQUIRED, LIST), _NOTHING_YET)
FACET = CrdFacet(EFFECTS)
