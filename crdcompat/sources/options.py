"""What the user asks for all sources of a run, as the command line has it."""

from __future__ import annotations

from contextvars import ContextVar

from msgspec import Struct
from msgspec.structs import replace


class SourceOptions(Struct, frozen=True):
    """How sources are opened.

    ``connect_timeout`` and ``read_timeout`` are the seconds that a cluster or a remote server may take to connect, and
    to send more of an answer.
    """

    connect_timeout: float = 10.0
    read_timeout: float = 30.0


_options: ContextVar[SourceOptions] = ContextVar("source_options", default=SourceOptions())  # noqa: B039 - it is frozen


def current_options() -> SourceOptions:
    """The options of this run."""
    return _options.get()


def limit_requests(connect: float, read: float) -> None:
    """Set how long the servers of sources opened from now on may be silent, in seconds."""
    _options.set(replace(_options.get(), connect_timeout=connect, read_timeout=read))
