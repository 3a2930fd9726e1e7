"""Sources behind URLs: files and archives by http, files of the stores of S3 and of Google, on the loopback."""

from __future__ import annotations

import gc
import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from certificates import authority
from changes import repository
from helpers import commit, run
from loopback import Answer, bucket, files, google_bucket, google_settings, s3_settings, serving
from packed_sources import NEW, OLD

from crdcompat.errors import SourceError, UsageError
from crdcompat.sources import kinds, open_objects, open_source, remote, urls
from crdcompat.sources.remote import list_remote, open_remote
from crdcompat.sources.tree import Entry

# fsspec leaves the connection of a refused request to the garbage collector, which the fixture below runs.
pytestmark = pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning")


@pytest.fixture(autouse=True, scope="module")
def _collected() -> Iterator[None]:
    yield
    gc.collect()


_RELEASES = {
    "1.0/a.yaml": OLD,
    "1.0/b/c.yaml": OLD,
    "1.0/d.txt": b"",
}


@pytest.fixture(params=["s3", "s3a", "gs", "gcs"])
def store(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[str]]]:
    """A store of the loopback with the bucket ``releases``: the URL of this, and the requests that the store got."""
    contents = _RELEASES | {
        "1.1/a.yaml": NEW,
        "1.1/all.tgz": _tar(NEW),
        "damaged/all.tgz": _tar(NEW)[:60],
        "empty/all.tgz": b"",
    }
    is_s3 = request.param.startswith("s3")
    for loaded in filter(None, map(sys.modules.get, ("s3fs", "gcsfs"))):
        system = loaded.S3FileSystem if loaded.__name__ == "s3fs" else loaded.GCSFileSystem
        system.clear_instance_cache()  # the address of the server is no part of its key
    with serving((bucket if is_s3 else google_bucket)("releases", contents)) as (host, asked):
        for name, value in (s3_settings if is_s3 else google_settings)(host).items():
            monkeypatch.setenv(name, value)
        yield f"{request.param}://releases", asked


def test_files_and_archives_by_http() -> None:
    with serving(files({"/1.0/crds.yaml": OLD, "/1.1/crds.tgz": _tar(NEW)})) as (host, asked):
        found = run("diff", f"http://{host}/1.0/crds.yaml", f"http://{host}/1.1/crds.tgz", "--format", "json")
    findings = [(each["rule"], each["added"]) for each in found.report["findings"]]
    assert findings == [("enum-value-added", ["Failed"])]
    assert found.code == 1
    assert asked == ["GET /1.0/crds.yaml", "GET /1.1/crds.tgz"]


def test_files_and_archives_of_a_store(store: tuple[str, list[str]]) -> None:
    top, asked = store
    found = run("diff", f"{top}/1.0/a.yaml", f"{top}/1.1/all.tgz", "--format", "json")
    assert [each["added"] for each in found.report["findings"]] == [["Failed"]], found.err
    assert found.err == ""
    assert {each.partition(" ")[0] for each in asked} <= {"GET", "HEAD"}
    assert dict(open_objects(f"{top}/1.0").stream(str.islower)) == {
        Entry(key.removeprefix("1.0/")): data for key, data in _RELEASES.items()
    }


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("damaged/all.tgz", "could not read all.tgz (old): cut short: it ends in the middle"),
        ("empty/all.tgz", "empty: a manifest or an archive is expected"),
        ("none/all.tgz", "there is no such file (404): check the address"),
        ("1.0/d.txt", "empty: a manifest or an archive is expected"),
    ],
)
def test_a_file_of_a_store_that_is_of_no_use(store: tuple[str, list[str]], name: str, words: str) -> None:
    found = run("diff", f"{store[0]}/{name}", "empty:")
    assert (found.code, words in found.out + found.err) == (2, True), found


def test_a_folder_is_listed_page_by_page(store: tuple[str, list[str]]) -> None:
    top, asked = store
    known_as = top.replace("gcs:", "gs:").replace("s3a:", "s3:")
    assert sorted(file.url for file in list_remote(f"{top}/1.0")) == [f"{known_as}/{key}" for key in _RELEASES]
    pages = [line for line in asked if "list-type=2" in line or "maxResults=1000" in line]
    assert len(pages) == (2 if known_as.startswith("s3:") else 3)  # Google's store lists each folder by itself


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_the_pages_of_s3_are_read_one_by_one(store: tuple[str, list[str]]) -> None:
    top, asked = store
    names = list_remote(f"{top}/1.0")
    next(names)
    assert len([line for line in asked if "list-type=2" in line]) == 1


@pytest.mark.parametrize("store", ["gs"], indirect=True)
def test_a_store_of_google_that_refuses(store: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda *_: (403, {}, b"no")) as (host, _):
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://{host}")
        found = run("diff", f"{store[0]}/1.0/a.yaml", "empty:")
    assert found.err == ("crdcompat: gs://releases/1.0/a.yaml: the server refuses to give it: check the credentials\n")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((404, {}, b""), "there is no such file (404): check the address"),
        ((403, {}, b"no"), "the server refuses to give it (403): check the credentials"),
        ((503, {}, b"later"), "the server answers with status 503"),
        ((200, {}, b"<!DOCTYPE html><title>Log in</title>"), "a web page, not a file"),
        ((200, {}, b""), "empty: a manifest or an archive is expected"),
        ((200, {"Content-Length": "999", "Connection": "close"}, OLD), "cannot be read"),
        ((302, {"Location": "/again?token=moved-secret"}, b""), "cannot be read"),
    ],
)
def test_a_server_that_does_not_give_the_file(answer: Answer, words: str) -> None:
    with serving(lambda *_: answer) as (host, _):
        found = run("diff", f"http://me:pass-word@{host}/crds?token=query-secret", "empty:", "--read-timeout", "2")
    assert found.code == 2
    assert words in found.err.replace("\n", " ")
    assert f"http://***@{host}/crds?***" in found.err
    assert not any(secret in found.err for secret in ("pass-word", "query-secret", "moved-secret"))


def test_a_server_that_is_silent_or_not_there() -> None:
    with serving(lambda *_: (200, {"Content-Length": "999999"}, b"PK")) as (host, _):
        found = run("diff", f"http://{host}/silent.zip", "empty:", "--read-timeout", "0.2")
    assert "no answer in time (--connect-timeout, --read-timeout)" in found.err
    found = run("diff", f"http://{host}/closed.yaml", "empty:")
    assert (found.code, "cannot be read" in found.err) == (2, True)


def _over_tls(authority_file: Path | None, host: str) -> subprocess.CompletedProcess[str]:
    """A program of its own: the libraries read the authorities when they are imported."""
    known = {"SSL_CERT_FILE": str(authority_file)} if authority_file else {}
    command = [sys.executable, "-m", "crdcompat", "diff", f"https://{host}/1.0.yaml", f"https://{host}/1.1.yaml"]
    inherited = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    return subprocess.run(command, env={**inherited, **known}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("is_plain", [False, True])
def test_a_server_with_tls(tmp_path: Path, is_plain: bool) -> None:
    file, context = authority(tmp_path, is_plain=is_plain)
    with serving(files({"/1.0.yaml": OLD, "/1.1.yaml": NEW}), context) as (host, asked):
        unknown = _over_tls(None, host)
        assert (unknown.returncode, asked) == (2, [])
        known = _over_tls(file, host)
    assert unknown.stderr == (
        f"crdcompat: https://{host}/1.0.yaml: the server's certificate is not trusted (unable to get local issuer "
        "certificate): for an authority of your own, set SSL_CERT_FILE to the file of its certificate\n"
    )
    assert known.returncode == 1, known.stderr
    assert "enum-value-added" in known.stdout
    assert set(asked) == {"GET /1.0.yaml", "GET /1.1.yaml"}


def test_a_certificate_of_another_server(tmp_path: Path) -> None:
    file, context = authority(tmp_path, "127.0.0.2")
    with serving(files({"/1.0.yaml": OLD}), context) as (host, asked):
        ran = _over_tls(file, host)
    assert (ran.returncode, asked) == (2, [])
    assert "certificate is not trusted (IP address mismatch" in ran.stderr


def test_credentials_are_in_no_format() -> None:
    with serving(files({"/crds-1.0.yaml": OLD, "/crds-1.1.yaml": NEW})) as (host, _):
        names = [f"http://me:pass-word@{host}/crds-{release}.yaml?sig=query-secret" for release in ("1.0", "1.1")]
        for form in ("text", "concise", "json", "markdown", "sarif", "junit", "github", "gitlab", "html"):
            for command in ("diff", "matrix") if form in ("text", "json", "markdown", "html") else ("diff",):
                shown = run(command, *names, "--format", form)
                assert shown.code == 1, shown.err
                assert not any(secret in shown.out + shown.err for secret in ("pass-word", "query-secret")), form
        turned = run("diff", *reversed(names))
        shown = run("simulate", *names, "--objects", names[0], "-v")
    assert "OLD comes first" in turned.err
    assert not any(
        secret in each.out + each.err for each in (turned, shown) for secret in ("pass-word", "query-secret")
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://host/a.yaml", "https://host/a.yaml"),
        ("https://me:secret@host:8443/a.yaml", "https://***@host:8443/a.yaml"),
        ("https://token@host/a.yaml?ref=v1#x", "https://***@host/a.yaml?***#x"),
        ("https://host:8443/@scope/a.yaml", "https://host:8443/@scope/a.yaml"),
        ("https://me:pa/ss@host/a", "https://***@host/a"),
        ("https://me:pa?ss@host/a", "https://***@host/a"),
        ("https://host/a#access_token=secret", "https://host/a#***"),
        ("catalog:https://me:secret@host/c.yaml#widgets@1.0", "catalog:https://***@host/c.yaml#widgets@1.0"),
        ("zip://a.yaml::https://me:secret@host/a.zip", "zip://***@host/a.zip"),
        ("release-4.13", "release-4.13"),
    ],
)
def test_the_name_of_a_url_has_no_credentials(text: str, shown: str) -> None:
    assert urls.public_name(text) == shown
    assert "secret" not in kinds.named_source(text).name


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(files({"/a.yaml": OLD})) as (host, _):
        monkeypatch.setattr(remote, "MAX_REMOTE_BYTES", len(OLD) - 1)
        with (
            pytest.raises(SourceError, match=f"more than {len(OLD) - 1} bytes: not read"),
            open_remote(f"http://{host}/a.yaml") as file,
        ):
            file.read()
        monkeypatch.setattr(remote, "MAX_REMOTE_BYTES", len(OLD))
        monkeypatch.setattr(remote, "MAX_REMOTE_SECONDS", -1.0)
        with pytest.raises(SourceError, match="given up"):
            open_remote(f"http://{host}/a.yaml")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(UsageError) as caught:
        open_source("s3://me:secret@releases/1.0/a.yaml")
    assert str(caught.value) == (
        "s3://***@releases/1.0/a.yaml: to read from a URL, install the extra: pip install 'crdcompat[remote]'"
    )


def test_what_is_no_source() -> None:
    with pytest.raises(SourceError, match="an http server lists no files"):
        next(list_remote("https://127.0.0.1/folder/"))
    with pytest.raises(SourceError, match=r"fsspec has no protocol nope://: https://"):
        open_source("nope://host/a")
    with pytest.raises(SourceError, match=r"hlem: is no known prefix: these are archive:, bundle:, catalog:,"):
        open_source("hlem:chart")


def test_an_archive_is_expected(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(OLD)
    with pytest.raises(SourceError, match=r"no archive: \.tar, .* is expected"):
        open_source(f"archive:{tmp_path / 'a.yaml'}")


def _tar(data: bytes) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        member = tarfile.TarInfo("crds/a.yaml")
        member.size = len(data)
        tar.addfile(member, io.BytesIO(data))
    return packed.getvalue()


@pytest.mark.parametrize(
    ("key", "command"), [("objects", ["diff", "empty:", "empty:"]), ("rollback_targets", ["check"])]
)
def test_the_configuration_names_no_url(tmp_path: Path, key: str, command: list[str]) -> None:
    repo = repository(tmp_path)
    commit(repo, {".crdcompat.yaml": {key: ["https://me:pass-word@127.0.0.1/a.yaml"]}})
    found = run(*command, cwd=repo)
    assert found.code == 2
    assert f"{key}: https://***@127.0.0.1/a.yaml: a URL is read only if the command line names it" in found.err
