"""simulate --fleet: the recordings of many clusters replayed against several releases, optionally in parallel.

Memory does not grow with the number of clusters. Outcomes are in the journal. One pass over the clusters counts them;
a second one, when the findings and their order are known, makes the clusters of the report, which are on disk, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext

from crdcompat.crds.resolving import usual_context
from crdcompat.errors import Problem
from crdcompat.features.fleet.cluster_counts import FleetTally
from crdcompat.features.fleet.clusters_on_disk import ClusterTallies
from crdcompat.features.fleet.fleet_judge import FleetJudge
from crdcompat.features.fleet.journal import Journal, temporary_journal
from crdcompat.features.fleet.judged import Judged, JudgedRecordings, OnDone
from crdcompat.features.fleet.recordings import Fleet, shown_name
from crdcompat.features.fleet.summary import summarize
from crdcompat.features.fleet.workers import Workers
from crdcompat.features.simulate.unrecorded import unrecorded_kinds
from crdcompat.models.fleet import FleetReport
from crdcompat.models.simulation import Unrecorded
from crdcompat.render.wording.findings import plural
from crdcompat.vocabulary import Direction

#: Called with the report, and with each recording that was read.
OnEnd = Callable[[FleetReport, Iterable[Judged]], object]


def simulate_fleet(
    judge: FleetJudge,
    fleet: Fleet,
    *,
    workers: Workers | None = None,
    journal: Journal | None = None,
    on_done: OnDone | None = None,
    on_end: OnEnd | None = None,
) -> FleetReport:
    """The report on all recordings of a fleet; the same for any ``workers``, with or without a ``journal``.

    The report lists recordings that could not be read, and notes the number of ignored lines of the journal.
    ``on_done`` is called for each finished recording, ``on_end`` with the report and all recordings that were read.
    """
    tally = FleetTally(len(judge.readers), Direction.UPGRADE if judge.plan.upgrade else Direction.ROLLBACK)
    with nullcontext(journal) if journal is not None else temporary_journal(len(judge.readers)) as used:
        recordings = JudgedRecordings(judge, fleet, workers or Workers(), used, on_done or (lambda _: None))
        tally.problems.update(Problem(worker, None, f"not used: {reason}") for worker, reason in recordings.unfit)
        tallies = ClusterTallies(map(tally.add, recordings.clusters()))
        for name, reason in (*recordings.failures(), *((shown_name(path), why) for path, why in fleet.unread)):
            tally.add_unread(name, reason)
        notes = (*judge.notes, *_refused(journal))
        report = summarize(tally, tallies, judge, notes, fleet.left_out, tuple(_unrecorded(judge, tally)))
        if on_end is not None:
            on_end(report, recordings)
    return report


def _unrecorded(judge: FleetJudge, tally: FleetTally) -> Iterator[tuple[Unrecorded, ...]]:
    """For each release that judges, the kinds with findings that not every cluster has recorded."""
    plan = judge.plan
    for crds in judge.readers:
        writer = judge.old if plan.upgrade else judge.new
        sides = (writer, crds) if plan.upgrade else (crds, writer)
        context = plan.context or usual_context(crds, writer)
        names = plan.crds or [document.crd.name for document in crds.documents]
        missed = [name for name in names if name not in tally.everywhere] if tally.clusters else []
        yield unrecorded_kinds(sides, tally.direction, (), context=context, crds=missed) if missed else ()


def _refused(journal: Journal | None) -> Iterator[str]:
    if journal is not None and journal.refused:
        yield f"{plural(journal.refused, 'line')} of the journal could not be used: these recordings were read again"
