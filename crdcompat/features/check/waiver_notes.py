"""Notes of a check on waivers: those that ended, those that match nothing, and those that only this clone has."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from crdcompat.apiserver.server_versions import Server, server_of
from crdcompat.candidates.local import NodeJudge
from crdcompat.config.applied import ActiveWaivers
from crdcompat.crds.reader import CrdSet
from crdcompat.findings.contrast import listed
from crdcompat.findings.growth import Declaration
from crdcompat.schema.paths import nodes_at
from crdcompat.schema.structural import Node
from crdcompat.sources.refs import is_untracked
from crdcompat.sources.repository import Repository
from crdcompat.vocabulary.growth import GrowthState


def ends_notes(waivers: ActiveWaivers, release: str, told: Container[str]) -> Iterator[str]:
    """Notes on expired waivers, and on waivers whose end cannot be compared with the release's name.

    ``told`` are the places of expired ones that the report names first.
    """
    for waiver in waivers.expired:
        if waiver.place not in told:
            yield f"expired: {waiver.place}: {waiver.label}: until {waiver.until}, no longer counts"
    for waiver in waivers.valid:
        if waiver.end_is_unknown(release):
            until = f"until {waiver.until}, and the name {release} contains no release: it still counts"
            yield f"unending: {waiver.place}: {waiver.label}: {until}"


def stale_notes(waivers: ActiveWaivers, used: frozenset[int], compared: Container[str]) -> Iterator[str]:
    """Notes on waivers of compared CRDs that match no finding; for an unfiltered check against all targets only."""
    for waiver in waivers.valid:
        if id(waiver) not in used and waiver.crd in compared:
            yield f"stale: {waiver.place}: {waiver.label}: nothing matches it, take it out"


def untracked_notes(file: Path, repo: str | None) -> Iterator[str]:
    """A note on a waiver file that exists only here: it counts, but the check of the pull request will not have it."""
    if is_untracked(Repository(repo), file):
        yield f"git does not track {file}: add it with `git add {file}`, else CI does not see its waivers"


# Notes of a check on declarations of two-step growth: those that cannot be applied, and those that name nothing.


def growth_notes(
    active: ActiveWaivers, used: Container[tuple[int, GrowthState]], head: CrdSet, crds: Container[str] | None
) -> Iterator[str]:
    """The notes on the declarations that concern findings, and on declarations for these ``crds`` (None: for all).

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
