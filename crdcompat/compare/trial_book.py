"""The trial book: what proofs found, kept for equal ones: the trials of changes, the intersections of schemas."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import Any

import orjson

from crdcompat.apiserver.equivalence import equivalence_key
from crdcompat.apiserver.versions import Server
from crdcompat.candidates.valid_values import ValidValues
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet
from crdcompat.compare.intersection import intersection
from crdcompat.compare.recent import Recent
from crdcompat.compare.site import Trials, WriterReader
from crdcompat.schema.paths import node_at
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction


class TrialBook:
    """Caches per pair of nodes, because variants of a CRD mostly have equal nodes."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Trials] = {}
        self._shared: dict[tuple[bytes, bytes, Server], Node] = {}
        self._digests: dict[Node, bytes] = {}
        self.proved: Recent[tuple[Any, ...], Any] = Recent()
        #: Of equal changes in one object: the size of their large examples, and the outcome of the last one.
        self.spent: Counter[tuple[Any, ...]] = Counter()
        self.siblings: dict[tuple[Any, ...], Any] = {}
        self._made: dict[Server, ValidValues] = {}
        self._servers: dict[bytes, dict[Server, Server]] = {}

    def trials(self, facet: Facet, change: Change, direction: Direction, pair: WriterReader) -> Trials:
        """``facet.trials``, cached by its inputs: the node on both sides and, if ``looks_above``, its parent."""
        paths = (change.path, change.path[:-1]) if facet.looks_above else (change.path,)
        inputs = [
            self._look(node_at(side.node, path), side.server) for side in (pair.writer, pair.reader) for path in paths
        ]
        key = (change.kind, change.path, direction, pair.reader.crd.prunes, *inputs)
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
            self._digests[node] = blake2b(orjson.dumps(node.raw), digest_size=16).digest()
        return self._digests[node]

    def schemas(self, pair: WriterReader) -> tuple[Any, ...]:
        """The key of a pair: equal for versions of one CRD whose schemas, servers and subresources are equal."""
        sides = ((self.digest(side.node), side.server, side.version.has_status) for side in (pair.writer, pair.reader))
        return pair.writer.crd.name, pair.reader.crd.name, pair.reader.crd.prunes, *sides

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
