"""simulate --fleet: the recordings of many clusters replayed against several releases, optionally in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from pathlib import Path

from crdcompat.crds.pairing import usual_context
from crdcompat.features.fleet.engine import Workers, judged
from crdcompat.features.fleet.journal import Journal, temporary_journal
from crdcompat.features.fleet.judge import FleetJudge
from crdcompat.features.fleet.outcome import Outcome, decode
from crdcompat.features.fleet.recordings import Fleet, signature
from crdcompat.features.fleet.summary import summarize
from crdcompat.features.fleet.tally import FleetTally
from crdcompat.features.simulate.unrecorded import unrecorded_kinds
from crdcompat.models.fleet import FleetReport
from crdcompat.models.simulation import Unrecorded
from crdcompat.render.wording.findings import plural
from crdcompat.sources.naming import display_path
from crdcompat.vocabulary import Direction

#: Called for each finished recording with ``read``, ``failed``, or ``known`` (from a journal).
OnDone = Callable[[str], object]


def simulate_fleet(
    judge: FleetJudge,
    fleet: Fleet,
    *,
    workers: Workers | None = None,
    journal: Journal | None = None,
    on_done: OnDone | None = None,
) -> FleetReport:
    """The report on all recordings of a fleet; the same for any ``workers``, with or without a ``journal``.

    The report lists recordings that could not be read, and notes the number of ignored lines of the journal.
    ``on_done`` is called for each finished recording.
    """
    tally = FleetTally(len(judge.readers), Direction.UPGRADE if judge.plan.upgrade else Direction.ROLLBACK)
    with nullcontext(journal) if journal is not None else temporary_journal(len(judge.readers)) as used:
        for path, outcome in _outcomes(
            judge, fleet.recordings, workers or Workers(), used, on_done or (lambda _: None)
        ):
            tally.add(display_path(path), outcome)
    for path, reason in fleet.unread:
        tally.add(display_path(path), Outcome(failure=reason))
    notes = (*judge.notes, *_refused(journal))
    return summarize(
        tally,
        judge.readers,
        (judge.old, judge.new),
        judge.plan.server,
        notes,
        fleet.left_out,
        tuple(_unrecorded(judge, tally)),
    )


def _unrecorded(judge: FleetJudge, tally: FleetTally) -> Iterator[tuple[Unrecorded, ...]]:
    """For each release that judges, the kinds with findings that not every cluster has recorded."""
    plan = judge.plan
    by_cluster = [cluster.recorded for cluster in tally.clusters]
    for crds in judge.readers:
        writer = judge.old if plan.upgrade else judge.new
        sides = (writer, crds) if plan.upgrade else (crds, writer)
        context = plan.context or usual_context(crds, writer)
        names = plan.crds or [document.crd.name for document in crds.documents]
        missed = [name for name in names if not all(name in recorded for recorded in by_cluster)]
        yield unrecorded_kinds(sides, tally.direction, (), context=context, crds=missed) if missed else ()


def _outcomes(
    judge: FleetJudge, recordings: Sequence[str], workers: Workers, journal: Journal, on_done: OnDone
) -> Iterator[tuple[str, Outcome]]:
    """The outcomes in the order of the recordings, whatever the order in which they were judged: first all are judged.

    The journal has those that were read; only failures are in memory.
    """
    offsets: dict[str, int] = {}
    signatures: dict[str, str] = {}
    failures: dict[str, Outcome] = {}

    def fresh() -> Iterator[str]:
        for path in recordings:
            signatures[path] = signature(path)
            offset = journal.find(_absolute(path), signatures[path])
            if offset is None:
                yield path
            else:
                del signatures[path]
                offsets[path] = offset
                on_done("known")

    with closing(judged(judge, fresh(), workers)) as answers:
        for path, answer in answers:
            outcome, signed = decode(answer), signatures.pop(path)
            if outcome.failure:
                failures[path] = outcome
            else:
                offsets[path] = journal.add(_absolute(path), signed, answer)
            on_done("failed" if outcome.failure else "read")
    for path in recordings:
        yield path, failures[path] if path in failures else journal.at(offsets[path])


def _refused(journal: Journal | None) -> Iterator[str]:
    if journal is not None and journal.refused:
        yield f"{plural(journal.refused, 'line')} of the journal held no outcome of this run: read again"


def _absolute(path: str) -> str:
    return display_path(str(Path(path).absolute()))
