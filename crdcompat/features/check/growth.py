"""Notes of a check on declarations of two-step growth: those that cannot be applied, and those that name nothing."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from crdcompat.apiserver.versions import Server, server_of
from crdcompat.candidates.local import NodeJudge
from crdcompat.config.applied import ActiveWaivers
from crdcompat.crds.reader import CrdSet
from crdcompat.findings.finding import listed
from crdcompat.findings.growth import Declaration
from crdcompat.schema.paths import nodes_at
from crdcompat.schema.structural import Node
from crdcompat.vocabulary.growth import GrowthState


def growth_notes(
    active: ActiveWaivers, used: Container[tuple[int, GrowthState]], head: CrdSet, crds: Container[str] | None
) -> Iterator[str]:
    """The notes on the declarations that concern findings, and on those of these ``crds`` (None: of all).

    ``used`` are those that concern findings, each by ``id()`` with its state there.
    """
    for each in active.growth:
        if (id(each), GrowthState.UNKNOWN) in used:
            why = f"which release {active.release} is, is not known: its values count (`releases` in the configuration)"
            yield f"unplaced: {each.place}: {each.label}: {why}"
        elif (
            (crds is None or each.crd in crds) and not each.precedes(active.minor) and (missing := _missing(each, head))
        ):
            yield f"stale: {each.place}: {each.label}: {missing}, take it out"


def _missing(declaration: Declaration, head: CrdSet) -> str:
    """What the declaration names and the CRDs do not have; "" if they have everything."""
    documents = head.named().get(declaration.crd, ())
    if not documents:
        return "there is no such CRD"
    schemas = [version.node for item in documents for version in item.crd.versions]
    nodes = [node for root in schemas for node in nodes_at(root, declaration.path)]
    if not nodes:
        return "the CRD has no such field"
    server = server_of(head)
    values = [value for value in declaration.values if not _is_accepted(value, nodes, server)]
    return f"the field does not accept {listed(values)}" if values else ""


def _is_accepted(value: Any, nodes: list[Node], server: Server) -> bool:
    return any(NodeJudge(node, server).accepts(value) for node in nodes)
