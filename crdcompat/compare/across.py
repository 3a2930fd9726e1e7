"""Versions that only one side has: what is written as one of them is read as another on the other side.

With conversion strategy None the object in etcd keeps its values whatever version it was written as. A value that
only the lone version allows passes while its own clients write it; where that version is gone, every write of
the object meets a schema that rejects it. Losses are no matter of the release: a field that the stored version does not
have is pruned on the side that wrote it as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.manifests.pairing import Chosen, Facing, Resolved
from crdcompat.vocabulary import Direction


def crossings(facing: Facing) -> Iterator[tuple[Direction, str, Chosen, Chosen]]:
    """Direction, version read, and the documents of OLD and NEW, one of them the version written."""
    if not (_copies(facing.old) and _copies(facing.new)):
        return
    shared = sorted(facing.old.versions.keys() & facing.new.versions.keys())
    for name in shared:
        for written in _lone(facing.new, facing.old):
            yield Direction.ROLLBACK, name, facing.old.versions[name], written
        for written in _lone(facing.old, facing.new):
            yield Direction.UPGRADE, name, written, facing.new.versions[name]


def _lone(side: Resolved, other: Resolved) -> list[Chosen]:
    """The versions that clients can write on one side alone; if one is stored, the CRD itself cannot follow."""
    names = sorted(side.versions.keys() - other.versions.keys())
    chosen = (side.versions[name] for name in names)
    return [each for each in chosen if each.version.served and not each.version.storage]


def _copies(side: Resolved) -> bool:
    """Whether the side converts by copying: a webhook may do anything."""
    spec = side.documents[0].crd.raw.get("spec")
    conversion = spec.get("conversion") if isinstance(spec, dict) else None
    return not isinstance(conversion, dict) or conversion.get("strategy", "None") == "None"
