"""The contexts that recorded objects are of: what the FeatureGate of their recording says, else the usual ones.

Most objects are the same in all contexts, and a recording need not have a FeatureGate. So each object is judged by the
schemas of all contexts that are compared. Its recording decides afterwards which of them count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, cached_property

from msgspec import Struct

from crdcompat.apiserver.server_versions import DEFAULT_SERVER
from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.supported.ranges import judging_server
from crdcompat.compare.site import WriterReader
from crdcompat.crds.context import Context, named_sides, prominence
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.pairing import version_pairs
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Chosen, Resolved, lacking, resolve
from crdcompat.crds.variants import contexts_of
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.vocabulary import Direction

#: A type of objects: group, kind and version.
Type = tuple[str, str, str]
_Documents = tuple[CrdDocument, ...]


class Schemas(Struct, frozen=True, eq=False):
    """The schemas that one type has on both sides in some contexts: those that the report calls ``labels``.

    The reader may lack the version: then it has no schema, and is not served. ``is_known``: something names the
    reader's server.
    """

    sides: WriterReader
    labels: frozenset[str]
    is_known: bool


class Origin(Struct, frozen=True, eq=False):
    """A context that the cluster of an object may have, and the schemas that the object meets there."""

    context: str
    schemas: Schemas


class RecordedContexts:
    """The schemas of recorded objects in the contexts of a comparison (``labels``: ``A`` or ``OLD=NEW``)."""

    def __init__(self, old: CrdSet, new: CrdSet, labels: Iterable[str]) -> None:
        resolved = cache(resolve)  # most CRDs have the same documents in all contexts
        olds, news = contexts_of(old.documents, new.documents), contexts_of(new.documents, old.documents)
        self._old, self._new = _Side(old, resolved), _Side(new, resolved)
        named = [{str(context): context for context in side} for side in (olds, news)]
        self._labels = {label: (named[0][a], named[1][b]) for label in labels for a, b in (named_sides(label),)}
        self._profiles = sorted({context.profile for context in (*olds, *news)})
        self.of = cache(self._of)

    def completed(self, item: Recorded) -> Recorded:
        """The object with the apiVersion and kind that its path implies; NEW's CRDs come first."""
        return item.completed(self._new.all, self._old.all)

    def _of(self, of: Type, direction: Direction) -> tuple[Schemas, ...]:
        """The schemas of a type in a direction, contexts with the same ones together; () if a side lacks the type."""
        found: dict[tuple[int, int], tuple[WriterReader, set[str]]] = {}
        for label, contexts in self._labels.items():
            for sides in self._sides(of, direction, contexts):
                found.setdefault(_key(sides), (sides, set()))[1].add(label)
        reader = self._old if direction == Direction.ROLLBACK else self._new
        return tuple(Schemas(sides, frozenset(labels), reader.is_known) for sides, labels in found.values())

    def origins(self, facts: ClusterFacts, of: Type, direction: Direction) -> list[Origin]:
        """The contexts that a cluster may have, by the facts of its recording, with the schemas of a type there."""
        return list(self._of_cluster(facts, of, direction))

    def _of_cluster(self, facts: ClusterFacts, of: Type, direction: Direction) -> Iterator[Origin]:
        schemas = self.of(of, direction)
        has_sets = any(context.feature_set for contexts in self._labels.values() for context in contexts)
        if not facts.feature_sets or not has_sets:
            for each in schemas:
                yield from (Origin(str(self._writes(label, direction)), each) for label in each.labels)
            return
        for feature_set, profiles in facts.feature_sets:
            for profile in profiles or self._profiles:
                context = Context(feature_set, profile)
                yield from (Origin(str(context), each) for each in schemas if self._meets(each, of, direction, context))

    def _meets(self, schemas: Schemas, of: Type, direction: Direction, context: Context) -> bool:
        """Whether objects of a cluster of this context have these schemas.

        In a pair ``OLD=NEW``, the cluster has the writer's context before the rollback, and the reader's after it.
        """
        if any(_key(sides) == _key(schemas.sides) for sides in self._sides(of, direction, (context, context))):
            return True
        return any(self._writes(label, direction) == context for label in schemas.labels)

    def _writes(self, label: str, direction: Direction) -> Context:
        """The context of the side that writes the objects."""
        return self._labels[label][direction == Direction.ROLLBACK]

    def _sides(self, of: Type, direction: Direction, contexts: tuple[Context, Context]) -> Iterator[WriterReader]:
        """The schemas of a type in a pair of contexts; several where copies of its CRD differ."""
        sides = [(self._old, self._old.crd(of, contexts[0])), (self._new, self._new.crd(of, contexts[1]))]
        (read_by, reader), (written_by, writer) = sides if direction == Direction.ROLLBACK else sides[::-1]
        version = of[2]
        if reader is None or writer is None or version not in writer.versions:
            return
        if version not in reader.versions:
            yield WriterReader(written_by.resource(writer.versions[version]), read_by.lacking(reader, version))
            return
        old, new = (reader, writer) if direction == Direction.ROLLBACK else (writer, reader)
        for pair in version_pairs(old, new, version):
            read, written = pair if direction == Direction.ROLLBACK else pair[::-1]
            yield WriterReader(written_by.resource(written), read_by.resource(read))


class _Side:
    """The CRDs of one release, resolved where they are asked for."""

    def __init__(self, crds: CrdSet, resolved: Callable[[_Documents], Resolved]) -> None:
        named = judging_server(crds)
        self._resolved, self._server, self.is_known = resolved, named or DEFAULT_SERVER, named is not None
        self._documents: dict[tuple[str, str], list[CrdDocument]] = {}
        for document in crds.documents:
            self._documents.setdefault((document.crd.group, document.crd.kind), []).append(document)
        self._resources: dict[int, Resource] = {}
        self._lacking: dict[tuple[str, str], Resource] = {}

    @cached_property
    def all(self) -> dict[tuple[str, str], Resolved]:
        """The CRDs of all contexts by group and kind."""
        return {of: self._resolved(tuple(documents)) for of, documents in self._documents.items()}

    def crd(self, of: Type, context: Context) -> Resolved | None:
        """The CRD of a type that clusters of a context have; None if they lack it."""
        documents = tuple(each for each in self._documents.get(of[:2], ()) if each.is_in(context))
        return self._resolved(documents) if documents else None

    def resource(self, chosen: Chosen) -> Resource:
        """A version of a CRD on the side's server, the same one for each call."""
        key = id(chosen.version)
        if key not in self._resources:
            self._resources[key] = Resource(chosen.document.crd, chosen.version, self._server)
        return self._resources[key]

    def lacking(self, crd: Resolved, version: str) -> Resource:
        """A version that a CRD lacks."""
        key = crd.name, version
        if key not in self._lacking:
            self._lacking[key] = self.resource(lacking(crd, version))
        return self._lacking[key]


def most_likely(origins: Sequence[Origin]) -> list[Origin]:
    """The usual ones of the contexts that a cluster may have: most clusters have the feature set Default."""
    ranks = [prominence(origin.context) for origin in origins]
    return [origin for origin, rank in zip(origins, ranks, strict=True) if rank == min(ranks)]


def _key(sides: WriterReader) -> tuple[int, int]:
    return id(sides.writer), id(sides.reader)
