"""Which real API servers the tests ask, and a pool of those that run.

``make conformance`` says so in CRDCOMPAT_REFEREE: minors and patches, or ``all`` that are built. Without it none is
asked: ``make test`` needs no Go, and starts no server.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import referee
import referee_build
from referee import Referee, RefereeError

#: Looked up when the module is imported, before the tests get a cache of their own.
_BUILT = referee_build.built(referee_build.cache_home())
_WANTED = os.environ.get("CRDCOMPAT_REFEREE", "").split()
#: Minor -> binary, of the servers to ask.
ASKED = {minor: binary for minor, binary in _BUILT.items() if "all" in _WANTED or minor in _WANTED}


def why_none() -> str:
    """The reason why no server is asked."""
    if not _WANTED:
        return "real API servers are asked by `make conformance`"
    if _BUILT:
        return f"no API server of {' or '.join(_WANTED)} is built, only {', '.join(_BUILT)}: `make referee` builds more"
    if shutil.which("go") is None:
        return "no API server is built: `make referee` builds them, with a `go` command, which is not there either"
    return "no API server is built: `make referee` builds them"


def each_minor() -> list[Any]:
    """The minors to ask as parameters of a fixture; without any, one that is skipped."""
    return [*ASKED] or [pytest.param("", marks=pytest.mark.skip(reason=why_none()), id="none")]


def nearest(minor: str) -> str:
    """The minor to ask where ``minor`` is meant: itself, else the nearest one; of two, the older."""
    return min(ASKED, key=lambda built: (abs(_number(built) - _number(minor)), _number(built), built != minor))


def _number(name: str) -> int:
    return int(referee_build.minor_of(name).partition(".")[2])


class Pool:
    """Servers by minor, each started when it is first asked for."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self._stack = stack
        self._running: dict[str, Referee] = {}

    def server(self, minor: str) -> Referee:
        if minor not in self._running:
            try:
                self._running[minor] = self._stack.enter_context(referee.running(ASKED[minor]))
            except RefereeError as error:  # it proves nothing about the program
                pytest.skip(str(error))
        return self._running[minor]


@contextlib.contextmanager
def pool() -> Iterator[Pool]:
    """A pool whose servers end with the block."""
    with contextlib.ExitStack() as stack:
        yield Pool(stack)
