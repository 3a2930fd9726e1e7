"""Judges the changes between paired CRDs on the servers that both releases meet, with the writes and who makes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from crdcompat.apiserver.server_versions import NEWEST_SERVER, Server, Servers
from crdcompat.apiserver.supported.ranges import meeting, servers_beside
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.engine import Comparer
from crdcompat.compare.result import Comparison, Judged
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.named_writers import with_names
from crdcompat.features.diff.ratcheting import with_writes
from crdcompat.features.diff.sample_objects import Seeds, with_seeds
from crdcompat.schema.paths import SchemaPath
from crdcompat.vocabulary import Direction


def judged_on_servers(
    sides: tuple[CrdSet, CrdSet], pairs: Sequence[CrdPair], directions: Sequence[Direction], shared: ComparisonCache
) -> tuple[Servers, Comparison]:
    """The servers that judge both sides, and the results on them. Raises UsageError for an unknown version."""
    servers, met, seeds = servers_beside(*sides), meeting(*sides), Seeds(*sides, shared)
    if not met:
        comparer = Comparer(servers.of_old, servers.of_new, shared)
        completed = _completing(comparer, servers, sides, seeds, shared)
        return servers, comparer.compare(pairs, directions, complete=completed)
    from crdcompat.features.diff.minors import eras_of, in_each_era, taken_by, with_others

    differing = [each for each in pairs if specs_differ(each)]
    taken = taken_by(differing, met, shared)
    servers = with_others(servers, taken)
    comparer = Comparer(servers.of_old, servers.of_new, shared, servers.others)
    completed = _completing(comparer, servers, sides, seeds, shared)
    found = comparer.compare(pairs, directions, complete=completed)

    def judge(
        touched: Sequence[CrdPair], paths: Mapping[str, set[SchemaPath]], era: tuple[Server, ...]
    ) -> Iterable[Judged]:
        own = Comparer(era[0], era[0], shared)
        completed = _completing(own, Servers(era[0], era[0]), sides, seeds, shared)
        return own.compare(touched, directions, paths, completed).judged

    every = in_each_era(found.judged, eras_of(differing, comparer, met, taken), differing, servers, judge)
    found.judged = [_written_to(each, servers, shared) for each in every]
    return servers, found


def _written_to(item: Judged, servers: Servers, shared: ComparisonCache) -> Judged:
    """The result with answers of the oldest server that has it, if the newest one, which was asked, lacks it."""
    if not item.servers or NEWEST_SERVER in item.servers or servers.about(item.crd).known_new is not None:
        return item
    own = Servers(item.servers[0], item.servers[0])
    return next(iter(with_writes([replace(item, writes=None, spared=None)], own, shared)))


def _completing(
    comparer: Comparer, servers: Servers, sides: tuple[CrdSet, CrdSet], seeds: Seeds, shared: ComparisonCache
) -> Callable[[Iterable[Judged]], Iterator[Judged]]:
    """Gives results seeds as examples, the kinds of write that fail, and who writes the value."""

    def complete(judged: Iterable[Judged]) -> Iterator[Judged]:
        replayed = with_writes(with_seeds(judged, comparer, seeds), servers, shared)
        # The search for a value that somebody writes may change a witness, which is replayed then.
        return with_writes(with_names(replayed, comparer, *sides, seeds), servers, shared)

    return complete


def specs_differ(crd_pair: CrdPair) -> bool:
    """Whether the documents differ at all: a group or a plural alone is no change that the comparison reports."""
    old, new = ([each.crd.raw["spec"] for each in side.documents] for side in (crd_pair.old, crd_pair.new))
    return old != new
