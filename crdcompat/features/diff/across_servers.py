"""Writes that one supported server accepts and another refuses, shown by objects that both servers judge.

Two differences concern schemas that a change touches. Newer servers enforce formats that older ones ignore: for these,
the older server is the writer and the newer one the reader of the same schema. And servers differ in which updates they
refuse to an object that breaks the schema already: the witnesses of other findings are replayed on all servers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.formats import supported
from crdcompat.apiserver.supported.ranges import listed, server_name
from crdcompat.apiserver.versions import Server
from crdcompat.compare.changes import Change
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.placed import Placed, in_contexts, judged_alone
from crdcompat.compare.result import Judged, Occurrence
from crdcompat.compare.site import WriterReader
from crdcompat.compare.witness import Witness, prove
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.pairing import Chosen
from crdcompat.features.diff.comparison import Compared, Filters
from crdcompat.features.diff.refused import placed_in_new
from crdcompat.features.simulate.replay import writes_of
from crdcompat.render.wording.findings import plural
from crdcompat.schema.paths import ITEM, VALUE, SchemaPath, schema_pointer
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.servers import spans
from crdcompat.vocabulary.writes import ORDINARY, WriteKind

STRICTER, LOOSER = "server.stricter-on", "server.looser-on"
_FORMATS = ("integer_range", "k8s_name_formats")
_UPDATES = ("status_scope", "ratchet_main", "ratchet_status")


class _Enforced(Struct, frozen=True, eq=False):
    """A format that the ``servers`` enforce and older ones ignore, and an object that shows it."""

    version: str
    path: SchemaPath
    format: str
    servers: tuple[Server, ...]
    older: tuple[Server, ...]
    witness: Witness


def with_differences(compared: Compared, wanted: Filters, shared: ComparisonCache, *, judge_new: bool) -> Compared:
    """The comparison with the differences between the supported servers among its results."""
    found = [*judge_updates(compared.judged, compared, shared)]
    if judge_new:
        found += judge_enforced(compared, placed_in_new(compared))
    owners = wanted.owners
    kept = (each for each in found if not owners or each.change.owner in owners)
    return replace(compared, judged=(*compared.judged, *kept))


def judge_enforced(compared: Compared, placed: Sequence[Placed]) -> Iterator[Judged]:
    """New and changed fields with a format that only some of NEW's servers enforce."""
    servers = listed(compared.new.supported)
    edges = [found for name in _FORMATS if (found := _edge(servers, name)) is not None]
    if not edges:
        return
    olds = {(each.context, each.new.name): each.old for each in compared.pairs}
    facts: dict[CrdDocument, list[_Enforced]] = {}
    done: set[int] = set()
    for each in placed:
        old = olds.get((each.context, each.crd.name))
        for name, chosen in each.crd.versions.items():
            if id(chosen.version) not in done:
                done.add(id(chosen.version))
                before = old.versions.get(name) if old is not None else None
                for edge in edges:
                    facts.setdefault(chosen.document, []).extend(_enforced(chosen, before, edge))
    for fact, occurrences in in_contexts(placed, facts):
        ids = [server_name(server).id for server in fact.servers]
        at = (*schema_pointer(fact.path), "format")
        change = Change(STRICTER, fact.path, None, ids, added=(fact.format,), new_at=at)
        reason = f"{fact.format} is enforced by {_spans(fact.servers)} and ignored by {_spans(fact.older)}"
        yield judged_alone(change, Effect.WRITE_REJECTED, fact.witness, fact.version, occurrences, reason)


def _edge(servers: Sequence[Server], behaviour: str) -> tuple[tuple[Server, ...], tuple[Server, ...]] | None:
    """The servers without and with a behaviour; None if they are alike."""
    without = tuple(server for server in servers if not server.does(behaviour))
    having = tuple(server for server in servers if server.does(behaviour))
    return (without, having) if without and having else None


def _enforced(
    chosen: Chosen, before: Chosen | None, edge: tuple[tuple[Server, ...], tuple[Server, ...]]
) -> Iterator[_Enforced]:
    older, newer = edge
    shared = ComparisonCache()  # of these servers alone
    pair = WriterReader(shared.resource(chosen, older[-1]), shared.resource(chosen, newer[0]))
    for path, node in _changed(chosen.version.node, before.version.node if before is not None else None, ()):
        if not supported(node.format, node.type, newer[0]) or supported(node.format, node.type, older[-1]):
            continue
        outcome = prove(Change("format.changed", path, None, node.format), Direction.UPGRADE, pair, shared.book)
        if outcome.effect == Effect.WRITE_REJECTED and outcome.witness.object is not None:
            yield _Enforced(chosen.version.name, path, node.format, newer, older, outcome.witness)


def _changed(node: Node, old: Node | None, path: SchemaPath) -> Iterator[tuple[SchemaPath, Node]]:
    """The nodes with a format that are new or differ from OLD's."""
    if old is not None and old.raw == node.raw:
        return
    if node.format:
        yield path, node
    for name, member in node.properties.items():
        yield from _changed(member, old.properties.get(name) if old is not None else None, (*path, name))
    if node.items is not None:
        yield from _changed(node.items, old.items if old is not None else None, (*path, ITEM))
    if isinstance(node.additional, Node):
        before = old.additional if old is not None else None
        yield from _changed(node.additional, before if isinstance(before, Node) else None, (*path, VALUE))


def judge_updates(judged: Iterable[Judged], compared: Compared, shared: ComparisonCache) -> Iterator[Judged]:
    """The rejections of which some supported servers spare ordinary updates and others do not.

    All fields of a CRD at which the same servers refuse the same kinds of update are one result, at the first of them.
    """
    alike: dict[tuple[object, ...], list[Judged]] = {}
    for item in judged:
        occurrence = item.occurrences[0]
        rejected = item.effect == Effect.WRITE_REJECTED and item.witness.object is not None and not item.doubtful
        if not rejected or item.witness.stored is not None or not isinstance(occurrence, Occurrence):
            continue
        if (found := _updates(item, occurrence, compared, shared)) is not None:
            key = (item.crd, item.version, item.direction, found.change.added, found.reason)
            alike.setdefault(key, []).append(found)
    for first, *others in alike.values():
        paths = dict.fromkeys(each.change.place for each in others if each.change.path != first.change.path)
        more = f" (alike at {plural(len(paths), 'more field')})" if paths else ""
        yield replace(first, reason=first.reason + more)


def _updates(item: Judged, occurrence: Occurrence, compared: Compared, shared: ComparisonCache) -> Judged | None:
    back = item.direction == Direction.ROLLBACK
    reads, servers = (occurrence.old, compared.old.supported) if back else (occurrence.new, compared.new.supported)
    refused: dict[frozenset[WriteKind], list[Server]] = {}
    eras: dict[tuple[bool, ...], frozenset[WriteKind]] = {}
    for server in listed(servers):
        era = tuple(map(server.does, _UPDATES))
        if era not in eras:
            eras[era] = _refused(item, reads, server, shared)
        refused.setdefault(eras[era], []).append(server)
    if not refused:
        return None
    strict, loose = max(refused, key=len), min(refused, key=len)
    kinds = [kind.value for kind in WriteKind if kind in strict - loose]
    if not strict - loose - {WriteKind.APPLY}:
        return None
    tolerant = [server for found, each in refused.items() if found != strict for server in each]
    reason = f"{_spans(tolerant)} accepts what {_spans(refused[strict])} refuses: {', '.join(kinds)}"
    ids = [server_name(server).id for server in refused[strict]]
    change = replace(item.change, kind=LOOSER, old=None, new=ids, added=tuple(kinds), removed=())
    return replace(item, change=change, labels=(), spared=None, unlikely=False, writer_default=False, reason=reason)


def _refused(item: Judged, reads: Chosen, server: Server, shared: ComparisonCache) -> frozenset[WriteKind]:
    """The ordinary updates of the witness that a server refuses."""
    reader = shared.resource(reads, server)
    stored = {**(item.witness.object or {}), "apiVersion": reader.api_version}
    return writes_of(reader, stored, had_status=reader.version.has_status).rejected & ORDINARY


def _spans(servers: Sequence[Server]) -> str:
    return spans(map(server_name, servers))
