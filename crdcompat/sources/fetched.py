"""What a run fetched by http, so that it fetches each URL once and sees one content of it."""

from __future__ import annotations

import io
from contextlib import ExitStack
from contextvars import ContextVar

from msgspec import Struct, field

from crdcompat.sources.unpack import PartReader

MAX_KEPT_BYTES = 64 << 20
"""Bytes of one file that is kept. A larger one, such as a recording, is fetched again for each pass over it."""

_MAX_ALL_BYTES = 4 * MAX_KEPT_BYTES


class _Run(Struct, frozen=True):
    """The contents of a run by URL, and the addresses that they came from: "" if that is the server of the URL."""

    contents: dict[str, bytes] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)


_run: ContextVar[_Run | None] = ContextVar("fetched", default=None)


class Fetched(PartReader):
    """A file that was fetched: its kept bytes, then the rest of the stream.

    ``sent_to`` is the address that it came from if a server named another host, else "".
    """

    def __init__(self, head: bytes, rest: io.BufferedReader | None = None, sent_to: str = "") -> None:
        self._head = io.BytesIO(head)
        self._rest = rest
        self.sent_to = sent_to

    def read_part(self, size: int) -> bytes:
        data = self._head.read(size)
        return data if data or self._rest is None else self._rest.read1(size)

    def close(self) -> None:
        if not self.closed:
            try:
                if self._rest is not None:
                    self._rest.close()
            finally:
                super().close()


def begin() -> None:
    """Keep what is fetched from now on until the context of this run ends."""
    _run.set(_Run())


def kept(url: str) -> Fetched | None:
    """The file of a URL that this run has fetched; None if it has not, or did not keep it."""
    run = _run.get()
    return Fetched(run.contents[url], sent_to=run.addresses[url]) if run is not None and url in run.contents else None


def address_of(url: str) -> str | None:
    """The address that this run fetched the URL from if a server named another host, else ""; None if it did not."""
    run = _run.get()
    return run.addresses.get(url) if run is not None else None


def keep(url: str, stream: io.BufferedReader, sent_to: str) -> Fetched:
    """The file of a new stream, kept if it is small enough. Raises what reading raises."""
    run = _run.get()
    if run is None:
        return Fetched(b"", stream, sent_to)
    run.addresses[url] = sent_to
    with ExitStack() as stack:
        stack.callback(stream.close)
        head = stream.read(MAX_KEPT_BYTES + 1)
        if len(head) > MAX_KEPT_BYTES:
            stack.pop_all()
            return Fetched(head, stream, sent_to)
    if sum(map(len, run.contents.values())) + len(head) <= _MAX_ALL_BYTES:
        run.contents[url] = head
    return Fetched(head, sent_to=sent_to)
