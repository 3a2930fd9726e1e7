"""Connects to a running Dask scheduler, or starts worker processes on this machine for one run."""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import dask
import orjson
from distributed import Client, LocalCluster, Security, Worker
from tornado.ioloop import PeriodicCallback

from crdcompat.errors import UsageError
from crdcompat.features.fleet.workers import Workers
from crdcompat.render.escape import warn

CONNECT_SECONDS = 10
_QUIET = logging.CRITICAL  # the run reports what fails
_SECONDS_BETWEEN_REPAIRS = 5
#: By Dask's default, malloc returns free memory to Linux at once. The next recording needs it again.
_KEEP_MEMORY = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_TOP_PAD_": str(16 << 20),
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
}


@contextmanager
def connected(workers: Workers) -> Iterator[Client]:
    """A client of the scheduler, or of local processes that end with the client."""
    logging.getLogger("distributed").setLevel(_QUIET)
    if workers.scheduler is not None:
        with _client_of(workers.scheduler) as client:
            with suppress(KeyError):  # the scheduler has no dashboard
                warn(f"Dask's dashboard: {client.dashboard_link}")
            yield client
        return
    with ExitStack() as stack:
        with _sigint_blocked():
            client = stack.enter_context(Client(stack.enter_context(local_cluster(workers.jobs))))
        yield client


def local_cluster(jobs: int, *, is_secure: bool = True) -> LocalCluster:
    """Processes of this machine, with one thread each. With TLS, other users of the machine cannot use its ports."""
    settings: dict[str, Any] = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.worker.profile.enabled": False,
        "distributed.nanny.pre-spawn-environ": _KEEP_MEMORY,
        "distributed.worker.memory.monitor-interval": "1s",
    }
    settings["distributed.deploy.lost-worker-timeout"] = "60s"  # a nanny that restarts its worker is not lost
    with dask.config.set(settings):
        cluster = LocalCluster(
            n_workers=jobs,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # a free port
            silence_logs=_QUIET,
            security=True if is_secure else Security(),
        )

    async def repair() -> None:
        cluster.periodic_callbacks["repair"] = callback = PeriodicCallback(
            lambda: cluster.scale(jobs), _SECONDS_BETWEEN_REPAIRS * 1000
        )
        callback.start()

    cluster.sync(repair)  # replaces workers whose nannies ended
    return cluster


def _client_of(scheduler: str) -> Client:
    """A client of a running scheduler, by its address or file. Raises UsageError if none answers."""
    if "://" not in scheduler and not Path(scheduler).is_file():
        raise UsageError(f"--scheduler {scheduler}: an address (tcp://HOST:PORT) or a scheduler file is expected")
    try:
        address = scheduler if "://" in scheduler else orjson.loads(Path(scheduler).read_bytes())["address"]
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"--scheduler {scheduler}: no scheduler answers ({error})") from None


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block SIGINT while threads and processes start. They inherit the block, so that Ctrl-C ends only this process."""
    resource_tracker.ensure_running()  # when it starts, it unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# Which workers of a cluster can judge a run, and why others cannot.
#
# A worker may lack the program, have other code, or not reach the releases. It gets no work, and the report names it.


#: Called once for each worker that cannot judge: where its recordings would have been judged, and the reason.
OnUnfit = Callable[[str, str], object]
_MAX_REASON = 300


class UnfitWorkerError(Exception):
    """The worker that got a task cannot judge; ``str()`` is the reason."""


class Fitness:
    """The workers of a cluster that can judge: ``fit`` has their addresses, ``unfit`` the reasons of the others.

    ``plugin`` is the name of the plugin that judges in each worker.
    """

    def __init__(self, client: Client, plugin: str, on_unfit: OnUnfit) -> None:
        self.unfit: dict[str, str] = {}
        self.fit: frozenset[str] = frozenset()
        self._client = client
        self._plugin = plugin
        self._on_unfit = on_unfit

    def refresh(self, *, everyone: bool = False) -> bool:
        """Ask the workers that are new, or all that can judge; whether these are others than before."""
        before, there = self.fit, frozenset(self._client.nthreads())
        if everyone:
            self.fit = frozenset()
        asked = [address for address in there if address not in self.fit and address not in self.unfit]
        answers: Mapping[str, Any] = (
            self._client.run(_why_unfit, self._plugin, workers=asked, on_error="return") if asked else {}
        )
        for address, answer in sorted(answers.items()):
            if reason := _reason(answer):
                self.unfit[address] = reason
                self._on_unfit(f"recordings on worker {address}", reason)
        ready = {address for address, answer in answers.items() if answer == ""}
        self.fit = frozenset(there & (self.fit | ready))
        return self.fit != before

    @property
    def is_hopeless(self) -> bool:
        """Whether there are workers, and none of them can judge."""
        there = frozenset(self._client.nthreads()) if self.unfit else frozenset()
        return bool(there) and there <= self.unfit.keys()


def _why_unfit(plugin: str, dask_worker: Worker) -> str | None:
    """Runs in a worker: the reason why the worker cannot judge, "" if it can, None if it is about to start."""
    found: Any = dask_worker.plugins.get(plugin)
    if found is None:
        return "it could not load the judge of this run: it has another crdcompat, or none"
    answer: str | None = found.why_unfit
    return answer


def _reason(answer: Any) -> str:
    """Why a worker cannot judge; "" if it can, or is about to start."""
    if isinstance(answer, BaseException):  # Dask wraps what the worker raised
        return f"it cannot load crdcompat: {' '.join(str(answer).split())[:_MAX_REASON]}"
    return answer or ""
