"""simulate --fleet: the recordings of many clusters replayed against several releases, optionally in parallel."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path

from msgspec import Struct

from crdcompat.crds.pairing import usual_context
from crdcompat.features.fleet.engine import Workers, judged
from crdcompat.features.fleet.journal import Journal, temporary_journal
from crdcompat.features.fleet.judge import FleetJudge
from crdcompat.features.fleet.outcome import Outcome, decode
from crdcompat.features.fleet.recordings import Fleet, shown_name, signature
from crdcompat.features.fleet.summary import summarize
from crdcompat.features.fleet.tally import FleetTally
from crdcompat.features.simulate.unrecorded import unrecorded_kinds
from crdcompat.models.fleet import FleetReport
from crdcompat.models.simulation import Unrecorded
from crdcompat.render.wording.findings import plural
from crdcompat.sources.urls import is_remote
from crdcompat.vocabulary import Direction

#: Called for each finished recording.
OnDone = Callable[["Done"], object]
#: Called with the report, and with each recording and its outcome.
OnEnd = Callable[[FleetReport, Iterable[tuple[str, Outcome]]], object]


class Done(Struct, frozen=True):
    """A finished recording: ``outcome`` is ``read``, ``failed`` (with the reason), or ``known`` (from a journal)."""

    recording: str
    outcome: str
    objects: int = 0
    reason: str = ""


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
    ``on_done`` is called for each finished recording, ``on_end`` with the report and all outcomes.
    """
    tally = FleetTally(len(judge.readers), Direction.UPGRADE if judge.plan.upgrade else Direction.ROLLBACK)
    with nullcontext(journal) if journal is not None else temporary_journal(len(judge.readers)) as used:
        outcomes = _Outcomes(judge, fleet, workers or Workers(), used, on_done or (lambda _: None))
        for path, outcome in outcomes:
            tally.add(shown_name(path), outcome)
        for path, reason in fleet.unread:
            tally.add(shown_name(path), Outcome(failure=reason))
        notes = (*judge.notes, *_refused(journal))
        report = summarize(
            tally,
            judge.readers,
            (judge.old, judge.new),
            judge.plan.server,
            notes,
            fleet.left_out,
            tuple(_unrecorded(judge, tally)),
        )
        if on_end is not None:
            on_end(report, outcomes)
    return report


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


class _Outcomes:
    """The outcomes in the order of the recordings, in whatever order they were judged. They can be read again.

    The journal has those that were read; only failures are in memory.
    """

    def __init__(self, judge: FleetJudge, fleet: Fleet, workers: Workers, journal: Journal, on_done: OnDone) -> None:
        """Judge all recordings."""
        self._fleet = fleet
        self._journal = journal
        self._on_done = on_done
        self._signatures: dict[str, str] = {}
        self._offsets: dict[str, int] = {}
        self._failures: dict[str, Outcome] = {}
        with closing(judged(judge, self._fresh(), workers)) as answers:
            for path, answer in answers:
                self._add(path, answer)

    def __iter__(self) -> Iterator[tuple[str, Outcome]]:
        for path in self._fleet.recordings:
            failure = self._failures.get(path)
            yield path, failure if failure is not None else self._journal.at(self._offsets[path])

    def _fresh(self) -> Iterator[str]:
        """The recordings that the journal does not have."""
        for path in self._fleet.recordings:
            signed = signature(path, self._fleet.versions)
            offset = self._journal.find(_absolute(path), signed)
            if offset is None:
                self._signatures[path] = signed
                yield path
            else:
                self._offsets[path] = offset
                self._on_done(Done(shown_name(path), "known"))

    def _add(self, path: str, answer: bytes) -> None:
        outcome, signed = decode(answer), self._signatures.pop(path)
        if outcome.failure:
            self._failures[path] = outcome
        else:
            self._offsets[path] = self._journal.add(_absolute(path), signed, answer)
        word = "failed" if outcome.failure else "read"
        self._on_done(Done(shown_name(path), word, outcome.objects, outcome.failure))


def _refused(journal: Journal | None) -> Iterator[str]:
    if journal is not None and journal.refused:
        yield f"{plural(journal.refused, 'line')} of the journal could not be used: these recordings were read again"


def _absolute(path: str) -> str:
    return shown_name(path if is_remote(path) else str(Path(path).absolute()))
