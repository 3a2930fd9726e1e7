"""What a worker of a Dask cluster has for a run: the judge, which it builds from the plan."""

from __future__ import annotations

import asyncio
import gc
import hashlib
import os
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import cast

import orjson
from distributed import Status, Worker, WorkerPlugin, get_worker

from crdcompat.errors import CrdcompatError
from crdcompat.features.fleet.code import code_id
from crdcompat.features.fleet.connection import CONNECT_SECONDS, UnfitWorkerError
from crdcompat.features.fleet.fleet_judge import FleetJudge

_GC_THRESHOLD = 200_000  # allocations between two runs of the garbage collector
#: A nanny does not restart a worker that ends while it starts, so a new worker first waits for this time.
_START_SECONDS = 0.5
#: A task ends after a short time, so that other workers can judge the rest of its recordings.
_TASK_SECONDS = 0.5
#: The events that workers report.
STARTED, TIMED_OUT = "started", "timed out"
_TIMED_OUT_EXIT_CODE = 75


class JudgePlugin(WorkerPlugin):
    """Builds the judge of a run once in each worker.

    A digest identifies the releases and the code of the client. A worker with others must not judge.
    """

    def __init__(self, judge: FleetJudge, name: str) -> None:
        self.name = name
        self._kind = type(judge)
        self._plan = judge.plan
        self._code = code_id()
        self._digest = _digest(judge)
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
            judge = await asyncio.to_thread(self._kind, self._plan)
            # The judge has many objects and lives to the end of the run. The garbage collector need not visit them.
            gc.freeze()
            gc.set_threshold(_GC_THRESHOLD)
            if await asyncio.to_thread(_digest, judge) == self._digest:
                self._judge = judge
            else:
                self._error = await asyncio.to_thread(_difference, self._code)
        except CrdcompatError as error:
            self._error = str(error)
        except Exception as error:  # whatever is wrong on that machine: the work goes on elsewhere
            self._error = f"{type(error).__name__}: {error}"
        finally:
            is_new = worker.status != Status.running
            self._loop.call_later(_START_SECONDS if is_new else 0, self._ready.set)

    @property
    def why_unfit(self) -> str | None:
        """Why this worker cannot judge; "" if it can, None if it is about to start."""
        return "" if self._judge is not None else self._error or None

    def teardown(self, worker: Worker) -> None:
        """Restore the worker: other clients of the scheduler may use it."""
        self._judge = None
        gc.unfreeze()
        gc.set_threshold(*self._thresholds)

    def judge(self, paths: Sequence[str], seconds: float, key: str, *, is_alone: bool) -> list[bytes]:
        """The encoded outcomes of the first recordings: at least one, then as many as the time of a task allows.

        Raises UnfitWorkerError if this worker cannot judge.
        """
        worker = get_worker()
        self._ready.wait()
        if self._judge is None:
            raise UnfitWorkerError(self._error)
        with self._lock:
            if is_alone:
                self._report(worker, key, STARTED)
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
        self._report(worker, key, TIMED_OUT)
        os._exit(_TIMED_OUT_EXIT_CODE)

    def _report(self, worker: Worker, key: str, event: str) -> None:
        """Report an event of a task to the scheduler, and wait for its answer."""
        with suppress(Exception):  # the scheduler may be gone
            report = worker.scheduler.log_event(topic=self.name, msg=[key, event])
            asyncio.run_coroutine_threadsafe(report, self._loop).result(CONNECT_SECONDS)


def judge_recordings(paths: Sequence[str], plugin: str, seconds: float, key: str, is_alone: bool) -> list[bytes]:
    """The task: judge recordings in a worker."""
    return cast("JudgePlugin", get_worker().plugins[plugin]).judge(paths, seconds, key, is_alone=is_alone)


def _difference(code: str) -> str:
    """The difference between a worker and the client whose digests differ: the code, or else the releases."""
    if code_id() != code:
        return f"its code is crdcompat {code_id()}, that of this machine {code}"
    return "its releases are not those of this machine"


def _digest(judge: FleetJudge) -> str:
    data = orjson.dumps([code_id(), judge.fingerprint()])
    return hashlib.blake2b(data, digest_size=16).hexdigest()
