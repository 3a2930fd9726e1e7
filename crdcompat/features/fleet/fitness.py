"""Which workers of a cluster can judge a run, and why others cannot.

A worker may lack the program, have other code, or not reach the releases. It gets no work, and the report names it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from distributed import Client, Worker

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
