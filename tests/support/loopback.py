"""Servers on the loopback: files by http, and stores with the requests of S3 and of Google that reading needs."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

#: What a server answers to a path and a query: status, headers, body.
Answer = tuple[int, Mapping[str, str], bytes]


@contextmanager
def running(server: HTTPServer) -> Iterator[None]:
    """Let a server answer while the block runs."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def serving(
    answer: Callable[[str, str], Answer], context: ssl.SSLContext | None = None
) -> Iterator[tuple[str, list[str]]]:
    """A server's address without a scheme, and the requests that it got, as ``VERB PATH?QUERY``.

    It uses TLS if a context is given. A request with credentials has them at its end.
    """
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            secret = self.headers.get("Authorization") or self.headers.get("Cookie")
            asked.append(f"{self.command} {self.path}{f' ({secret})' if secret else ''}")
            parts = urlsplit(self.path)
            status, headers, body = answer(unquote(parts.path), parts.query)
            if (wanted := self.headers.get("Range")) and status == 200:
                first, _, last = wanted.removeprefix("bytes=").partition("-")
                body, status = body[int(first) : int(last) + 1], 206
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815 - the name that the base class looks for

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # a client may hang up early
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    with running(server):
        yield f"127.0.0.1:{server.server_port}", asked


def files(contents: Mapping[str, bytes]) -> Callable[[str, str], Answer]:
    """A server of these files, by path."""

    def answer(path: str, _: str) -> Answer:
        return (200, {}, contents[path]) if path in contents else (404, {}, b"")

    return answer


def bucket(name: str, contents: Mapping[str, bytes], page: int = 2) -> Callable[[str, str], Answer]:
    """A store with one bucket, which lists ``page`` names at a time."""

    def answer(path: str, query: str) -> Answer:
        key = path.removeprefix(f"/{name}").lstrip("/")
        if not path.startswith(f"/{name}"):
            return 404, {}, b"<Error><Code>NoSuchBucket</Code></Error>"
        if key in contents:
            return 200, {"ETag": "1", "Last-Modified": "Wed, 01 Jan 2025 00:00:00 GMT"}, contents[key]
        return (404, {}, b"") if key else (200, {"Content-Type": "application/xml"}, listing(parse_qs(query)))

    def listing(asked: Mapping[str, list[str]]) -> bytes:
        (prefix,), (after,) = asked.get("prefix", [""]), asked.get("continuation-token", [""])
        keys = [key for key in sorted(contents) if key.startswith(prefix) and key > after]
        more = len(keys) > page
        items = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(contents[key])}</Size><ETag>{len(contents[key])}</ETag>"
            "<LastModified>2025-01-01T00:00:00.000Z</LastModified></Contents>"
            for key in keys[:page]
        )
        token = f"<NextContinuationToken>{escape(keys[page - 1])}</NextContinuationToken>" if more else ""
        count = f"<KeyCount>{min(len(keys), page)}</KeyCount><IsTruncated>{str(more).lower()}</IsTruncated>"
        return f"<ListBucketResult><Name>{name}</Name>{count}{token}{items}</ListBucketResult>".encode()

    return answer


def google_bucket(name: str, contents: Mapping[str, bytes], page: int = 2) -> Callable[[str, str], Answer]:
    """A store of Google with one bucket, which lists ``page`` names of one folder at a time."""
    objects = f"/storage/v1/b/{name}/o"

    def answer(path: str, query: str) -> Answer:
        place = path.removeprefix("/download")
        key = place.removeprefix(f"{objects}/")
        if place == objects:
            return 200, {"Content-Type": "application/json"}, json.dumps(listing(parse_qs(query))).encode()
        if key not in contents:
            return 404, {}, b'{"error": {"code": 404, "message": "No such object"}}'
        return 200, {}, contents[key] if path != place else json.dumps(resource(key)).encode()

    def resource(key: str) -> dict[str, str]:
        data = contents[key]
        named = {"kind": "storage#object", "bucket": name, "name": key, "generation": "1"}
        return {**named, "size": str(len(data)), "etag": str(len(data))}

    def listing(asked: Mapping[str, list[str]]) -> dict[str, object]:
        (prefix,), (after,) = asked.get("prefix", [""]), asked.get("pageToken", [""])
        below = [key.removeprefix(prefix).partition("/") for key in contents if key.startswith(prefix)]
        names = [each for each in sorted({prefix + first + slash for first, slash, _ in below}) if each > after]
        shown = names[:page]
        more = {"nextPageToken": shown[-1]} if len(names) > page else {}
        found = [resource(each) for each in shown if each in contents]
        return {
            "kind": "storage#objects",
            **more,
            "items": found,
            "prefixes": [each for each in shown if each.endswith("/")],
        }

    return answer


def google_settings(host: str) -> dict[str, str]:
    """The environment in which a store of the loopback is that of Google."""
    return {"STORAGE_EMULATOR_HOST": f"http://{host}", "NO_GCE_CHECK": "true"}


def s3_settings(host: str) -> dict[str, str]:
    """The environment in which a store of the loopback is S3."""
    return {
        "AWS_ACCESS_KEY_ID": "key-of-the-test",
        "AWS_SECRET_ACCESS_KEY": "secret-of-the-test",
        "AWS_ENDPOINT_URL": f"http://{host}",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
