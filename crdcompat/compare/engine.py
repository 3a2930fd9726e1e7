"""Judge the changes between two paired CRD sets: each distinct pair of schemas once, contexts merged.

The same change in several contexts is one result that lists them; its witness proves the effect in each.
Contexts that need another witness, or have none, are another result.

The engine also compares across versions (``crossings``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from typing import Any

from msgspec.structs import astuple, replace

from crdcompat.apiserver.server_versions import Server
from crdcompat.compare.budget import unproved
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.contexts import (
    by_witness,
    effects_in,
    harmless,
    identity_of,
    merge_open,
    outcomes_of,
    schemas_of,
)
from crdcompat.compare.crd_facet import CrdChange
from crdcompat.compare.crd_walk import CrdDiff, diff_crds, judged_of_crd, occurrence_of, representative
from crdcompat.compare.crossings import crosses, version_crossings
from crdcompat.compare.likelihood import is_unlikely, is_writer_default
from crdcompat.compare.result import Comparison, Judged, Occurrence, Open
from crdcompat.compare.schema_walk import SchemaDiff
from crdcompat.compare.seeds import Seed, as_written, proof_by, prove_by_seeds
from crdcompat.compare.site import WriterReader
from crdcompat.compare.trial_book import TrialBook
from crdcompat.compare.witness import Witness, proves
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.resolving import Chosen
from crdcompat.schema.equality import canonical, identical
from crdcompat.schema.paths import Object, SchemaPath, node_at
from crdcompat.schema.structural import Node
from crdcompat.schema.work import Budget, OverBudgetError
from crdcompat.vocabulary import Direction, Effect
from crdcompat.vocabulary.steps import stepping


class Comparer:
    """Compares paired CRDs; ``old_server`` and ``new_server`` run beside either release.

    ``others`` has CRDs that another server judges on both sides.

    ``cache`` may serve several comparisons, if one reader has read all their sets and they stay in memory: it
    identifies versions by ``id``.
    """

    def __init__(
        self,
        old_server: Server,
        new_server: Server,
        cache: ComparisonCache | None = None,
        others: Mapping[str, Server] | None = None,
    ) -> None:
        self._old_server = old_server
        self._new_server = new_server
        self._others = others or {}
        self._cache = cache or ComparisonCache()
        self._schemas: dict[tuple[int, int], SchemaDiff] = {}
        self._counted_texts: set[tuple[int, ...]] = set()
        self._crds: dict[tuple[int, int], CrdDiff] = {}

    @property
    def budget(self) -> Budget:
        """What is left for the comparison under way."""
        return self._cache.budget

    @property
    def book(self) -> TrialBook:
        """What was found for equal nodes."""
        return self._cache.book

    def compare(
        self,
        pairs: Sequence[CrdPair],
        directions: Iterable[Direction] = tuple(Direction),
        paths: Mapping[str, Set[SchemaPath]] | None = None,
        complete: Callable[[Iterable[Judged]], Iterable[Judged]] = iter,
    ) -> Comparison:
        """Compare all pairs and judge the changes in ``directions``.

        ``paths``: only the changes of schemas at these paths, by CRD. ``complete`` adds to each result, as it is found,
        what else the budget is for.
        """
        found = Comparison()
        occurrences: dict[tuple[Any, ...], list[Occurrence]] = {}
        of_crds: dict[tuple[Any, ...], tuple[CrdChange, list[Occurrence]]] = {}
        opened: dict[tuple[Any, ...], Open] = {}
        for crd_pair in stepping(pairs, "CRD variants compared", len(pairs)):
            name = crd_pair.old.name
            found.compared.add(name)
            shared = _shared(crd_pair)
            found.versions.update((name, version) for version in shared or ("",))
            for version, occurrence in (*self._occurrences(crd_pair, found), *self._crossings(crd_pair)):
                if paths is not None and occurrence.change.path not in paths[name]:
                    continue
                key = (*identity_of(name, version, occurrence.change), occurrence.direction, occurrence.written_as)
                occurrences.setdefault(key, []).append(occurrence)
            if paths is not None:
                continue
            for item in self._crd_diff(crd_pair, found).changes:
                effects = [astuple(each) for each in (item.rollback, item.upgrade)]
                key = (*identity_of(name, item.version, item.change), canonical(effects))
                of_crds.setdefault(key, (item, []))[1].append(occurrence_of(crd_pair, item))
            for undecided in self._open(crd_pair, found):
                merge_open(undecided, opened)
        wanted = tuple(directions)
        for (crd, *_), (item, places) in of_crds.items():
            found.judged.extend(complete(judged_of_crd(crd, item, places, wanted, found)))
        found.judged.extend(complete(self._each_judged(occurrences, wanted, found)))
        found.open = list(opened.values())
        found.changed |= {judged.crd for judged in found.judged} | {item.crd for item in found.open}
        return found

    # -- differences -------------------------------------------------------------------------------

    def _occurrences(self, crd_pair: CrdPair, found: Comparison) -> Iterator[tuple[str, Occurrence]]:
        for version in _shared(crd_pair):
            old, new = crd_pair.old.versions[version], crd_pair.new.versions[version]
            for change in self._diff(old, new, found, crd_pair.old.name).changes:
                yield version, Occurrence(crd_pair.context, crd_pair.terminal, old, new, change)

    def _crossings(self, crd_pair: CrdPair) -> Iterator[tuple[str, Occurrence]]:
        """Changes between a version of one side and another version, except changes of the latter itself."""
        for direction, name, old, new in version_crossings(crd_pair):
            same = self._schema_diff(crd_pair.old.versions[name], crd_pair.new.versions[name])
            known = {identity_of("", name, change) for change in same.changes}
            for change in self._schema_diff(old, new).changes:
                if crosses(change) and identity_of("", name, change) not in known:
                    yield name, Occurrence(crd_pair.context, crd_pair.terminal, old, new, change, direction)

    def _schema_diff(self, old: Chosen, new: Chosen) -> SchemaDiff:
        a, b = old.version.schema, new.version.schema
        key = (id(a), id(b))
        if key not in self._schemas:
            same = a is None or b is None or identical(a, b)
            self._schemas[key] = SchemaDiff() if same else self._cache.diff(old.version.node, new.version.node)
        return self._schemas[key]

    def _diff(self, old: Chosen, new: Chosen, found: Comparison, name: str) -> SchemaDiff:
        diff = self._schema_diff(old, new)
        key = tuple(map(id, (old.document.crd, old.version.schema, new.document.crd, new.version.schema)))
        if key not in self._counted_texts:  # counted per pair of manifests: variants may differ in texts alone
            self._counted_texts.add(key)
            found.texts += [f"{name}/{old.version.name} {text}" for text in diff.texts]
        if diff.changes or diff.undecided or diff.texts:
            found.changed.add(name)
        return diff

    def _open(self, crd_pair: CrdPair, found: Comparison) -> Iterator[Open]:
        name = crd_pair.old.name
        for version in _shared(crd_pair):
            old, new = crd_pair.old.versions[version], crd_pair.new.versions[version]
            for item in self._diff(old, new, found, name).undecided:
                yield Open(item, name, version, (crd_pair.context,), old, new)
        for version, item in self._crd_diff(crd_pair, found).undecided:
            at_old, at_new = (representative(side.versions, version) for side in (crd_pair.old, crd_pair.new))
            yield Open(item, name, version, (crd_pair.context,), at_old, at_new)

    def _crd_diff(self, crd_pair: CrdPair, found: Comparison) -> CrdDiff:
        key = (id(crd_pair.old.crd), id(crd_pair.new.crd))
        if key not in self._crds:
            self._crds[key] = diff_crds(crd_pair.old, crd_pair.new, *self._servers(crd_pair.new.name))
            found.texts += [f"{crd_pair.old.name} {text}" for text in self._crds[key].texts]
            if self._crds[key].texts or self._crds[key].changes:
                found.changed.add(crd_pair.old.name)
        return self._crds[key]

    def changed_nodes(self, crd_pair: CrdPair) -> Iterator[tuple[SchemaPath, Node, Node]]:
        """The path of each change of schemas that both sides describe there, with the nodes of OLD and NEW."""
        for old, new in self._versions(crd_pair):
            for path in {change.path for change in self._schema_diff(old, new).changes}:
                nodes = [node_at(side.version.node, path) for side in (old, new)]
                if nodes[0] is not None and nodes[1] is not None:
                    yield path, nodes[0], nodes[1]

    def _versions(self, crd_pair: CrdPair) -> Iterator[tuple[Chosen, Chosen]]:
        """The versions that are compared: those of both sides, and those between which objects cross."""
        for name in _shared(crd_pair):
            yield crd_pair.old.versions[name], crd_pair.new.versions[name]
        yield from ((old, new) for _, _, old, new in version_crossings(crd_pair))

    def proved_by(self, item: Judged, seeds: Sequence[Seed]) -> Judged:
        """A judged change without a witness, with one that a seed gives in all its occurrences, if any does."""
        pairs = self.pairs(item)
        found = prove_by_seeds(item.change, item.effect, item.direction, pairs[0], seeds, self.book)
        return item if found is None else self._with_witness(item, found, pairs) or item

    def shown_by(self, item: Judged, obj: Object) -> Judged | None:
        """A judged change with an object as its witness; None if the object does not show it in all its occurrences."""
        pairs = self.pairs(item)
        found = proof_by(as_written(obj, pairs[0]), item.witness.at, item.change, item.effect, pairs[0])
        return None if found is None else self._with_witness(item, found, pairs)

    def pairs(self, item: Judged) -> list[WriterReader]:
        """The writer and the reader of each occurrence of a change of schemas."""
        places = (occurrence for occurrence in item.occurrences if isinstance(occurrence, Occurrence))
        return [self._sides(item.direction, occurrence) for occurrence in places]

    def _with_witness(self, item: Judged, witness: Witness, pairs: Sequence[WriterReader]) -> Judged | None:
        if not proves(witness, item.change, item.effect, pairs):
            return None
        return replace(
            item,
            witness=witness,
            doubtful=False,
            writes=None,  # the answers were those to another witness
            spared=None,
            spared_since=0,
            writer_default=is_writer_default(item.change, item.direction, item.effect, witness, pairs[0]),
            unlikely=is_unlikely(item.change, item.effect, witness, pairs[0], self.book),
        )

    # -- effects -------------------------------------------------------------------------------

    def _each_judged(
        self,
        occurrences: Mapping[tuple[Any, ...], list[Occurrence]],
        directions: tuple[Direction, ...],
        found: Comparison,
    ) -> Iterator[Judged]:
        """The results of all changes, by CRD: one with many changes does not take the budget of those with few."""
        counts = Counter(crd for crd, *_ in occurrences)
        ordered = sorted(occurrences.items(), key=lambda each: counts[each[0][0]])
        for (crd, version, *_), places in stepping(ordered, "Changes judged", len(ordered)):
            yield from self._judged(crd, version, places, directions, found)

    def _judged(
        self, crd: str, version: str, places: list[Occurrence], directions: tuple[Direction, ...], found: Comparison
    ) -> list[Judged]:
        try:
            with self._cache.budget.spending():
                return [*self._judge(crd, version, places, directions, found)]
        except OverBudgetError:
            return [*unproved(crd, version, places, directions)]

    def _judge(
        self, crd: str, version: str, places: list[Occurrence], directions: tuple[Direction, ...], found: Comparison
    ) -> Iterator[Judged]:
        ways = (places[0].direction,) if places[0].direction else tuple(Direction)
        outcomes = {way: outcomes_of(places, way, partial(self._sides, way), self.book) for way in ways}
        for direction in (wanted for wanted in directions if wanted in ways):
            groups: dict[tuple[Any, ...], list[Occurrence]] = {}
            for occurrence in places:
                values = canonical(outcomes[direction][schemas_of(occurrence)].labels)
                groups.setdefault((*effects_in(occurrence, outcomes, direction), values), []).append(occurrence)
            for (effect, windows, _), occurrences in groups.items():
                if effect == Effect.NONE or (len(ways) == 1 and effect != Effect.WRITE_REJECTED):
                    found.without_effect.append(harmless(crd, version, occurrences, direction, effect))
                    continue
                labels = outcomes[direction][schemas_of(occurrences[0])].labels
                sides = partial(self._sides, direction)
                for witness, proved in by_witness(occurrences, effect, outcomes[direction], sides):
                    change, pair = proved[0].change, sides(proved[0])
                    yield Judged(
                        change=change,
                        direction=direction,
                        effect=effect,
                        witness=witness,
                        labels=labels,
                        windows=windows,
                        crd=crd,
                        kind=proved[0].old.document.crd.kind,
                        version=version,
                        occurrences=proved,
                        doubtful=witness.object is None and not witness.assumed,
                        writer_default=is_writer_default(change, direction, effect, witness, pair),
                        unlikely=is_unlikely(change, effect, witness, pair, self.book),
                    )

    def _servers(self, crd: str) -> tuple[Server, Server]:
        other = self._others.get(crd)
        return (self._old_server, self._new_server) if other is None else (other, other)

    def _sides(self, direction: Direction, occurrence: Occurrence) -> WriterReader:
        reads_old, reads_new = (bool(occurrence.direction) and direction == way for way in Direction)
        old_server, new_server = self._servers(occurrence.new.document.crd.name)
        old = self._cache.resource(occurrence.old, old_server, converting=reads_old)
        new = self._cache.resource(occurrence.new, new_server, converting=reads_new)
        return (
            WriterReader(writer=new, reader=old)
            if direction == Direction.ROLLBACK
            else WriterReader(writer=old, reader=new)
        )


def _shared(crd_pair: CrdPair) -> list[str]:
    """The versions that both sides have, in OLD's order: sets have another one in each run."""
    return [version for version in crd_pair.old.versions if version in crd_pair.new.versions]
