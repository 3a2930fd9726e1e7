"""Crossings: objects that were written as a version of one side alone, and are read as another version.

With conversion strategy None the object in etcd keeps its values, whatever its version was. A value that only the
missing version allows passes as long as its own clients write it; where that version is gone, the remaining versions'
schemas reject every write of the object. Losses do not count here: a field that the stored version lacks is pruned on
the writer's side as well. Nor do rules about updates: they refuse no object that is stored.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.changes import Change
from crdcompat.compare.registry import facet_of
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.resolving import Chosen, Resolved
from crdcompat.vocabulary import Direction


def crosses(change: Change) -> bool:
    """Whether a change between two versions may concern stored objects."""
    return change.kind not in facet_of(change.kind).of_updates


def version_crossings(crd_pair: CrdPair) -> Iterator[tuple[Direction, str, Chosen, Chosen]]:
    """The pairs of different versions that conversion connects: direction, version read, OLD's and NEW's version.

    One of the two is the version written, which the other side lacks.
    """
    if not (_converts_by_copying(crd_pair.old) and _converts_by_copying(crd_pair.new)):
        return
    shared = sorted(crd_pair.old.versions.keys() & crd_pair.new.versions.keys())
    for name in shared:
        for written in _served_only_by(crd_pair.new, crd_pair.old):
            yield Direction.ROLLBACK, name, crd_pair.old.versions[name], written
        for written in _served_only_by(crd_pair.old, crd_pair.new):
            yield Direction.UPGRADE, name, written, crd_pair.new.versions[name]


def _served_only_by(side: Resolved, other: Resolved) -> list[Chosen]:
    """The served versions that only ``side`` has, without the stored one: servers reject a CRD that drops it."""
    names = sorted(side.versions.keys() - other.versions.keys())
    chosen = (side.versions[name] for name in names)
    return [each for each in chosen if each.version.served and not each.version.storage]


def _converts_by_copying(side: Resolved) -> bool:
    """Whether the side's conversion strategy is None. The effect of a conversion webhook is unknown."""
    return side.crd.conversion_strategy == "None"
