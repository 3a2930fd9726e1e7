"""The names of a CRD: servers refuse a new kind; other names affect no object (docs/semantics.md#changed-crds)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.compare.crd_facet import CrdChange, CrdFacet, ResolvedPair, crd_change, spec_of
from crdcompat.compare.facet import Effects
from crdcompat.crds.model import Crd
from crdcompat.vocabulary import Effect

EFFECTS = {
    "names.kind-changed": Effects(rollback=(Effect.CRD_REJECTED,), upgrade=(Effect.CRD_REJECTED,)),
    "names.changed": Effects(),
}


def changes(pair: ResolvedPair) -> Iterator[CrdChange]:
    a, b = pair.crds
    if a.kind != b.kind:
        change = crd_change("names.kind-changed", a.kind, b.kind, ("spec", "names", "kind"))
        yield CrdChange("", change, *pair.refused("spec.names.kind"))
        return
    before, after = _names(a), _names(b)
    for key in ("listKind", "singular"):
        if before.get(key) != after.get(key):
            change = crd_change("names.changed", before.get(key), after.get(key), ("spec", "names", key))
            yield CrdChange("", change)


def _names(crd: Crd) -> dict[str, Any]:
    """The names with the server's defaults."""
    given = dict(spec_of(crd).get("names") or {})
    given.setdefault("listKind", f"{crd.kind}List")
    given.setdefault("singular", crd.kind.lower())
    return given


FACET = CrdFacet(
    EFFECTS,
    changes,
    spec_keys=frozenset({"names"}),
    facts={"kind": lambda crd: crd.kind},
    texts={
        "names: categories": lambda crd: _names(crd).get("categories"),
        "names: shortNames": lambda crd: _names(crd).get("shortNames"),
    },
)
