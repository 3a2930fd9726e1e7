"""The trial book: what proofs found, kept for equal ones: the trials of changes, the intersections of schemas."""

from __future__ import annotations

from collections import Counter
from typing import Any, Generic, TypeVar

import orjson

from crdcompat.apiserver.equivalence import equivalence_key
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet
from crdcompat.compare.intersection import intersection
from crdcompat.compare.site import Trials, WriterReader
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.equality import digest
from crdcompat.schema.paths import node_at
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction

_K = TypeVar("_K")
_T = TypeVar("_T")


class Recent(Generic[_K, _T]):
    """Values by key. A value that nobody asks for during a whole turn is forgotten."""

    def __init__(self) -> None:
        self._now: dict[_K, _T] = {}
        self._before: dict[_K, _T] = {}

    def get(self, key: _K) -> _T | None:
        """The value of a key, which is kept for another turn; None without one."""
        if key not in self._now and key in self._before:
            self._now[key] = self._before[key]
        return self._now.get(key)

    def put(self, key: _K, value: _T) -> _T:
        """Keep a value, and give it."""
        self._now[key] = value
        return value

    def turn(self) -> None:
        """Begin another turn."""
        self._before, self._now = self._now, {}


class TrialBook:
    """Caches per pair of nodes, because variants of a CRD mostly have equal nodes."""

    def __init__(self, before: TrialBook | None = None) -> None:
        self._known: dict[tuple[Any, ...], Trials] = {}
        self._shared: dict[tuple[bytes, bytes, Server], Node] = {}
        self._digests: dict[Node, bytes] = {}
        self.proved: Recent[tuple[Any, ...], Any] = Recent()
        #: The outcomes of earlier comparisons, by equal changes, and those of this one.
        self.earlier: dict[tuple[Any, ...], Any] = {} if before is None else before.earlier | before._fresh
        self._fresh: dict[tuple[Any, ...], Any] = {}
        #: Of equal changes in one object: the size of their large examples, and the outcome of the last one.
        self.spent: Counter[tuple[Any, ...]] = Counter()
        self.siblings: dict[tuple[Any, ...], Any] = {}
        self._made: dict[Server, ValidValues] = {}
        self._servers: dict[bytes, dict[Server, Server]] = {}

    def carry(self, changes: tuple[Any, ...], outcome: Any) -> None:
        """Keep an outcome for equal changes of later comparisons. A comparison alone is judged as without this."""
        if changes not in self.earlier:
            self._fresh.setdefault(changes, outcome)

    def turn(self) -> None:
        """Begin another comparison: forget proofs that the last one did not use."""
        self.proved.turn()
        self.earlier |= self._fresh
        self._fresh.clear()

    def trials(self, facet: Facet, change: Change, direction: Direction, pair: WriterReader) -> Trials:
        """``facet.trials``, made once for equal nodes; if ``looks_above``, for equal parents of the nodes, too."""
        paths = (change.path, change.path[:-1]) if facet.looks_above else (change.path,)
        sides = pair.writer, pair.reader
        nodes = [self._look(node_at(side.node, path), side.server) for side in sides for path in paths]
        key = (change.kind, change.path, direction, *(side.crd.prunes for side in sides), *nodes)
        if key not in self._known:
            self._known[key] = facet.trials(change, direction, pair)
        return self._known[key]

    def _look(self, node: Node | None, server: Server) -> tuple[bytes, Server] | None:
        """The key of ``node`` in the cache: its digest, and the first server with the same equivalence key for it."""
        if node is None:
            return None
        digest = self.digest(node)
        servers = self._servers.setdefault(digest, {server: server})
        if server not in servers:
            mine = equivalence_key(server, node)
            equivalent = (first for first in set(servers.values()) if equivalence_key(first, node) == mine)
            servers[server] = next(equivalent, server)
        return digest, servers[server]

    def digest(self, node: Node) -> bytes:
        """A digest of a node's schema, cached: each member of an object needs the digest of its parent."""
        if node not in self._digests:
            self._digests[node] = digest(orjson.dumps(node.raw))
        return self._digests[node]

    def schemas(self, pair: WriterReader) -> tuple[Any, ...]:
        """The key of a pair: equal for versions of one CRD whose schemas, servers and subresources are equal."""
        return *self.schema(pair.writer), *self.schema(pair.reader)

    def schema(self, side: Resource) -> tuple[Any, ...]:
        """The key of one side of a pair."""
        return side.crd.name, side.crd.prunes, self.digest(side.node), side.server, side.version.has_status

    def shared(self, pair: WriterReader) -> Node:
        """The intersection of both schemas, cached."""
        writer, reader, server = pair.writer.node, pair.reader.node, pair.writer.server
        key = (self.digest(writer), self.digest(reader), server)
        if key not in self._shared:
            self._shared[key] = intersection(writer, reader, server)
        return self._shared[key]

    def made(self, server: Server) -> ValidValues:
        """Makes values of nodes, each found once for all searches."""
        return self._made.setdefault(server, ValidValues(server))
