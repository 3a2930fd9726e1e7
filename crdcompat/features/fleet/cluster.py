"""Judges recordings on a Dask cluster: that of a running scheduler, or processes of this machine.

A worker plugin gets the plan of the run and builds the judge from it, once in each worker: compiled rules and patterns
cannot be sent. A task has the paths of some recordings; its result has the encoded outcomes of the first of them. If a
worker ends, Dask blames all of its tasks. Their recordings are judged again at the end, each alone on a worker, so that
only the recording that ends its worker fails.
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from itertools import islice
from typing import Any, cast
from uuid import uuid4

import orjson
from distributed import (
    Client,
    Future,
    KilledWorker,
    Status,
    Worker,
    WorkerPlugin,
    as_completed,
    get_worker,
)

from crdcompat.errors import CrdcompatError, SourceError
from crdcompat.features.fleet.code import code_id
from crdcompat.features.fleet.connection import CONNECT_SECONDS, connected
from crdcompat.features.fleet.judge import FleetJudge, Plan
from crdcompat.features.fleet.outcome import Outcome, encode
from crdcompat.features.fleet.workers import Workers

_POLL_SECONDS = 0.05
_GC_THRESHOLD = 200_000  # allocations between two runs of the garbage collector
#: Workers that a recording must end before it counts as failed.
_MAX_ENDED = 2
#: A nanny does not restart a worker that ends while it starts, so a new worker first waits for this time.
_START_SECONDS = 0.5
_RESULT_SECONDS = 10
#: Tasks that are sent to the scheduler at a time: few, to save its memory, but enough to keep all threads busy.
_LEAST_TASKS = 16
_TASKS_PER_THREAD = 4
#: A task costs the client some 4 ms of CPU and a small recording takes 60 ms, so a task has several small recordings.
#: A task ends after a short time, so that other workers can judge the rest of its recordings.
_MAX_RECORDINGS_PER_TASK = 8
_TASK_SECONDS = 0.5
#: The events that workers report.
_STARTED, _TIMED_OUT = "started", "timed out"
_TIMED_OUT_EXIT_CODE = 75


def judged_by_cluster(judge: FleetJudge, recordings: Iterable[str], workers: Workers) -> Generator[tuple[str, bytes]]:
    """Yield each recording once with its encoded outcome, in order of completion. Raises SourceError, UsageError."""
    with connected(workers) as client:
        run = _Run(client, uuid4().hex, workers)
        client.register_plugin(JudgePlugin(type(judge), judge.plan, _digest(judge), run.name), name=run.name)
        try:
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


class JudgePlugin(WorkerPlugin):
    """Builds the judge of a run once in each worker.

    ``digest`` identifies the releases and the code of the client. A worker with others must not judge.
    """

    def __init__(self, kind: type[FleetJudge], plan: Plan, digest: str, name: str) -> None:
        self.name = name
        self._kind = kind
        self._plan = plan
        self._digest = digest
        self._task_seconds = _TASK_SECONDS
        self._judge: FleetJudge | None = None
        self._error = ""

    async def setup(self, worker: Worker) -> None:
        """Read the releases in another thread, so that the worker answers the scheduler. `judge` reports errors."""
        self._loop = asyncio.get_running_loop()
        self._thresholds = gc.get_threshold()
        self._lock = threading.Lock()  # one thread at a time may use a judge
        self._ready = threading.Event()  # a worker that starts may get its first task before this is done
        try:
            self._judge = await asyncio.to_thread(self._kind, self._plan)
            # The judge has many objects and lives to the end of the run. The garbage collector need not visit them.
            gc.freeze()
            gc.set_threshold(_GC_THRESHOLD)
            if await asyncio.to_thread(_digest, self._judge) != self._digest:
                self._judge, self._error = None, "its releases or its crdcompat are not those of this machine"
        except CrdcompatError as error:
            self._error = str(error)
        finally:
            is_new = worker.status != Status.running
            self._loop.call_later(_START_SECONDS if is_new else 0, self._ready.set)

    def teardown(self, worker: Worker) -> None:
        """Restore the worker: other clients of the scheduler may use it."""
        self._judge = None
        gc.unfreeze()
        gc.set_threshold(*self._thresholds)

    def judge(self, paths: Sequence[str], seconds: float, key: str, *, is_alone: bool) -> list[bytes]:
        """The encoded outcomes of the first recordings: at least one, then as many as the time of a task allows.

        Raises SourceError if the releases could not be read.
        """
        worker = get_worker()
        self._ready.wait()
        if self._judge is None:
            raise SourceError(f"the worker {worker.address} cannot judge: {self._error}")
        with self._lock:
            if is_alone:
                self._report(worker, key, _STARTED)
            end = time.monotonic() + self._task_seconds
            outcomes: list[bytes] = []
            for path in paths:
                timer = threading.Timer(seconds, self._give_up, (worker, key))
                timer.daemon = True
                timer.start()
                try:
                    outcomes.append(self._judge(path))
                finally:
                    timer.cancel()
                if time.monotonic() > end:
                    break
            return outcomes

    def _give_up(self, worker: Worker, key: str) -> None:
        """Report that the task exceeded its time, and end the process, because a thread cannot be ended."""
        self._report(worker, key, _TIMED_OUT)
        os._exit(_TIMED_OUT_EXIT_CODE)

    def _report(self, worker: Worker, key: str, event: str) -> None:
        """Report an event of a task to the scheduler, and wait for its answer."""
        with suppress(Exception):  # the scheduler may be gone
            report = worker.scheduler.log_event(topic=self.name, msg=[key, event])
            asyncio.run_coroutine_threadsafe(report, self._loop).result(CONNECT_SECONDS)


def _judge_recordings(paths: Sequence[str], plugin: str, seconds: float, key: str, is_alone: bool) -> list[bytes]:
    """The task: judge recordings in a worker."""
    return cast("JudgePlugin", get_worker().plugins[plugin]).judge(paths, seconds, key, is_alone=is_alone)


class _Run:
    """The tasks of one run. ``name`` is the name of its plugin, and the topic of the events that workers report."""

    def __init__(self, client: Client, name: str, workers: Workers) -> None:
        self.name = f"crdcompat-{name}"
        self._client = client
        self._seconds = workers.limit
        self._count = 0

    def together(self, recordings: Iterable[str], suspects: list[str]) -> Iterator[tuple[str, bytes]]:
        """Judge all recordings, a bounded number at a time. Recordings whose worker ended are added to ``suspects``."""
        waiting, returned = iter(recordings), deque[str]()
        running: dict[Any, list[str]] = {}
        finished = as_completed()
        limit, size = 0, 1
        while True:
            if len(running) <= limit // 2:
                limit = max(_LEAST_TASKS, _TASKS_PER_THREAD * sum(self._threads().values()))
                while len(running) < limit and (
                    paths := [returned.popleft()] if returned else list(islice(waiting, size))
                ):
                    future = self._submit(paths)
                    running[future.key] = paths
                    finished.add(future)
            if not running:
                return
            future = next(finished)
            paths = running.pop(future.key)
            try:
                # as_completed(with_results=True) would wait forever if a worker is lost before it sends its result.
                outcomes = future.result()
            except KilledWorker:
                suspects += paths
            else:
                yield from zip(paths, outcomes, strict=False)
                rest = paths[len(outcomes) :]
                returned += rest
                size = 1 if rest else min(2 * size, _MAX_RECORDINGS_PER_TASK)

    def alone(self, suspects: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """Judge each recording alone on a worker. A recording that ends its worker twice has failed."""
        waiting = deque(suspects)
        running: dict[str, tuple[str, Future[list[bytes]]]] = {}
        ended: Counter[str] = Counter()
        while waiting or running:
            addresses = self._threads().keys()
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
        return self._client.submit(_judge_recordings, *arguments, key=key, **place)

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
        if _TIMED_OUT in reported:
            return encode(Outcome(failure=f"it took longer than {self._seconds:g} s twice"))
        ended[path] += _STARTED in reported
        if ended[path] < _MAX_ENDED:
            return None
        return encode(Outcome(failure="it ended each process that read it (out of memory?)"))


def _digest(judge: FleetJudge) -> str:
    data = orjson.dumps([code_id(), judge.fingerprint()])
    return hashlib.blake2b(data, digest_size=16).hexdigest()
