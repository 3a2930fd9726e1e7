"""The judged recordings of a fleet. Their outcomes are on disk and can be read again, also by cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import groupby
from pathlib import Path

from msgspec import Struct

from crdcompat.features.fleet.fleet_judge import FleetJudge
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.recording_outcome import Outcome, decode
from crdcompat.features.fleet.recordings import Fleet, shown_name, signature
from crdcompat.features.fleet.spill import Spill
from crdcompat.features.fleet.workers import Workers
from crdcompat.sources.urls import is_remote

#: Called for each finished recording.
OnDone = Callable[["Done"], object]
#: SQL: the recordings of one cluster. A recording without a cluster id is a cluster of its own.
_SAME_CLUSTER = "OVER (PARTITION BY coalesce(id, place))"


class Done(Struct, frozen=True):
    """A finished recording: ``outcome`` is ``read``, ``failed`` (with the reason), or ``known`` (from a journal)."""

    recording: str
    outcome: str
    objects: int = 0
    reason: str = ""


class Judged(Struct, frozen=True):
    """A recording that was read: its place among the recordings, its name, its cluster's name, its outcome."""

    place: int
    name: str
    cluster: str
    outcome: Outcome


class JudgedRecordings:
    """The outcomes of all recordings. The order in which they were judged does not matter.

    The journal has the outcomes; a table has the lines of the journal. ``unfit`` are the workers that could not judge,
    with the reasons.
    """

    def __init__(self, judge: FleetJudge, fleet: Fleet, workers: Workers, journal: Journal, on_done: OnDone) -> None:
        """Judge all recordings, and call ``on_done`` for each. Raises UsageError and SourceError for the workers."""
        self._fleet = fleet
        self._journal = journal
        self._on_done = on_done
        self._table = Spill("judged (place INTEGER PRIMARY KEY, name TEXT, id TEXT, line INTEGER, failure TEXT)")
        self._pending: dict[str, tuple[int, str]] = {}
        self.unfit: list[tuple[str, str]] = []
        with closing(_answers(judge, self._fresh(), workers, self._add_unfit)) as answers:
            for path, answer in answers:
                self._add_answer(path, answer)

    def __iter__(self) -> Iterator[Judged]:
        """The recordings that were read, in their order."""
        return (judged for _, judged in self._read("place"))

    def clusters(self) -> Iterator[Iterator[Judged]]:
        """The recordings of each cluster that was read, in the order of the clusters' first recordings."""
        for _, found in groupby(self._read("first, place"), lambda each: each[0]):
            yield (judged for _, judged in found)

    def failures(self) -> Iterator[tuple[str, str]]:
        """The names of recordings that could not be read, with the reasons."""
        return self._table.rows("SELECT name, failure FROM judged WHERE line IS NULL ORDER BY place")

    def _read(self, order: str) -> Iterator[tuple[int, Judged]]:
        """The recordings that were read, each with the place of its cluster's first recording."""
        cluster = f"min(place) {_SAME_CLUSTER} AS first, min(name) {_SAME_CLUSTER}"
        query = f"SELECT place, name, line, {cluster} FROM judged WHERE line IS NOT NULL ORDER BY {order}"
        for place, name, line, first, named in self._table.rows(query):
            yield first, Judged(place, name, named, self._journal.at(line))

    def _fresh(self) -> Iterator[str]:
        """The recordings that the journal lacks; the others are added to the table."""
        for place, (path, version) in enumerate(self._fleet.recordings.versions()):
            signed = signature(path, version)
            known = self._journal.find(_absolute(path), signed)
            if known is None:
                self._pending[path] = place, signed
                yield path
            else:
                line, outcome = known
                self._add(place, path, outcome.id, line)
                self._on_done(Done(shown_name(path), "known"))

    def _add_unfit(self, worker: str, reason: str) -> None:
        self.unfit.append((worker, reason))

    def _add_answer(self, path: str, answer: bytes) -> None:
        outcome, (place, signed) = decode(answer), self._pending.pop(path)
        line = None if outcome.failure else self._journal.add(_absolute(path), signed, answer)
        self._add(place, path, outcome.id, line, outcome.failure)
        word = "failed" if outcome.failure else "read"
        self._on_done(Done(shown_name(path), word, outcome.objects, outcome.failure))

    def _add(self, place: int, path: str, cluster: str | None, line: int | None, failure: str = "") -> None:
        row = (place, shown_name(path), cluster, line, failure)
        self._table.write("INSERT INTO judged VALUES (?, ?, ?, ?, ?)", *row)


def _answers(
    judge: FleetJudge, recordings: Iterable[str], workers: Workers, on_unfit: Callable[[str, str], object]
) -> Generator[tuple[str, bytes]]:
    """Yield each recording once with its encoded outcome, in order of completion.

    Raises UsageError for a cluster that cannot be used, SourceError for one that is lost.
    """
    if workers.is_loop:
        yield from ((path, judge(path)) for path in recordings)
        return
    from crdcompat.features.fleet.dask_cluster import judged_by_cluster  # it imports Dask

    yield from judged_by_cluster(judge, recordings, workers, on_unfit)


def _absolute(path: str) -> str:
    return shown_name(path if is_remote(path) else str(Path(path).absolute()))
