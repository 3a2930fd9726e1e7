"""Redirects of http servers on the loopback, and what a run fetches: each URL once."""

from __future__ import annotations

import base64
import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import authority
from helpers import run, spawn
from loopback import Answer, files, serving
from packed_sources import NEW, OLD

from crdcompat.errors import SourceError
from crdcompat.sources import fetched
from crdcompat.sources.redirects import MAX_HOSTS
from crdcompat.sources.remote import open_remote

pytestmark = pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning")


@pytest.fixture(autouse=True, scope="module")
def _collected() -> Iterator[None]:
    yield
    gc.collect()


@pytest.fixture
def netrc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Credentials for the loopback, as a user has them for a host."""
    path = tmp_path / "netrc"
    path.write_text("machine 127.0.0.1 login me password secret-of-netrc\nmachine localhost login me password other\n")
    path.chmod(0o600)
    monkeypatch.setenv("NETRC", str(path))
    return path


_SECRET = f"(Basic {base64.b64encode(b'me:secret-of-netrc').decode()})"


def _to(address: str) -> Answer:
    return 302, {"Location": address, "Set-Cookie": "a=secret"}, b""


@pytest.mark.parametrize("name", ["new.yaml", "new"])
@pytest.mark.parametrize("prefix", ["", "path:"])
def test_another_host_is_named_and_gets_no_credentials(netrc: Path, name: str, prefix: str) -> None:
    with serving(files({f"/{name}": NEW, "/old.yaml": OLD})) as (host, asked):
        other = host.replace("127.0.0.1", "localhost")
        with serving(lambda path, query: _to(f"http://me:mine@{other}{path}?token=x")) as (first, first_asked):
            url = f"http://{first}/{name}"
            ran = run("diff", f"http://{host}/old.yaml", f"{prefix}{url}", "--format", "json")
    assert (ran.code, [each["added"] for each in ran.report["findings"]]) == (1, [["Failed"]])
    note = f"{prefix}{url}: the server sent the reader to http://{other}/{name}?***, which got no credentials"
    assert note in ran.report["new"]["notes"]
    assert first_asked == [f"GET /{name} {_SECRET}"]
    assert asked == [f"GET /old.yaml {_SECRET}", f"GET /{name}?token=x"]


def test_the_same_host_is_not_named(netrc: Path) -> None:
    def answer(path: str, query: str) -> Answer:
        return _to("/there.yaml") if path == "/here.yaml" else files({"/there.yaml": NEW})(path, query)

    with serving(answer) as (host, asked):
        ran = run("diff", f"http://{host}/there.yaml", f"http://{host}/here.yaml", "--format", "json")
    assert not [note for note in ran.report["new"]["notes"] if "sent the reader" in note]
    assert [each.partition(" (")[0] for each in asked] == ["GET /there.yaml", "GET /here.yaml", "GET /there.yaml"]


def test_no_way_from_https_to_http(tmp_path: Path) -> None:
    certificate, context = authority(tmp_path)
    with (
        serving(files({"/a.yaml": NEW})) as (plain, asked),
        serving(lambda path, query: _to(f"http://me:mine@{plain}{path}"), context) as (host, _),
    ):
        address = f"https://{host}/a.yaml"
        ran = spawn("diff", address, address, env={**os.environ, "SSL_CERT_FILE": str(certificate)})
    there = f"http://{plain}/a.yaml"
    assert (ran.code, ran.out, asked) == (2, "", [])
    assert ran.err == (
        f"crdcompat: {address}: the server sends the reader from https to {there}, "
        "which nothing protects: not followed\n"
    )


def test_a_way_without_an_end() -> None:
    turns: list[str] = []

    def answer(path: str, query: str) -> Answer:
        turns.append(path)
        port = first.rpartition(":")[2]
        return _to(f"http://{'localhost' if len(turns) % 2 else '127.0.0.1'}:{port}/a.yaml")

    with serving(answer) as (first, asked), pytest.raises(SourceError, match=f"more than {MAX_HOSTS} hosts: given up"):
        open_remote(f"http://{first}/a.yaml")
    assert len(asked) == MAX_HOSTS + 1


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/a", "http://[", "//", "\x01:"])
def test_a_redirect_to_no_http_server(location: str) -> None:
    with serving(lambda path, query: (302, {"Location": location}, b"")) as (host, _), pytest.raises(SourceError):
        open_remote(f"http://{host}/a.yaml")


def test_what_a_server_changes_meanwhile() -> None:
    """All readers of a run see one content."""
    contents = iter((OLD, NEW, NEW, NEW))
    with serving(lambda path, query: (200, {}, next(contents))) as (host, asked):
        url = f"http://{host}/crds.yaml"
        ran = run("diff", url, url, "--format", "json")
    assert len(asked) == 1
    assert ran.code == 0, ran


def test_a_large_file_is_read_as_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetched, "MAX_KEPT_BYTES", 100)
    with serving(files({"/old.yaml": OLD, "/new.yaml": NEW})) as (host, asked):
        ran = run("diff", f"http://{host}/old.yaml", f"http://{host}/new.yaml", "--format", "json")
    assert [each["added"] for each in ran.report["findings"]] == [["Failed"]]
    assert set(asked) == {"GET /old.yaml", "GET /new.yaml"}
