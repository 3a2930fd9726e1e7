"""Compares two CRD sets and makes the report: the steps of ``diff`` that ``matrix`` repeats for many pairs.

A comparison includes CRDs that the API server refuses (``simulate`` and ``judge`` do not), because the findings on the
rest of the schema are valid.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from crdcompat.apiserver.versions import Servers, known_server
from crdcompat.compare.engine import Comparer
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.result import Comparison, Judged, Open
from crdcompat.compare.unpaired import judge_unpaired
from crdcompat.crds.below import is_below
from crdcompat.crds.context import no_context
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.pairing import CrdPair, Pairing, pair
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.unpaired import Unpaired
from crdcompat.crds.variants import contexts_of
from crdcompat.errors import did_you_mean, problem_order
from crdcompat.features.diff.promoted import promoted_gates
from crdcompat.features.diff.ratcheting import with_writes
from crdcompat.features.diff.seeds import with_seeds
from crdcompat.findings.finding import group_copies, make_findings
from crdcompat.findings.locations import Places
from crdcompat.models.diff import Counts, DiffReport, UndecidedEntry, UnmatchedCopies
from crdcompat.models.finding import Finding, Location
from crdcompat.models.report import Release, sorted_skips
from crdcompat.schema.paths import owner, render
from crdcompat.vocabulary.filters import Filters


class Compared(Struct, frozen=True, eq=False):
    """The comparison of two sets: the servers that run beside them, their pairing, and the filtered results.

    ``pairs`` are the pairs that the filters left to compare. ``missing`` describes a filter name that
    matches nothing, so that nothing was compared; it is "" if all names match. ``unknown``: the named contexts that
    neither side has, each with a message. ``unpaired`` counts the CRDs that only one side ships, ``entering`` are those
    that NEW alone has.
    """

    old: CrdSet
    new: CrdSet
    servers: Servers
    pairing: Pairing
    pairs: tuple[CrdPair, ...]
    found: Comparison
    judged: tuple[Judged, ...]
    open: tuple[Open, ...]
    missing: str = ""
    unknown: Mapping[str, str] = field(default_factory=dict)
    unpaired: int = 0
    entering: tuple[Unpaired, ...] = ()


def compare(old: CrdSet, new: CrdSet, wanted: Filters, shared: ComparisonCache) -> Compared:
    """Pair two sets, apply the filters, and compare. Raises UsageError for an unknown Kubernetes version."""
    contexts, crds = wanted.contexts, wanted.crds
    forced = [(a, b) for a, _, b in (name.partition("=") for name in contexts if "=" in name)]
    pairing = pair(old, new, forced, [name for name in contexts if "=" not in name])
    pairs = tuple(crd_pair for crd_pair in pairing.pairs if _is_wanted(crd_pair, wanted))
    missing = ""
    unknown: dict[str, str] = {}
    if contexts and old.documents and new.documents:
        apart, unknown = _unknown_contexts(contexts, old, new)
        if not pairing.pairs:
            missing = ". ".join(apart) or f"no CRD of both sides is in the context {', '.join(contexts)}"
    if not missing and crds and not any(name in crds for name in _known(pairing)):
        hint = did_you_mean(crds[0], sorted(set(_known(pairing)))) if len(crds) == 1 else ""
        missing = f"no CRD of both sides is named {', '.join(crds)}{hint}"
    servers = Servers(known_server(old), known_server(new))
    comparer = Comparer(servers.of_old, servers.of_new, shared)
    found = comparer.compare(pairs, wanted.directions)
    found.judged = list(with_seeds(found.judged, comparer, old, new))
    unpaired = [item for item in pairing.unpaired if _wants(wanted, item.names, (item.documents, item.renamed))]
    found.judged += judge_unpaired(unpaired, wanted.directions)
    owners = wanted.owners
    return Compared(
        old,
        new,
        servers,
        pairing,
        pairs,
        found,
        judged=tuple(
            with_writes((item for item in found.judged if not owners or item.change.owner in owners), servers, shared)
        ),
        open=tuple(item for item in found.open if not owners or owner(item.undecided.path) in owners),
        missing=missing,
        unknown=unknown,
        unpaired=len({item.names for item in unpaired}),
        entering=tuple(item for item in pairing.entering if _wants(wanted, item.names, (item.documents,))),
    )


def _unknown_contexts(contexts: Sequence[str], old: CrdSet, new: CrdSet) -> tuple[list[str], dict[str, str]]:
    """Messages on the contexts that a side does not have, and by name those that neither has.

    Releases differ in their contexts: one that a single side has is no error beside others. A pair ``OLD=NEW`` needs
    both.
    """
    olds = [*map(str, contexts_of(old.documents, new.documents))]
    news = [*map(str, contexts_of(new.documents, old.documents))]
    common = [name for name in olds if name in news]
    apart, unknown = [], {}
    for name in contexts:
        of_old, equals, of_new = name.partition("=")
        places = [(of_old, f"in {old.name}", olds), (of_new, f"in {new.name}", news)]
        found = [no_context(*place) for place in places if place[0] not in place[2]] if equals else []
        if not equals and name not in common:
            found = [no_context(name, "on both sides", common)]
        apart += found
        if found and (equals or name not in (*olds, *news)):
            unknown[name] = ". ".join(found)
    return apart, unknown


def report_on(
    compared: Compared,
    releases: tuple[Release, Release],
    wanted: Filters,
    places: Places,
    *,
    command: str,
    more_places: Callable[[Judged], tuple[Location, ...]] | None = None,
    without_gates: Sequence[CrdSet] | None = None,
) -> DiffReport:
    """The report on a comparison, in the directions ``wanted``.

    ``more_places`` gives the locations of a change outside the manifests. ``without_gates`` are the sets in which a
    promoted gate is off: OLD by default; if there is none, no gate counts as promoted.
    """
    old, new, pairing, found = compared.old, compared.new, compared.pairing, compared.found

    def where(item: Judged) -> tuple[Location, ...]:
        return (*places.of(item), *(more_places(item) if more_places is not None else ()))

    judged = [item for item in compared.judged if item.direction in wanted.directions]
    grouped = group_copies(make_findings(judged, releases[0].title, releases[1].title, where))
    findings = tuple(finding for finding in grouped if _is_kept(finding, wanted))
    gateless = (old,) if without_gates is None else without_gates
    return DiffReport(
        command=command,
        old=releases[0],
        new=releases[1],
        counts=Counts(
            old=len(old.named()),
            new=len(new.named()),
            compared=len(found.compared),
            changed=len(found.changed),
            only_old=tuple(name for name in pairing.only_old if _is_touched(name, wanted)),
            only_new=tuple(name for name in pairing.only_new if _is_touched(name, wanted)),
            apart=tuple(name for name in pairing.without_common_context if _names_wanted(wanted, [name])),
            contexts=pairing.contexts,
            contexts_only_old=pairing.only_old_contexts,
            contexts_only_new=pairing.only_new_contexts,
            text_changes=tuple(sorted(found.texts)),
            harmless=sum(found.without_effect[direction] for direction in wanted.directions),
            superseded=pairing.ignored_duplicates,
            versions=tuple(sorted(found.versions)),
            unread=new.unread,
            unpaired=compared.unpaired,
            unmatched=tuple(
                UnmatchedCopies(item.name, _files(item.old), _files(item.new))
                for item in pairing.unmatched
                if _wants(wanted, (item.name,), (item.old, item.new))
            ),
        ),
        findings=findings,
        undecided=tuple(sorted((_undecided(item, places) for item in compared.open), key=_undecided_order)),
        skipped=sorted_skips(old.skipped, new.skipped),
        problems=tuple(sorted((*old.problems, *new.problems), key=problem_order)),
        remarks=tuple(sorted((*old.remarks, *new.remarks), key=problem_order)),
        promoted=tuple(promoted_gates(gateless, new, pairing.contexts, judged, findings)),
        directions=tuple(wanted.directions),
        is_filtered=wanted.leave_out,
    )


def _known(pairing: Pairing) -> Iterator[str]:
    """The names of the CRDs that are compared, and of those that only one side ships."""
    yield from (crd_pair.old.name for crd_pair in pairing.pairs)
    yield from (name for item in pairing.unpaired for name in item.names)


def _is_wanted(crd_pair: CrdPair, wanted: Filters) -> bool:
    return _wants(wanted, (crd_pair.old.name,), (crd_pair.old.documents, crd_pair.new.documents))


def _wants(wanted: Filters, names: Collection[str], sides: Iterable[Iterable[CrdDocument]]) -> bool:
    """Whether the filters leave a CRD with these names, and documents on either side."""
    if not _names_wanted(wanted, names):
        return False
    files = (document.file for side in sides for document in side)
    return not wanted.paths or any(is_below(file, wanted.paths) for file in files)


def _files(documents: Iterable[CrdDocument]) -> tuple[str, ...]:
    return tuple(sorted({document.file for document in documents}))


def _names_wanted(wanted: Filters, names: Collection[str]) -> bool:
    return all(kept is None or any(name in kept for name in names) for kept in (wanted.crds or None, wanted.touched))


def _is_touched(name: str, wanted: Filters) -> bool:
    """Whether all files with the CRD were read: of the others each side has those that show its contexts."""
    return wanted.touched is None or name in wanted.touched


def _is_kept(finding: Finding, wanted: Filters) -> bool:
    return (not wanted.select or finding.rule in wanted.select) and finding.rule not in wanted.ignore


def _undecided(item: Open, places: Places) -> UndecidedEntry:
    undecided = item.undecided
    return UndecidedEntry(
        crd=item.crd,
        version=item.version,
        contexts=item.contexts,
        path=render(undecided.path),
        keyword=undecided.keyword,
        old=undecided.old,
        new=undecided.new,
        reason=undecided.reason,
        locations=places.of_open(item),
    )


def _undecided_order(entry: UndecidedEntry) -> tuple[str, ...]:
    return (entry.crd, entry.version, entry.path, entry.keyword, *entry.contexts)
