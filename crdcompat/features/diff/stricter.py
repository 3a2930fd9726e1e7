"""Formats and rules by which one supported server refuses an object that another accepts, and fields without values.

Only fields that a change touches are judged. Newer servers enforce formats that older servers ignore. For a format, the
older server is the writer of a schema and the newer server is the reader of the same schema. For rules, see
``compare/disputed.py``: some functions changed between servers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from crdcompat.apiserver.crd_validation.refusal import refusals
from crdcompat.apiserver.formats import supported
from crdcompat.apiserver.limits import misfits
from crdcompat.apiserver.server_versions import DEFAULT_SERVER, Server
from crdcompat.apiserver.supported.ranges import listed, server_name, spans_of
from crdcompat.compare.changes import Change
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.disputed import changed_by, disputed
from crdcompat.compare.limit_facets import changes_range
from crdcompat.compare.placed import Placed, in_contexts, judged_alone
from crdcompat.compare.result import Judged
from crdcompat.compare.site import WriterReader
from crdcompat.compare.witness import Outcome, Witness, prove
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.resolving import Chosen
from crdcompat.features.diff.compared import Compared
from crdcompat.schema.paths import ITEM, VALUE, Pointer, SchemaPath, schema_pointer
from crdcompat.schema.structural import RULES, Node
from crdcompat.vocabulary import Direction, Effect

STRICTER, REFUSES_ALL = "server.stricter-on", "server.refuses-all"
#: The behaviours of servers that concern formats.
_FORMATS = ("integer_range", "k8s_name_formats", "strict_url_colons")
#: Servers without and with a behaviour, oldest first.
_Edge = tuple[tuple[Server, ...], tuple[Server, ...]]


class _Stricter(Struct, frozen=True, eq=False):
    """A format or a rule by which the ``servers`` refuse an object that other servers accept, and such an object.

    ``names`` is the format, the functions of the rule, or the limits because of which the servers refuse every object
    that has the field; ``keyword`` is the place of the keyword in the schema of ``path``.
    """

    version: str
    path: SchemaPath
    keyword: Pointer
    names: tuple[str, ...]
    servers: tuple[Server, ...]
    witness: Witness
    reason: str
    kind: str = STRICTER


def judge_stricter(compared: Compared, placed: Sequence[Placed]) -> Iterator[Judged]:
    """New and changed fields with a format or a rule by which some of NEW's servers refuse objects."""
    servers = listed(compared.new.supported)
    olds = {(each.context, each.new.name): each.old for each in compared.pairs}
    facts: dict[CrdDocument, list[_Stricter]] = {}
    done: set[int] = set()
    for each in placed if servers else ():
        old = olds.get((each.context, each.crd.name))
        for name, chosen in each.crd.versions.items():
            if id(chosen.version) not in done:
                done.add(id(chosen.version))
                before = old.versions.get(name) if old is not None else None
                facts.setdefault(chosen.document, []).extend(_of_version(chosen, before, servers))
    for fact, occurrences in in_contexts(placed, facts):
        ids = [server_name(server).id for server in fact.servers]
        at = (*schema_pointer(fact.path), *fact.keyword)
        change = Change(fact.kind, fact.path, None, ids, added=fact.names, new_at=at)
        yield judged_alone(change, Effect.WRITE_REJECTED, fact.witness, fact.version, occurrences, fact.reason)


def _of_version(chosen: Chosen, before: Chosen | None, servers: Sequence[Server]) -> Iterator[_Stricter]:
    """The facts about the nodes of a version that differ from the facts about OLD's version ``before``."""
    edges = dict.fromkeys(found for name in _FORMATS if (found := _edge(servers, name)) is not None)
    for path, node, old in _changed(chosen.version.node, before.version.node if before is not None else None, ()):
        if refusing := tuple(server for server in servers if misfits(node, server)):
            if old is None or not changes_range(old, node):  # else a change of the schema says so
                yield from _by_limit(chosen, path, node, refusing)
            continue
        for edge in edges if node.format else ():
            yield from _by_format(chosen, path, node, edge)
        old_rules = old.rules if old is not None else []
        for index, rule in enumerate(node.rules if len(servers) > 1 else ()):
            if rule not in old_rules:
                yield from _by_rule(chosen, path, node, index, servers)


def _edge(servers: Sequence[Server], behaviour: str) -> _Edge | None:
    """The servers without and with a behaviour; None if all servers have it, or no server has it."""
    without = tuple(server for server in servers if not server.does(behaviour))
    having = tuple(server for server in servers if server.does(behaviour))
    return (without, having) if without and having else None


def _by_limit(chosen: Chosen, path: SchemaPath, node: Node, refusing: tuple[Server, ...]) -> Iterator[_Stricter]:
    """A number that the servers ``refusing`` never accept, because its type cannot hold one of its limits."""
    limits = misfits(node, refusing[0])
    outcome = _across(chosen, "number-range.changed", path, node, (DEFAULT_SERVER, refusing[0]))
    if outcome.effect == Effect.WRITE_REJECTED and outcome.witness.object is not None:
        given = " and ".join(f"{name} {node.raw[name]}" for name in limits)
        kind = node.format if supported(node.format, node.type, refusing[0]) else node.type
        reason = f"{spans_of(refusing)} refuses every number, because {given} is outside of the range of {kind}"
        at = limits[:1]
        yield _Stricter(chosen.version.name, path, at, limits, refusing, outcome.witness, reason, REFUSES_ALL)


def _by_format(chosen: Chosen, path: SchemaPath, node: Node, edge: _Edge) -> Iterator[_Stricter]:
    """The format of a node, if the servers with the behaviour refuse a value that the others accept."""
    older, newer = edge
    if not supported(node.format, node.type, newer[0]):
        return
    outcome = _across(chosen, "format.changed", path, node, (older[-1], newer[0]))
    if outcome.effect != Effect.WRITE_REJECTED or outcome.witness.object is None:
        return
    reason = f"{node.format} is enforced by {spans_of(newer)} and ignored by {spans_of(older)}"
    if supported(node.format, node.type, older[-1]):
        reason = _refuses(newer, older)
    yield _Stricter(chosen.version.name, path, ("format",), (node.format,), newer, outcome.witness, reason)


def _across(chosen: Chosen, kind: str, path: SchemaPath, node: Node, servers: tuple[Server, Server]) -> Outcome:
    """What the second server does with an object that the first accepts by the same CRD, proved as a ``kind``."""
    shared = ComparisonCache()  # not the cache of the comparison: its servers are others
    writer, reader = (shared.resource(chosen, server) for server in servers)
    change = Change(kind, path, None, node.format)
    return prove(change, Direction.UPGRADE, WriterReader(writer, reader), shared.book)


def _by_rule(
    chosen: Chosen, path: SchemaPath, node: Node, index: int, servers: Sequence[Server]
) -> Iterator[_Stricter]:
    """A rule of a node, if the servers that accept the CRD differ in its result for some object."""
    rule = node.rules[index]
    if not changed_by(rule):
        return
    installing = [server for server in servers if not refusals(chosen.document.crd, server)]
    if (found := disputed(chosen, path, node, rule, installing)) is not None:
        names = tuple(f"{name}()" for name in found.functions)
        reason = f"by {', '.join(names)}, {_refuses(found.strict, found.others)}"
        witness = Witness(found.object, found.errors)
        yield _Stricter(chosen.version.name, path, (RULES, index), names, found.strict, witness, reason)


def _changed(node: Node, old: Node | None, path: SchemaPath) -> Iterator[tuple[SchemaPath, Node, Node | None]]:
    """The nodes that are new or differ from OLD's nodes, each with its path and the node of OLD."""
    if old is not None and old.raw == node.raw:
        return
    yield path, node, old
    for name, member in node.properties.items():
        yield from _changed(member, old.properties.get(name) if old is not None else None, (*path, name))
    if node.items is not None:
        yield from _changed(node.items, old.items if old is not None else None, (*path, ITEM))
    if isinstance(node.additional, Node):
        before = old.additional if old is not None else None
        yield from _changed(node.additional, before if isinstance(before, Node) else None, (*path, VALUE))


def _refuses(strict: Sequence[Server], others: Sequence[Server]) -> str:
    return f"{spans_of(strict)} refuses a value that {spans_of(others)} accepts"
