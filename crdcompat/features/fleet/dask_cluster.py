"""Judges recordings on a Dask cluster: the workers of a running scheduler, or processes of this machine.

A worker plugin gets the plan of the run and builds the judge from it, once in each worker: compiled rules and patterns
cannot be sent. A task has the paths of some recordings; its result has the encoded outcomes of the first of them. If a
worker ends, Dask blames all of its tasks. Their recordings are judged again at the end, each alone on a worker, so that
only the recording that ends its worker fails.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from itertools import chain, islice
from typing import Any, cast
from uuid import uuid4

from distributed import Client, Future, KilledWorker, as_completed

from crdcompat.errors import SourceError
from crdcompat.features.fleet.connection import Fitness, OnUnfit, connected
from crdcompat.features.fleet.fleet_judge import FleetJudge
from crdcompat.features.fleet.plugin import STARTED, TIMED_OUT, JudgePlugin, judge_recordings
from crdcompat.features.fleet.recording_outcome import Outcome, encode
from crdcompat.features.fleet.workers import Workers

_POLL_SECONDS = 0.05
#: Workers that a recording must end before it counts as failed.
_MAX_ENDED = 2
_RESULT_SECONDS = 10
#: Tasks that are sent to the scheduler at a time: few, to save its memory, but enough to keep all threads busy.
_LEAST_TASKS = 16
_TASKS_PER_THREAD = 4
#: A task costs the client some 4 ms of CPU and a small recording takes 60 ms, so a task has several small recordings.
_MAX_RECORDINGS_PER_TASK = 8
#: How often workers may refuse a recording while other workers are known to be of no use.
_MAX_REFUSED = 20
_PROCESSES = "recordings in processes of this machine"
_log = logging.getLogger(__name__)


def judged_by_cluster(
    judge: FleetJudge, recordings: Iterable[str], workers: Workers, on_unfit: OnUnfit
) -> Generator[tuple[str, bytes]]:
    """Yield each recording once with its encoded outcome, in order of completion.

    ``on_unfit`` is called for each worker that cannot judge. The other workers do its work; without other
    workers, this process does. Raises SourceError, UsageError.
    """
    with ExitStack() as stack:
        try:
            client = stack.enter_context(connected(workers))
        except (OSError, RuntimeError) as error:  # also of processes of this machine that do not start
            on_unfit(_PROCESSES, f"they cannot be started ({reason_of_start(error)})")
            yield from ((path, judge(path)) for path in recordings)
            return
        run = _Run(client, judge, uuid4().hex, workers, on_unfit)
        try:
            run.begin()
            suspects: list[str] = []
            yield from run.together(recordings, suspects)
            yield from run.alone(suspects)
        except (OSError, CancelledError) as error:
            raise SourceError(
                f"{workers.scheduler or 'the cluster of this run'} was lost: {error or 'no answer'}"
            ) from None
        finally:
            with suppress(Exception):  # the scheduler may be gone
                client.unregister_worker_plugin(run.name)


class _Run:
    """The tasks of one run. ``name`` is the name of its plugin, and the topic of the events that workers report."""

    def __init__(self, client: Client, judge: FleetJudge, name: str, workers: Workers, on_unfit: OnUnfit) -> None:
        self.name = f"crdcompat-{name}"
        self._client = client
        self._judge = judge
        self._seconds = workers.limit
        self._count = 0
        self._fitness = Fitness(client, self.name, on_unfit)

    def begin(self) -> None:
        """Send the plugin to the workers, and ask which of them can judge. Raises OSError for a lost scheduler."""
        try:
            self._client.register_plugin(JudgePlugin(self._judge, self.name), name=self.name)
        except (OSError, CancelledError):
            raise
        except Exception:  # of a worker that lacks the program, or cannot read the plugin of this one
            _log.debug("a worker did not take the plugin", exc_info=True)
        self._fitness.refresh()

    def together(self, recordings: Iterable[str], suspects: list[str]) -> Iterator[tuple[str, bytes]]:
        """Judge all recordings, a bounded number at a time. Recordings whose worker ended are added to ``suspects``.

        If no worker can judge, this process does.
        """
        waiting, returned = iter(recordings), deque[str]()
        running: dict[Any, list[str]] = {}
        refused: Counter[str] = Counter()
        finished = as_completed()
        limit, size = 0, 1
        while True:
            if self._fitness.is_hopeless:
                for path in chain(*running.values(), returned, waiting):
                    yield path, self._judge(path)
                return
            if len(running) <= limit // 2:
                limit = max(_LEAST_TASKS, _TASKS_PER_THREAD * sum(self._threads().values()))
                while len(running) < limit and (
                    paths := [returned.popleft()] if returned else list(islice(waiting, size))
                ):
                    future = self._submit(paths, **self._place())
                    running[future.key] = paths
                    finished.add(future)
            if not running:
                return
            done = self._next(finished, running, returned)
            if done is None or not (paths := running.pop(done.key, [])):
                continue
            try:
                # as_completed(with_results=True) would wait forever if a worker is lost before it sends its result.
                outcomes = done.result()
            except KilledWorker:
                suspects += paths
            except (OSError, CancelledError):
                raise
            except Exception:
                refused[paths[0]] += 1
                self._fitness.refresh(everyone=True)
                if not self._fitness.unfit or refused[paths[0]] > _MAX_REFUSED:
                    raise
                returned += paths
            else:
                yield from zip(paths, outcomes, strict=False)
                rest = paths[len(outcomes) :]
                returned += rest
                size = 1 if rest else min(2 * size, _MAX_RECORDINGS_PER_TASK)

    def _place(self) -> dict[str, Any]:
        """Where tasks may run: anywhere if all workers can judge."""
        fitness = self._fitness
        return {"workers": sorted(fitness.fit), "allow_other_workers": False} if fitness.unfit else {}

    def _next(self, finished: Any, running: dict[Any, list[str]], returned: deque[str]) -> Future[list[bytes]] | None:
        """The next task that finished; None if the workers changed, and the recordings were ``returned``.

        A task that may only run on workers that have gone would never finish.
        """
        while self._fitness.unfit and not finished.has_ready():
            time.sleep(_POLL_SECONDS)
            if self._fitness.refresh():
                for paths in running.values():
                    returned += paths
                running.clear()
                return None
        return cast("Future[list[bytes]]", next(finished))

    def alone(self, suspects: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Judge each recording alone on a worker. A recording that ends its worker twice has failed."""
        waiting = deque(suspects)
        running: dict[str, tuple[str, Future[list[bytes]]]] = {}
        ended: Counter[str] = Counter()
        while waiting or running:
            self._fitness.refresh()
            addresses = self._threads().keys() - self._fitness.unfit.keys()
            if not addresses and self._fitness.is_hopeless:
                for path in (*waiting, *(path for path, _ in running.values())):
                    yield (
                        path,
                        encode(Outcome(failure="it ended a process that read it, and no other worker can judge")),
                    )
                return
            for address in sorted(addresses - running.keys())[: len(waiting)]:
                path = waiting.popleft()
                running[address] = path, self._submit([path], workers=[address], allow_other_workers=False)
            for address, (path, future) in list(running.items()):
                if future.done() or address not in addresses:
                    del running[address]
                    outcome = self._outcome_alone(future, path, ended)
                    if outcome is None:
                        waiting.append(path)
                    else:
                        yield path, outcome
            time.sleep(_POLL_SECONDS)

    def _submit(self, paths: list[str], **place: Any) -> Future[list[bytes]]:
        key = f"judge_recordings-{self.name}-{self._count}"
        self._count += 1
        arguments = (paths, self.name, self._seconds, key, bool(place))
        return self._client.submit(judge_recordings, *arguments, key=key, **place)

    def _threads(self) -> dict[str, int]:
        return cast("dict[str, int]", self._client.nthreads())

    def _outcome_alone(self, future: Future[list[bytes]], path: str, ended: Counter[str]) -> bytes | None:
        """The outcome of a recording that ran alone; None if it must run again.

        ``ended`` counts the workers that each recording ended. One proves nothing: another cause can end a worker, too.
        """
        if future.done():
            with suppress(KilledWorker, TimeoutError):
                return future.result(timeout=_RESULT_SECONDS)[0]
        future.cancel()
        reported = [event for _, (key, event) in self._client.get_events(self.name) if key == future.key]
        if TIMED_OUT in reported:
            return encode(Outcome(failure=f"it took longer than {self._seconds:g} s twice"))
        ended[path] += STARTED in reported
        if ended[path] < _MAX_ENDED:
            return None
        return encode(Outcome(failure="it ended each process that read it (out of memory?)"))


def reason_of_start(error: Exception) -> str:
    """Why processes did not start: the first cause that Python knows."""
    while isinstance(error.__cause__, Exception):
        error = error.__cause__
    return " ".join(str(error).split()) or type(error).__name__
