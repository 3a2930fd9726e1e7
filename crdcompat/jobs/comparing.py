"""Two CRD sets side by side, and the report on them: the steps of ``diff`` that ``matrix`` takes for many pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from crdcompat.apiserver.eras import Server
from crdcompat.collector import gc_paused
from crdcompat.compare.engine import Comparer
from crdcompat.compare.result import Comparison, Judged, Open
from crdcompat.compare.shared import Shared
from crdcompat.manifests.crdset import CrdSet
from crdcompat.manifests.pairing import Facing, Pairing, pair
from crdcompat.policy.findings import Finding, Location, make_findings
from crdcompat.policy.grouping import group_copies
from crdcompat.policy.locations import Places
from crdcompat.problems import problem_order
from crdcompat.records import dataclass
from crdcompat.report.diff_model import Counts, DiffReport, UndecidedEntry
from crdcompat.report.model import Release, sorted_skips
from crdcompat.schema.paths import owner, render
from crdcompat.vocabulary import Direction, Owner


@dataclass(frozen=True, slots=True)
class Filters:
    """What is looked at; what is empty leaves nothing out. The words are those of ``diff``."""

    directions: Sequence[Direction] = tuple(Direction)
    owners: Sequence[Owner] = ()
    crds: Sequence[str] = ()
    paths: Sequence[str] = ()
    contexts: Sequence[str] = ()
    select: Sequence[str] = ()
    ignore: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class Compared:
    """Two sets that were compared: how they were paired, and what the filters leave of what was found.

    ``facings`` are the pairs that the filters left to compare. ``missing`` says which name of the filters occurs in
    neither set, "" if all do: then nothing was compared.
    """

    old: CrdSet
    new: CrdSet
    pairing: Pairing
    facings: tuple[Facing, ...]
    found: Comparison
    judged: tuple[Judged, ...]
    open: tuple[Open, ...]
    missing: str = ""


def compare(old: CrdSet, new: CrdSet, servers: tuple[Server, Server], wanted: Filters, shared: Shared) -> Compared:
    """Pair two sets, keep what is asked for, compare. ``servers`` run beside OLD and NEW."""
    contexts, crds = wanted.contexts, wanted.crds
    forced = [(a, b) for a, _, b in (name.partition("=") for name in contexts if "=" in name)]
    pairing = pair(old, new, forced, [name for name in contexts if "=" not in name])
    facings = tuple(facing for facing in pairing.facings if _is_wanted(facing, crds, wanted.paths))
    missing = ""
    if contexts and not pairing.facings and (old.documents and new.documents):
        known = pair(old, new).contexts
        missing = f"no context {', '.join(contexts)} on both sides; there are: {', '.join(known) or 'none'}"
    elif crds and not facings:
        missing = f"no CRD of both sides is named {', '.join(crds)}"
    with gc_paused():  # nearly all that is made here stays
        found = Comparer(*servers, shared).compare(facings, wanted.directions)
    owners = wanted.owners
    return Compared(
        old,
        new,
        pairing,
        facings,
        found,
        judged=tuple(item for item in found.judged if not owners or item.change.owner in owners),
        open=tuple(item for item in found.open if not owners or owner(item.undecided.path) in owners),
        missing=missing,
    )


def report_on(
    compared: Compared,
    releases: tuple[Release, Release],
    wanted: Filters,
    places: Places,
    *,
    command: str,
    more_places: Callable[[Judged], tuple[Location, ...]] | None = None,
) -> DiffReport:
    """What is said of two sets that were compared, in the directions ``wanted``.

    ``more_places`` adds to the places of a change those outside the manifests.
    """
    old, new, pairing, found = compared.old, compared.new, compared.pairing, compared.found

    def where(item: Judged) -> tuple[Location, ...]:
        return (*places.of(item), *(more_places(item) if more_places is not None else ()))

    judged = (item for item in compared.judged if item.direction in wanted.directions)
    findings = group_copies(make_findings(judged, old.name, new.name, where))
    return DiffReport(
        command=command,
        old=releases[0],
        new=releases[1],
        counts=Counts(
            old=len(old.named()),
            new=len(new.named()),
            compared=len(found.compared),
            changed=len(found.changed),
            only_old=pairing.only_old,
            only_new=pairing.only_new,
            apart=pairing.apart,
            contexts=pairing.contexts,
            contexts_only_old=pairing.only_old_contexts,
            contexts_only_new=pairing.only_new_contexts,
            text_changes=tuple(sorted(found.texts)),
            harmless=sum(found.harmless[direction] for direction in wanted.directions),
            superseded=pairing.losers,
            versions=tuple(sorted(found.versions)),
            unread=new.unread,
        ),
        findings=tuple(finding for finding in findings if _is_kept(finding, wanted)),
        undecided=tuple(sorted((_undecided(item, places) for item in compared.open), key=_undecided_order)),
        skipped=sorted_skips(old.skipped, new.skipped),
        problems=tuple(sorted((*old.problems, *new.problems), key=problem_order)),
        remarks=tuple(sorted((*old.remarks, *new.remarks), key=problem_order)),
    )


def _is_wanted(facing: Facing, crds: Sequence[str], paths: Sequence[str]) -> bool:
    if crds and facing.old.name not in crds:
        return False
    prefixes = [path.strip("/").removeprefix("./") for path in paths]
    files = [document.file for side in (facing.old, facing.new) for document in side.documents]
    below = (not prefix or file == prefix or file.startswith(f"{prefix}/") for file in files for prefix in prefixes)
    return not paths or any(below)


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
