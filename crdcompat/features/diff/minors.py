"""Changes whose effect depends on the supported server that both releases meet.

Each of these servers is asked where the answer can change: the changes of fields whose formats, limits or rules mean
something else from some minor on are judged once in each era. A result that some of the servers do not have names those
that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.server_versions import DEFAULT_SERVER, Server, Servers
from crdcompat.apiserver.supported.eras import Turns
from crdcompat.apiserver.supported.ranges import age, spans_of
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.engine import Comparer
from crdcompat.compare.refused_by import causes_in
from crdcompat.compare.result import Judged
from crdcompat.crds.pairing import CrdPair
from crdcompat.schema.paths import SchemaPath

#: Judges the changes of some CRDs at some paths on one server, which is the oldest of an era.
_Judge = Callable[[Sequence[CrdPair], Mapping[str, set[SchemaPath]], tuple[Server, ...]], Iterable[Judged]]


class Eras(Struct, frozen=True):
    """The eras of one CRD, oldest first; ``paths`` have the changes whose effect depends on the era."""

    eras: tuple[tuple[Server, ...], ...]
    paths: frozenset[SchemaPath]


def taken_by(
    pairs: Iterable[CrdPair], meeting: Sequence[Server], shared: ComparisonCache
) -> dict[str, tuple[Server, ...]]:
    """The servers that take the CRDs of both sides, for each CRD that some of them refuse."""
    found: dict[str, tuple[Server, ...]] = {}
    for crd_pair in pairs:
        causes = causes_in((crd_pair.old, crd_pair.new), meeting, shared).values()
        refusing = {server for each in causes for cause in each for server in cause.refused}
        if refusing:
            name = crd_pair.new.name
            found[name] = tuple(each for each in found.get(name, meeting) if each not in refusing)
    return found


def with_others(servers: Servers, taken: Mapping[str, Sequence[Server]]) -> Servers:
    """The servers, in which a CRD that they refuse gets the next server that takes it on both sides.

    A CRD that no server takes on both sides stays with the server of the others.
    """
    base = servers.of_new
    others = {}
    for name, taking in taken.items():
        if taking and base not in taking:
            later = [each for each in taking if age(each) > age(base)]
            others[name] = later[0] if later else taking[-1]
    return replace(servers, others=others)


def eras_of(
    pairs: Iterable[CrdPair], comparer: Comparer, meeting: Sequence[Server], taken: Mapping[str, Sequence[Server]]
) -> dict[str, Eras]:
    """The eras of each CRD with changes whose effect depends on the server, if there are several."""
    turns: dict[str, Turns] = {}
    paths: dict[str, set[SchemaPath]] = {}
    for crd_pair in pairs:
        name = crd_pair.new.name
        for path, old, new in comparer.changed_nodes(crd_pair):
            if turns.setdefault(name, Turns()).add(old, new):
                paths.setdefault(name, set()).add(path)
    found = {}
    for name, of_crd in paths.items():
        found[name] = Eras(tuple(turns[name].eras(taken.get(name, meeting))), frozenset(of_crd))
    return {name: each for name, each in found.items() if len(each.eras) > 1}


def in_each_era(
    known: Sequence[Judged], eras: Mapping[str, Eras], pairs: Sequence[CrdPair], servers: Servers, judge: _Judge
) -> Iterator[Judged]:
    """The ``known`` results and the results of other servers; a result that not all servers have names its servers.

    ``servers`` judged the known results.
    """
    found: dict[tuple[object, ...], list[tuple[tuple[Server, ...], Judged]]] = {}
    for item in known:
        mine = eras.get(item.crd)
        if mine is not None and not item.change.of_crd and item.change.path in mine.paths:
            base = servers.about(item.crd).known_new or DEFAULT_SERVER
            found.setdefault(_key(item), []).append((next(each for each in mine.eras if base in each), item))
    for era, names in _others(eras, servers).items():
        touched = [each for each in pairs if each.new.name in names]
        for item in judge(touched, {name: set(eras[name].paths) for name in names}, era):
            found.setdefault(_key(item), []).append((era, item))
    merged = {key: _merged(results, eras[results[0][1].crd].eras) for key, results in found.items()}
    for item in known:
        # An iterator gives its results at the place of the first one.
        yield from merged.pop(_key(item), ()) if _key(item) in found else (item,)
    for results in merged.values():
        yield from results


def _others(eras: Mapping[str, Eras], servers: Servers) -> dict[tuple[Server, ...], list[str]]:
    """The eras that have not been judged yet, each with the CRDs that have it."""
    found: dict[tuple[Server, ...], list[str]] = {}
    for name, each in eras.items():
        base = servers.about(name).known_new or DEFAULT_SERVER
        for era in each.eras:
            if base not in era:
                found.setdefault(era, []).append(name)
    return found


def _merged(
    results: Sequence[tuple[tuple[Server, ...], Judged]], eras: Sequence[tuple[Server, ...]]
) -> Iterator[Judged]:
    """One era's results for a change and an effect, with the servers that have it; proved ones have precedence."""
    proved = [each for each in results if not each[1].doubtful] or results
    having = {era for era, _ in proved}
    first = proved[0][0]
    for item in (item for era, item in proved if era == first):
        if len(having) == len(eras):
            yield item
            continue
        on = tuple(server for era in eras if era in having for server in era)
        reason = "; ".join(filter(None, (item.reason, f"on {spans_of(on)}")))
        yield replace(item, servers=on, reason=reason)


def _key(item: Judged) -> tuple[object, ...]:
    return item.crd, item.version, item.change.place, item.change.kind, item.direction, item.effect
