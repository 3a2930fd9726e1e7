"""Changes that matter on the newest supported server alone: limits of numbers, and formats.

Both releases meet the same server, and most changes have the same effect on each one. Newer servers enforce formats and
the ranges of integers that older ones ignore, so these changes are judged on the newest one, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from crdcompat.apiserver.supported.ranges import supported_by_both
from crdcompat.apiserver.versions import NEWEST_SERVER, Server, Servers
from crdcompat.compare.engine import Comparer
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.result import Judged
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.reader import CrdSet
from crdcompat.vocabulary import Direction

#: Kinds of change whose effect depends on the server.
_KINDS = ("bounds.", "format.", "multiple-of.", "number-range.")


def only_on_newest(
    pairs: Sequence[CrdPair],
    known: Sequence[Judged],
    servers: Servers,
    sides: tuple[CrdSet, CrdSet],
    directions: Sequence[Direction],
    shared: ComparisonCache,
) -> Iterator[Judged]:
    """The judged changes that the newest server of ``sides`` has beside the ``known`` ones.

    None if both sides run one known server, or each its own.
    """
    newest = _newest(servers, sides)
    if newest is None:
        return
    comparer = Comparer(newest, newest, shared)
    touched = [each for each in pairs if any(kind.startswith(_KINDS) for kind in comparer.kinds(each))]
    have = {_key(item) for item in known}
    for item in comparer.compare(touched, directions).judged if touched else ():
        if item.change.kind.startswith(_KINDS) and _key(item) not in have:
            yield replace(item, reason=f"{item.reason}; " * bool(item.reason) + f"on {newest}")


def _newest(servers: Servers, sides: tuple[CrdSet, CrdSet]) -> Server | None:
    if servers.known_old is None and servers.known_new is None:
        return NEWEST_SERVER
    supported = supported_by_both(*sides)
    is_range = bool(supported) and servers.known_old == servers.known_new == supported[0] != supported[-1]
    return supported[-1] if is_range else None


def _key(item: Judged) -> tuple[object, ...]:
    return item.crd, item.version, item.change.place, item.change.kind, item.direction, item.effect
