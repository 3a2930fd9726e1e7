"""One piece of work after another in several processes, where a process that dies costs the piece it had in hand.

``concurrent.futures`` gives up on everything when one process dies, and does not say over what. Here the parent is
a single thread that waits for whichever process answers; bytes come back, so that nothing made from a stranger's
file is ever unpickled.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import cast

Work = Callable[[str], bytes]

_MAX_BY_DEFAULT = 8


@dataclass(frozen=True, slots=True)
class Died:
    """A process ended in the middle of its work; ``str()`` says how."""

    exit_code: int | None

    def __str__(self) -> str:
        if self.exit_code is None or self.exit_code >= 0:
            return f"the process that read it ended (exit code {self.exit_code})"
        known = {int(each): each.name for each in signal.Signals}
        hint = ": out of memory?" if -self.exit_code == signal.SIGKILL else ""
        return f"the process that read it was ended by {known.get(-self.exit_code, 'a signal')}{hint}"


def usual_jobs() -> int:
    """As many as there are processors for this process, but not more than are worth their memory."""
    usable = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return min(usable, _MAX_BY_DEFAULT)


def done_by(work: Work, items: Iterable[str], jobs: int) -> Generator[tuple[str, bytes | Died]]:
    """Each item with what ``work`` makes of it, as they are done; with one job in order and in this process.

    ``work`` raises nothing, and can be pickled where processes are not forked. When the iteration ends, however it
    does, so do the processes.
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
                worker.hand(item)
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
                    worker.hand(following)
    finally:
        for worker in busy.values():
            worker.end()


class _Worker:
    """A process, and the item it has in hand."""

    def __init__(self, work: Work) -> None:
        # A fork shares what was loaded; it is sound only where no other thread may hold a lock.
        forks = sys.platform == "linux" and threading.active_count() == 1
        context = multiprocessing.get_context("fork") if forks else multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(work, theirs, self.connection), daemon=True)
        with _deaf():
            self._process.start()
        theirs.close()  # so that the end of the process is the end of what it sends
        self._item = ""

    def hand(self, item: str) -> None:
        """Give it its next item; a process that is gone already is told of when it should answer."""
        self._item = item
        with suppress(OSError):
            self.connection.send(item)

    def answer(self) -> tuple[str, bytes | Died]:
        """What became of the item in hand."""
        try:
            return self._item, self.connection.recv_bytes()
        except (EOFError, OSError):
            self._process.join()
            return self._item, Died(self._process.exitcode)

    def end(self) -> None:
        """End the process: it holds nothing that it would have to put away."""
        self.connection.close()
        self._process.kill()
        self._process.join()
        self._process.close()


@contextmanager
def _deaf() -> Iterator[None]:
    """Ctrl-C waits; a process that is started meanwhile does not hear it before it can say that it will not."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(work: Work, connection: Connection, parents: Connection) -> None:
    """Answer items until the parent is gone; it alone is told by Ctrl-C, and ends the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parents.close()
    with suppress(EOFError, OSError):
        while True:
            connection.send_bytes(work(connection.recv()))
