"""Notes of a check on waivers: those that ended, those that match nothing, and those that only this clone has."""

from __future__ import annotations

from collections.abc import Container, Iterator
from pathlib import Path

from crdcompat.config.applied import ActiveWaivers
from crdcompat.sources.refs import is_untracked
from crdcompat.sources.repository import Repository


def ends_notes(waivers: ActiveWaivers, release: str) -> Iterator[str]:
    """Notes on expired waivers, and on waivers whose end cannot be compared with the release's name."""
    for waiver in waivers.expired:
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
