"""Replays each witness that the reader rejects: which kinds of write its server rejects, and what ratcheting spares.

A schema that rejects an object does not make every write of it fail. ``simulate`` replays the same writes, so both say
the same about an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from msgspec.structs import replace

from crdcompat.apiserver.field_errors import DUPLICATE
from crdcompat.apiserver.server_versions import DEFAULT_SERVER, NEWEST, SINCE, Server, Servers
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.budget import within
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.result import Judged, Occurrence
from crdcompat.crds.resolving import Chosen
from crdcompat.crds.run_level import precedes_api_server, run_level
from crdcompat.replay.replayed_writes import Cause, Written, writes_of
from crdcompat.schema.answers import ANSWERS
from crdcompat.schema.equality import canonical, digest
from crdcompat.schema.paths import ITEM, Object, node_at
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.writes import OF_THE_REST, ORDINARY, Spared, WriteKind

_NEWEST = Server(NEWEST)
_STATUS = frozenset((WriteKind.STATUS_UPDATE, WriteKind.STATUS_UPDATE_TOUCHING))


def with_writes(judged: Iterable[Judged], servers: Servers, shared: ComparisonCache) -> Iterator[Judged]:
    """The judged changes, with the answers to all kinds of write of the witnesses that are rejected.

    What has answers keeps them.
    """
    asked = _Asked(servers, shared)
    for item in judged:
        occurrence = item.occurrences[0]
        rejected = item.effect == Effect.WRITE_REJECTED and item.witness.object is not None
        # An update is one kind of write: the rule refuses no others.
        is_open = rejected and item.writes is None and item.witness.stored is None
        if not is_open or not isinstance(occurrence, Occurrence):
            yield item
        else:
            yield within(shared.budget, item, partial(asked.about, occurrence=occurrence))


class _Asked:
    """The servers of both releases.

    If the server of a release is not known, the newest server is asked: older servers reject whatever it
    rejects, because ratcheting has only grown. What it spares is not known then.
    """

    def __init__(self, servers: Servers, shared: ComparisonCache) -> None:
        self._servers = servers
        self._shared = shared

    def about(self, item: Judged, occurrence: Occurrence) -> Judged:
        """``item`` with the kinds of write that are rejected, and the updates that are spared."""
        servers = self._servers.about(item.crd)
        sides = (occurrence.old, servers.known_old), (occurrence.new, servers.known_new)
        (reads, known), written_by = sides if item.direction == Direction.ROLLBACK else sides[::-1]
        early = item.direction == Direction.UPGRADE and self._meets_old(reads)
        known = written_by[1] if early else known
        reader = self._shared.resource(reads, known or _NEWEST)
        writer = self._shared.resource(written_by[0], written_by[1] or DEFAULT_SERVER)
        stored = writer.read(item.witness.object or {}).object  # the writer accepts it: it is a witness
        update = partial(_answer, stored, reader, had_status=writer.version.has_status, is_known=known is not None)
        facts = known is not None, writer.version.has_status
        # Other versions mostly have equal schemas, and other writers store equal objects.
        key = ("writes", *facts, *self._shared.book.schema(reader), digest(canonical({**stored, "apiVersion": ""})))
        asked = partial(reader.question, *facts, stored)
        find = partial(ANSWERS.of, "writes of a witness", asked, _Answer, update)
        writes, spared, since = self._shared.once(key, find)
        return replace(item, writes=writes, spared=spared, early=early, spared_since=since)

    def _meets_old(self, reads: Chosen) -> bool:
        """Whether a CRD of NEW is applied while OLD's API server still serves."""
        old, new = self._servers.known_old, self._servers.known_new
        releases = old is not None and new is not None and old != new and old.openshift is not None
        return releases and precedes_api_server(run_level(each.document.file for each in reads.everywhere()))


#: The kinds of write that are rejected, the updates that are spared, and the Kubernetes minor since which they would
#: be if nothing names the server (0: in none, or the server is known).
_Answer = tuple[tuple[WriteKind, ...], Spared | None, int]


def _answer(stored: Object, reader: Resource, *, had_status: bool, is_known: bool) -> _Answer:
    as_read = {**stored, "apiVersion": reader.api_version}
    written = writes_of(reader, as_read, had_status=had_status)
    if had_status and not reader.version.has_status and not any(map(_is_of_status, written.causes)):
        # That the endpoint is lost is a finding of its own: no value elsewhere makes writes of the status fail.
        written = replace(written, writes={kind: each for kind, each in written.writes.items() if kind not in _STATUS})
    rejected = written.rejected
    spared = _spared(reader, written)
    since = 0 if is_known else _since(written, spared)
    return tuple(kind for kind in WriteKind if kind in rejected), spared if is_known else None, since


def _spared(reader: Resource, written: Written) -> Spared | None:
    """The updates that the server accepts although the object breaks the schema; None if an ordinary one fails.

    Duplicates are no matter of ratcheting: every server tolerates stored ones.
    """
    causes = [cause for cause in written.causes if cause.error.type != DUPLICATE]
    if not causes or written.rejected & ORDINARY:
        return None
    if not all(reader.server.does(part) for part in _parts(written)):
        return None
    return Spared.LIST if any(_is_in_a_list(reader, cause) for cause in causes) else Spared.VALUE


def _since(written: Written, spared: Spared | None) -> int:
    """The Kubernetes minor from which on servers spare updates; 0 if there is none.

    Where the whole spec or status breaks the schema, they spare those of the rest.
    """
    if spared is not None:
        return max(SINCE[part] for part in _parts(written))
    is_partly = written.rejected & ORDINARY and not written.rejected & OF_THE_REST
    return SINCE["ratchet_main"] if is_partly else 0


def _parts(written: Written) -> set[str]:
    """The behaviours of servers that let updates of such an object pass."""
    causes = (cause for cause in written.causes if cause.error.type != DUPLICATE)
    return {"ratchet_status" if _is_of_status(cause) else "ratchet_main" for cause in causes}


def _is_of_status(cause: Cause) -> bool:
    return cause.path[:1] == ("status",)


def _is_in_a_list(reader: Resource, cause: Cause) -> bool:
    """Whether ratcheting compares a list that the cause is in as one value, because its items have no keys."""
    holders = (cause.path[:index] for index, step in enumerate(cause.path) if step is ITEM)
    lists = (node_at(reader.node, holder) for holder in holders)
    return any(each is None or each.list_type != "map" for each in lists)
