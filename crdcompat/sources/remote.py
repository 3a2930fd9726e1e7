"""Files behind URLs, read through fsspec as streams with limits. No message has credentials.

fsspec and the libraries of the protocols are the extra ``remote``. They are imported when a URL is opened.
"""

from __future__ import annotations

import io
import logging
import os
import re
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.errors import SourceError, UsageError
from crdcompat.sources.fetched import Fetched, address_of, keep, kept
from crdcompat.sources.redirects import MAX_HOSTS, OtherHost, is_other_host, watched, without_credentials
from crdcompat.sources.source_options import current_options
from crdcompat.sources.tls import usual_context
from crdcompat.sources.unpack import PartReader
from crdcompat.sources.urls import is_http, public_name, scheme_of, without_secrets

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_REMOTE_BYTES = 4 << 30
"""Bytes of one remote file as it is transferred; the largest must-gathers have a quarter of this."""

MAX_REMOTE_SECONDS = 1800.0
"""Seconds for one remote file, so that a server that sends one byte at a time does not stop the run."""

INSTALL = "pip install 'crdcompat[remote]'"
_BLOCK = 1 << 22  # bytes of one request to an object store
_SILENT = logging.NullHandler()
_WEB_PAGE = re.compile(rb"\s*(?:<!doctype html|<html)", re.IGNORECASE)


class RemoteFile(Struct, frozen=True):
    """One file below a remote folder; ``version`` changes with its content (an ETag or a time; "" if unknown)."""

    url: str
    size: int
    version: str = ""


def open_remote(url: str) -> io.BufferedReader:
    """Open a remote file as a stream, to be read once in order.

    Opening and reading raise SourceError: no such file, no permission, no answer in time, more than
    `MAX_REMOTE_BYTES` or `MAX_REMOTE_SECONDS`, or a web page instead of a file.
    """
    if (found := kept(url)) is not None:
        return io.BufferedReader(found, 1 << 18)
    file, sent_to = _opened(url)
    stream: io.BufferedReader = io.BufferedReader(_Limited(file, url), 1 << 18)
    if _WEB_PAGE.match(stream.peek(64)[:64]):
        stream.close()
        raise SourceError(f"{public_name(url)}: a web page, not a file: give the address of the file itself")
    return io.BufferedReader(keep(url, stream, sent_to), 1 << 18) if is_http(url) else stream


def came_from(url: str) -> str:
    """The address that the file of an http server comes from if the server names another host; else "".

    Raises SourceError.
    """
    if (known := address_of(url)) is not None:
        return known
    with open_remote(url) as file:
        return file.raw.sent_to if isinstance(file.raw, Fetched) else ""


def _opened(url: str) -> tuple[Any, str]:
    """The file of a URL as its library opens it, and the address that it came from if that is another host."""
    asked = url
    for _ in range(MAX_HOSTS + 1):
        try:
            with _as_source_errors(url):
                system, path = _file_system(asked, is_other=asked != url)
                # fsspec streams a file from an http server in one request; a given size saves a request for the size.
                # It reads a file of a store in blocks.
                store = {"block_size": _BLOCK, "cache_type": "readahead"}
                file = system.open(path, "rb", **({"block_size": 0, "size": 1} if is_http(url) else store))
                return file, asked if is_other_host(url, asked) else ""
        except OtherHost as other:
            asked = other.url
    raise SourceError(f"{public_name(url)}: redirected to more than {MAX_HOSTS} hosts: given up")


def is_remote_folder(url: str) -> bool:
    """Whether a URL names a folder: it ends with a slash, or the store answers so. Raises SourceError."""
    if is_http(url):
        return False
    if url.endswith("/"):
        return True
    with _as_source_errors(url):
        system, path = _file_system(url)
        return bool(system.info(path)["type"] == "directory")


def list_remote(url: str) -> Iterator[RemoteFile]:
    """The files below a remote folder, page by page as the store lists them. Raises SourceError."""
    if is_http(url):
        raise SourceError(f"{public_name(url)}: an http server lists no files: name one file, or an archive")
    with _as_source_errors(url):
        system, path = _file_system(url)
        found = _s3_pages(system, path) if scheme_of(url) in ("s3", "s3a") else _walk(system, path)
    while True:
        with _as_source_errors(url):
            file = next(found, None)
        if file is None:
            return
        yield file


class _Limited(PartReader):
    """A remote file with limits for its bytes and its time."""

    def __init__(self, file: Any, url: str) -> None:
        self._file = file
        self._url = url
        self._count = 0
        self._has_ended = False
        self._until = time.monotonic() + MAX_REMOTE_SECONDS

    def read_part(self, size: int) -> bytes:
        if self._has_ended:
            return b""
        with _as_source_errors(self._url):
            data: bytes = self._file.read(size)
        self._has_ended = not data
        self._count += len(data)
        if self._count > MAX_REMOTE_BYTES:
            raise SourceError(f"{public_name(self._url)}: more than {MAX_REMOTE_BYTES} bytes: not read")
        if time.monotonic() > self._until:
            raise SourceError(
                f"{public_name(self._url)}: not complete after {MAX_REMOTE_SECONDS:.0f} seconds: given up"
            )
        return data

    def close(self) -> None:
        if not self.closed:
            with closing(self._file):
                super().close()


def _file_system(url: str, *, is_other: bool = False) -> tuple[Any, str]:
    """The file system of a URL and the path in it; ``is_other``: a redirect named it.

    Raises UsageError if the extra is not installed; ValueError or ImportError for an unknown protocol."""
    try:
        import fsspec
    except ImportError:
        raise UsageError(f"{public_name(url)}: to read from a URL, install the extra: {INSTALL}") from None
    system, path = fsspec.core.url_to_fs(url, **_options(url, is_other=is_other))
    return system, path


def _options(url: str, *, is_other: bool) -> dict[str, Any]:
    asked, scheme = current_options(), scheme_of(url)
    if scheme in ("http", "https"):
        settings = {**_aiohttp_limits(), "trace_configs": [watched()]}
        if is_other:
            settings |= without_credentials(url)
        checks = {"ssl": usual_context()} if scheme == "https" else {}
        return {"client_kwargs": settings, "use_listings_cache": False, **checks}
    if scheme in ("gs", "gcs"):
        # By default gcsfs first asks another interface for the kind of each bucket, and warns without an answer.
        os.environ.setdefault("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")
        for library in ("gcsfs", "google.auth"):  # without a handler, Python prints their warnings
            logging.getLogger(library).addHandler(_SILENT)
        return {"session_kwargs": _aiohttp_limits(), "use_listings_cache": False}
    if scheme in ("s3", "s3a"):
        silence = {"connect_timeout": asked.connect_timeout, "read_timeout": asked.read_timeout}
        config = {**silence, "retries": {"max_attempts": 2}}
        return {"config_kwargs": config, "use_listings_cache": False}
    return {}


def _aiohttp_limits() -> dict[str, Any]:
    import aiohttp

    asked = current_options()
    limits = aiohttp.ClientTimeout(total=None, sock_connect=asked.connect_timeout, sock_read=asked.read_timeout)
    return {"timeout": limits, "trust_env": True}


def _s3_pages(system: Any, path: str) -> Iterator[RemoteFile]:
    """The objects below a prefix, a thousand names at a time."""
    bucket, key, _ = system.split_path(path)
    prefix = f"{key.rstrip('/')}/" if key else ""
    more: dict[str, str] = {}
    while True:
        page = system.call_s3("list_objects_v2", Bucket=bucket, Prefix=prefix, **more)
        for item in page.get("Contents", ()):
            if not item["Key"].endswith("/"):  # the placeholder of an empty folder
                yield RemoteFile(f"s3://{bucket}/{item['Key']}", item["Size"], str(item.get("ETag", "")).strip('"'))
        if not page.get("IsTruncated"):
            return
        more = {"ContinuationToken": page["NextContinuationToken"]}


def _walk(system: Any, path: str) -> Iterator[RemoteFile]:
    """The files of a store that lists one folder at a time."""
    for _, _, files in system.walk(path, detail=True, on_error="raise"):
        for info in files.values():
            version = next((str(info[key]) for key in ("etag", "ETag", "mtime", "updated") if key in info), "")
            yield RemoteFile(system.unstrip_protocol(info["name"]), info["size"] or 0, version)


@contextmanager
def _as_source_errors(url: str) -> Iterator[None]:
    """Report any error of a protocol's library as a SourceError, without credentials in its text."""
    try:
        yield
    except (SourceError, UsageError, OtherHost):
        raise
    except Exception as error:
        raise SourceError(f"{public_name(url)}: {_reason(error, url)}") from None


def _reason(error: Exception, url: str) -> str:
    """The reason of a failure. Each library has exceptions of its own; the names and texts spare imports of them."""
    name, scheme = type(error).__name__, scheme_of(url)
    status = next((getattr(error, key) for key in ("status", "code") if hasattr(error, key)), None)  # aiohttp, gcsfs
    if isinstance(error, FileNotFoundError) or status == 404:
        return "there is no such file (404): check the address"
    if isinstance(error, PermissionError) or status in (401, 403) or str(error).startswith("Forbidden: "):
        return f"the server refuses to give it{f' ({status})' if status else ''}: check the credentials"
    if isinstance(status, int) and status:
        return f"the server answers with status {status}"
    if why := getattr(getattr(error, "certificate_error", None), "verify_message", ""):
        hint = "for an authority of your own, set SSL_CERT_FILE to the file of its certificate"
        return f"the server's certificate is not trusted ({why}): {hint}"
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return "no answer in time (--connect-timeout, --read-timeout)"
    if "Credentials" in name:
        hint = ": set AWS_PROFILE or AWS_ACCESS_KEY_ID; for a public bucket, FSSPEC_S3_ANON=true"
        return f"no credentials{hint if scheme.startswith('s3') else ''}"
    if isinstance(error, ImportError):
        return f"the library for {scheme}:// is not installed: {without_secrets(str(error), url)}"
    if isinstance(error, ValueError) and "rotocol" in str(error):
        return f"fsspec has no protocol {scheme}://: https://, s3:// and gs:// are some that it has"
    return f"cannot be read: {without_secrets(str(error), url) or name}"
