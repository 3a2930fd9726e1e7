"""CRDs near the budget: their CEL rules need most of the cost that a server allows. It does not refuse them yet.

The next rule, or a larger bound, makes the server refuse the CRD. Another minor can estimate the same rule higher.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.cost_budget import Usage, usages
from crdcompat.apiserver.crd_validation.expressions import RULE_LIMIT, TOTAL_LIMIT
from crdcompat.apiserver.server_versions import Server
from crdcompat.compare.advice import NOTHING_YET
from crdcompat.compare.changes import Change
from crdcompat.compare.crd_facets.cel_cost import NEAR
from crdcompat.compare.placed import Placed, in_contexts, judged_alone, of_documents, place_of
from crdcompat.compare.result import Judged
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.resolving import Resolved
from crdcompat.schema.paths import SchemaPath, render
from crdcompat.vocabulary import Effect

#: A CRD is near a budget if its rules use this part of it.
_SHARE = 0.8


class _Near(Struct, frozen=True):
    """A version whose rules nearly exhaust a budget. ``path`` is the path of the most expensive rule."""

    version: str
    path: SchemaPath
    usage: Usage
    reason: str


def judge_near_budget(
    crds: Iterable[Placed], touched: Iterable[Resolved], refused: Iterable[CrdDocument], server: Server
) -> Iterator[Judged]:
    """One result for each schema of a ``touched`` CRD that is near a budget, except in ``refused`` documents."""
    near = dict(of_documents(touched, lambda crd: [_near(crd, usage) for usage in usages(crd, server, _SHARE)]))
    left_out = set(refused)
    judged = _with_highest_totals({document: found for document, found in near.items() if document not in left_out})
    for found, occurrences in in_contexts(crds, judged):
        usage = found.usage
        shown = {"cost": usage.cost, "total": usage.total, "budget": RULE_LIMIT, "total_budget": TOTAL_LIMIT}
        change = Change(NEAR, found.path, None, shown, added=(usage.rule,), new_at=usage.at, of_crd=True)
        witness = Witness(None, reason=NOTHING_YET)
        yield judged_alone(change, Effect.NONE, witness, found.version, occurrences, found.reason)


def _with_highest_totals(near: Mapping[CrdDocument, Sequence[_Near]]) -> dict[CrdDocument, list[_Near]]:
    """Facts about the same expensive rule with the highest total: variants of a CRD have more or fewer other rules."""
    most: dict[tuple[str, _Near], int] = {}

    def rule(document: CrdDocument, found: _Near) -> tuple[str, _Near]:
        return document.crd.name, replace(found, usage=replace(found.usage, total=0))

    for document, facts in near.items():
        for found in facts:
            if found.usage.one_rule:
                key = rule(document, found)
                most[key] = max(found.usage.total, most.get(key, 0))
    return {
        document: [
            replace(found, usage=replace(found.usage, total=most.get(rule(document, found), found.usage.total)))
            for found in facts
        ]
        for document, facts in near.items()
    }


def _near(crd: Crd, usage: Usage) -> _Near:
    version, path = place_of(crd, usage.at[:-2])
    bounds = ", ".join(
        f"{bound.at[-1]} of {render(place_of(crd, bound.at)[1]) or 'the object'}"
        f" ({'none yet' if bound.value is None else f'now {bound.value}'})"
        for bound in usage.bounds
    )
    share = f"{usage.share:.0%}"
    if usage.one_rule:
        said = f"the most expensive rule needs {share} of the budget of one rule"
    else:
        said = f"all rules together need {share}, the most expensive one {usage.cost / TOTAL_LIMIT:.0%}"
    return _Near(version, path, usage, f"{said}; {f'declare or lower {bounds}' if bounds else 'no bound lowers it'}")
