"""A pool of worker processes in which a process that dies loses only its current item.

``concurrent.futures`` fails all pending work when one process dies, and does not name the item that killed it. Here
the parent is a single thread that waits for the next answer of any process. Answers are bytes: data derived from an
untrusted file is never unpickled.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import cast

from msgspec import Struct

Work = Callable[[str], bytes]

_MAX_DEFAULT_JOBS = 8


class Died(Struct, frozen=True):
    """The result for an item whose process ended; ``str()`` describes how it ended."""

    exit_code: int | None

    def __str__(self) -> str:
        if self.exit_code is None or self.exit_code >= 0:
            return f"the process that read it ended (exit code {self.exit_code})"
        known = {int(each): each.name for each in signal.Signals}
        hint = ": out of memory?" if -self.exit_code == signal.SIGKILL else ""
        return f"the process that read it was ended by {known.get(-self.exit_code, 'a signal')}{hint}"


def usual_jobs() -> int:
    """The number of usable processors, up to a limit that bounds memory."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(usable, _MAX_DEFAULT_JOBS)


def done_by(work: Work, items: Iterable[str], jobs: int) -> Generator[tuple[str, bytes | Died]]:
    """Yield each item with the result of ``work``, in order of completion; one job runs in order in this process.

    ``work`` must not raise, and must be picklable where processes are not forked. The processes end with the
    iteration.
    """
    if jobs == 1:
        yield from ((item, work(item)) for item in items)
        return
    waiting = iter(items)
    busy: dict[Connection, _Worker] = {}
    try:
        while True:
            while len(busy) < jobs and (item := next(waiting, None)) is not None:
                worker = _Worker(work)
                worker.send(item)
                busy[worker.connection] = worker
            if not busy:
                return
            for ready in wait(list(busy)):
                worker = busy[cast("Connection", ready)]
                item, answer = worker.answer()
                yield item, answer
                following = None if isinstance(answer, Died) else next(waiting, None)
                if following is None:
                    busy.pop(worker.connection).end()
                else:
                    worker.send(following)
    finally:
        for worker in busy.values():
            worker.end()


class _Worker:
    """A process, and its current item."""

    def __init__(self, work: Work) -> None:
        # A fork shares the loaded CRDs. It is safe only while no other thread may own a lock.
        forks = sys.platform == "linux" and threading.active_count() == 1
        context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(work, theirs, self.connection), daemon=True)
        with _sigint_blocked():
            self._process.start()
        theirs.close()  # else the end of the process would not close the pipe
        self._item = ""

    def send(self, item: str) -> None:
        """Send the next item; ``answer`` reports a process that has ended already."""
        self._item = item
        with suppress(OSError):
            self.connection.send(item)

    def answer(self) -> tuple[str, bytes | Died]:
        """The current item and its result."""
        try:
            return self._item, self.connection.recv_bytes()
        except (EOFError, OSError):
            self._process.join()
            return self._item, Died(self._process.exitcode)

    def end(self) -> None:
        """Kill the process: it has no state to save."""
        self.connection.close()
        self._process.kill()
        self._process.join()
        self._process.close()


@contextmanager
def _sigint_blocked() -> Iterator[None]:
    """Block SIGINT, so that Ctrl-C cannot reach a new process before that ignores it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(work: Work, connection: Connection, parents: Connection) -> None:
    """Answer items until the parent is gone; only the parent handles Ctrl-C, and ends the workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parents.close()
    with suppress(EOFError, OSError):
        while True:
            connection.send_bytes(work(connection.recv()))
