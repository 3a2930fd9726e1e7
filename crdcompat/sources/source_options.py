"""The options of the command line that apply to all sources of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.sources.fetched import begin


class SourceOptions(Struct, frozen=True):
    """How sources are opened.

    ``connect_timeout`` and ``read_timeout`` limit the seconds until a cluster or a remote server accepts a connection,
    and until it sends more of an answer. ``helm`` and ``kustomize`` allow these programs to run. ``helm_values`` are
    files for helm; ``kubernetes`` is the server's version for its templates ("": helm's own). ``image_paths`` are the
    folders of an image that hold its manifests.
    """

    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    helm: bool = False
    helm_values: tuple[str, ...] = ()
    kubernetes: str = ""
    kustomize: bool = False
    image_paths: tuple[str, ...] = ("/manifests", "/release-manifests")


_options: ContextVar[SourceOptions] = ContextVar("source_options", default=SourceOptions())  # noqa: B039 - it is frozen


def current_options() -> SourceOptions:
    """The options of this run."""
    return _options.get()


def limit_requests(connect: float, read: float) -> None:
    """Begin a run: set the timeouts of sources that are opened from now on, in seconds, and keep what is fetched."""
    begin()
    _options.set(replace(_options.get(), connect_timeout=connect, read_timeout=read))


@contextmanager
def charts_for(kubernetes: str) -> Iterator[None]:
    """Render charts for this version of the server while the block runs; "" keeps the version of the options."""
    asked = _options.get()
    token = _options.set(replace(asked, kubernetes=kubernetes or asked.kubernetes))
    try:
        yield
    finally:
        _options.reset(token)


def render_sources(
    *,
    helm: bool,
    helm_values: Sequence[str] | None,
    kustomize: bool,
    image_paths: Sequence[str] | None,
    kubernetes: str = "",
) -> None:
    """Set the programs that may make manifests, and the folders of images. ``helm_values`` also allow helm to run."""
    values = tuple(helm_values or ())
    _options.set(
        replace(
            _options.get(),
            helm=helm or bool(values),
            helm_values=values,
            kubernetes=kubernetes,
            kustomize=kustomize,
            image_paths=tuple(image_paths or SourceOptions().image_paths),
        )
    )
