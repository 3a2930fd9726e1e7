"""Which entries of a folder are one cluster's recording, and when one counts as changed."""

from __future__ import annotations

import gc
import io
import json
import os
from pathlib import Path

import pytest
from fleets import cluster_version as cluster
from fleets import gather, releases, unpacked, uuid, widget
from helpers import Run, run, write
from loopback import bucket, files, s3_settings, serving
from s3fs import S3FileSystem

from crdcompat.errors import SourceError
from crdcompat.features.fleet.recordings import find_fleet, signature
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.sources.remote import RemoteFile


def _touch(path: Path, data: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_what_is_a_recording(tmp_path: Path) -> None:
    top = tmp_path / "fleet"
    expected = {
        gather(top / "a.tar.gz", widget("w")),
        gather(top / "no-ending", widget("w")),  # recognised by its content
        _touch(top / "empty.tgz"),
        write(top / "objects.yaml", widget("w")),
        _touch(top / "list.json.gz"),
        unpacked(top / "gathered", widget("w")),  # cluster-scoped-resources at its top
        unpacked(top / "must-gather.local.1" / "image-sha256-1", widget("w")).parent,
        unpacked(top / "renamed" / "quay-io-x-sha256-0a", widget("w")).parent,
        _touch(top / "inspect.local.5" / "timestamp").parent,  # of nothing: known by its name
        _touch(top / "insights" / "insights-operator" / "gathers.json").parent.parent,
        _touch(top / "extra" / "clusterversion.json").parent,
        write(top / "plain" / "a.yaml", widget("w")).parent,
        gather(top / "case-7" / "a.tar.gz", widget("w")),
        unpacked(top / "case-7" / "must-gather.local.2", widget("w")),
    }
    write(top / "plain" / "b.yaml", widget("v"))
    left_out = {
        _touch(top / "README.md", b"x"): "no recording",
        _touch(top / "case-7" / "notes.txt", b"x"): "no recording",
        _touch(top / "case-7" / "values.yaml", b"x"): "beside the recordings of a case",
        _touch(top / "deep" / "er" / "a.txt", b"x").parent: "no recording",
        _touch(top / "logs" / "x.log", b"x"): "no recording",
    }
    for nothing in ("logs", "deep"):
        left_out[top / nothing] = "no recording in it"
    _touch(top / "folders" / "a.yaml" / "README.md")  # a folder with the name of a file of objects
    left_out |= {top / "folders" / "a.yaml": "no recording", top / "folders": "no recording in it"}
    _touch(top / ".hidden.tar.gz")
    _touch(top / "._a.tar.gz")
    found = find_fleet([str(top)])
    assert set(found.recordings) == {str(path) for path in expected}
    assert list(found.recordings) == sorted(found.recordings)
    assert {item.file: item.reason for item in found.left_out} == {str(path): why for path, why in left_out.items()}
    assert found.unread == ()


def test_links(tmp_path: Path) -> None:
    """A folder may be put together of links; what is inside a case's folder leads nowhere else."""
    there = gather(tmp_path / "elsewhere" / "a.tar.gz", widget("w"))
    folder = unpacked(tmp_path / "elsewhere" / "unpacked", widget("w"))
    top = tmp_path / "fleet"
    (top / "case").mkdir(parents=True)
    for place in (top, top / "case"):
        (place / "a.tar.gz").symlink_to(there)
        (place / "unpacked").symlink_to(folder)
    (top / "lost.tar.gz").symlink_to(tmp_path / "nowhere")
    gather(top / "case" / "b.tar.gz", widget("w"))
    found = find_fleet([str(top)])
    assert set(found.recordings) == {str(top / name) for name in ("a.tar.gz", "unpacked", "case/b.tar.gz")}
    assert found.unread == ((str(top / "lost.tar.gz"), "a link to nothing"),)
    assert {item.file for item in found.left_out} == {str(top / "case" / name) for name in ("a.tar.gz", "unpacked")}


def test_a_recording_itself_and_each_once(tmp_path: Path) -> None:
    archive = gather(tmp_path / "fleet" / "a.tar.gz", widget("w"))
    folder = unpacked(tmp_path / "must-gather.local.1" / "image-sha256-1", widget("w")).parent
    names = [str(archive), str(folder), str(tmp_path / "fleet")]
    assert tuple(find_fleet(names).recordings) == (str(archive), str(folder))


@pytest.mark.parametrize("end", ["\n", "\0", "\r\n"])
def test_paths_on_standard_input(tmp_path: Path, end: str) -> None:
    crds = releases(tmp_path / "crds")
    names = [gather(tmp_path / name, widget("w", "A")) for name in ("a b.tar.gz", "ü.tar.gz")]
    listed = end.join([*map(str, names), ""]).encode()
    sides = (f"path:{crds['release-4.15']}", f"path:{crds['release-4.16']}")
    ran = run("simulate", *sides, "--fleet", "-", "--jobs", "1", "--format", "json", stdin=listed)
    assert ran.code == 0, ran.err
    assert [item["name"] for item in ran.report["clusters"]] == [str(name) for name in names]
    ran = run("simulate", *sides, "--fleet", "-", stdin=b"/not/there\n")
    assert (ran.code, ran.err) == (2, "crdcompat: /not/there: no such file or directory\n")


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    crds = releases(tmp_path / "crds")
    top = tmp_path / "fleet"
    archive = gather(top / "a.tar.gz", widget("w", "A"))
    try:
        archive.rename(os.fsdecode(os.fsencode(top) + b"/\xff\xfe.tar.gz"))
    except OSError:
        pytest.skip("this file system has no such names")
    sides = (f"path:{crds['release-4.15']}", f"path:{crds['release-4.16']}")
    journal = tmp_path / "journal"
    for _ in range(2):
        ran = run("simulate", *sides, "--fleet", top, "--jobs", "1", "--format", "json", "--resume", journal)
        assert ran.code == 0, ran.err
        assert [item["name"] for item in ran.report["clusters"]] == [f"{top}/\\xff\\xfe.tar.gz"]


def test_signatures(tmp_path: Path) -> None:
    archive, folder = tmp_path / "a", unpacked(tmp_path / "f", widget("w"), widget("v"))
    archive.write_bytes(b"x")
    seen = {signature(str(archive)), signature(str(folder)), signature(str(tmp_path / "nowhere"))}
    assert {signature(str(archive)), signature(str(folder)), signature(str(tmp_path / "nowhere"))} == seen
    archive.write_bytes(b"xy")
    os.utime(next(folder.rglob("w.yaml")), ns=(1, 1))
    fresh = {signature(str(archive)), signature(str(folder))}
    next(folder.rglob("v.yaml")).rename(folder / "u.yaml")
    fresh.add(signature(str(folder)))
    assert len(seen) == len(fresh) == 3
    assert not seen & fresh
    before, was = archive.stat(), signature(str(archive))
    archive.write_bytes(b"zz")
    os.utime(archive, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert signature(str(archive)) != was  # the same size and time
    # The same below another name: a fleet may be moved as a whole.
    assert signature(str(folder.rename(tmp_path / "g"))) in fresh


def _facts(*objects: object) -> tuple[str | None, str | None]:
    facts = ClusterFacts()
    for item in objects:
        facts.add(Recorded(item, "x"))
    return facts.id, facts.version


def test_which_cluster_a_recording_is_of(tmp_path: Path) -> None:
    assert _facts() == (None, None)
    assert _facts(widget("w"), "text", cluster(uuid(1).upper())) == (uuid(1), "4.16.3")
    assert _facts(cluster(uuid(1)), cluster(uuid(1))) == (uuid(1), "4.16.3")
    assert _facts(cluster(uuid(1)), cluster(uuid(2), "4.17.0")) == (None, None)
    # Made unreadable, all the same for every cluster.
    for name in (
        "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
        "",
        "cluster",
        "00000000-0000-0000-0000-000000000000",
        uuid(1) + "\n",
    ):
        assert _facts(cluster(name)) == (None, "4.16.3")
    assert _facts({**cluster(uuid(1)), "apiVersion": "other.io/v1"}) == (None, None)
    assert _facts({**cluster(uuid(1)), "spec": [], "status": {"desired": []}}) == (None, None)


def _remote(monkeypatch: pytest.MonkeyPatch, *files: RemoteFile) -> None:
    monkeypatch.setattr("crdcompat.features.fleet.recordings.list_remote", lambda _: iter(files))
    monkeypatch.setattr("crdcompat.features.fleet.recordings.is_remote_folder", lambda url: url.endswith("/"))


def test_the_recordings_below_a_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    _remote(
        monkeypatch,
        RemoteFile("s3://bucket/b/must-gather.tar.gz", 7, "etag-1"),
        RemoteFile("s3://bucket/a.json.gz", 7),
        RemoteFile("s3://bucket/c.rar", 7),
        RemoteFile("s3://bucket/d.log", 7),
    )
    found = find_fleet(["s3://bucket/", "s3://other/one.tgz"])
    archive, objects, other = "s3://bucket/b/must-gather.tar.gz", "s3://bucket/a.json.gz", "s3://other/one.tgz"
    assert tuple(found.recordings) == (objects, archive, other)
    assert found.unread == (("s3://bucket/c.rar", ".rar archives are not read: unpack it"),)
    assert [item.file for item in found.left_out] == ["s3://bucket/d.log"]
    assert dict(found.recordings.versions()) == {objects: None, archive: "etag-1 7", other: None}
    assert signature(archive, "etag-1 7") == "etag-1 7"
    assert signature(objects) != signature(objects)  # no version: read again


def test_a_hundred_thousand_recordings_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    _remote(monkeypatch, *(RemoteFile(f"s3://bucket/{number:06}.tgz", 7, "x") for number in range(100_000)))
    assert len(find_fleet(["s3://bucket/"]).recordings) == 100_000


@pytest.mark.parametrize(
    "other", ["https://elsewhere/c.tgz", "file:///etc/passwd", "s3://bucket/c.tgz", "//elsewhere/c.tgz"]
)
def test_an_index_names_recordings_of_its_own_server(monkeypatch: pytest.MonkeyPatch, other: str) -> None:
    text = "a.tgz\n\nhttps://host/x/b.tgz\r\n"
    monkeypatch.setattr("crdcompat.features.fleet.recordings.open_remote", lambda _: io.BytesIO(text.encode()))
    assert tuple(find_fleet(["https://host/fleet/index.txt"]).recordings) == (
        "https://host/fleet/a.tgz",
        "https://host/x/b.tgz",
    )
    text += other
    with pytest.raises(SourceError, match="an index names only its own server"):
        find_fleet(["https://host/fleet/index.txt"])


@pytest.mark.filterwarnings("ignore:Unclosed:ResourceWarning")  # of a connection that fsspec leaves to the collector
@pytest.mark.parametrize("where", ["s3", "http"])
def test_a_fleet_behind_a_url_is_that_of_its_files(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The names are the only difference; only a store has versions, so that a journal can be used."""
    crds, folder = releases(tmp_path / "crds"), tmp_path / "fleet"
    paths = [
        gather(folder / "a.tar.gz", widget("w", "D"), cluster(uuid(1))),
        gather(folder / "b.tar.gz", widget("w", "A"), cluster(uuid(2))),
    ]
    data = {f"/fleet/{path.name}": path.read_bytes() for path in paths}
    sides = [f"path:{crds['release-4.13']}", f"path:{crds['release-4.16']}"]
    args = ["simulate", *sides, "--jobs", "1", "--format", "json", "--log-format", "json"]
    local = run(*args, "--fleet", folder)
    S3FileSystem.clear_instance_cache()
    contents = {name.removeprefix("/fleet/"): each for name, each in data.items()}
    served = bucket("fleet", contents) if where == "s3" else files({**data, "/fleet/i.txt": b"a.tar.gz\nb.tar.gz\n"})
    with serving(served) as (host, _):
        for name, value in s3_settings(host).items():
            monkeypatch.setenv(name, value)
        top = "s3://fleet" if where == "s3" else f"http://{host}/fleet"
        args += ["--fleet", f"{top}/" if where == "s3" else f"{top}/i.txt", "--resume", str(tmp_path / "journal")]
        stored, again = run(*args), run(*args)
    gc.collect()
    assert (local.code, stored.code) == (1, 1), stored.err
    assert stored.out.replace(top, str(folder)) == local.out
    assert again.out == stored.out
    assert _logged(stored) == [(f"{top}/a.tar.gz", "read", 2, ""), (f"{top}/b.tar.gz", "read", 2, "")]
    assert {outcome for _, outcome, *_ in _logged(again)} == {"known" if where == "s3" else "read"}


def _logged(ran: Run) -> list[tuple[str, str, int, str]]:
    lines = [json.loads(line) for line in ran.err.splitlines()]
    return [(line["recording"], line["outcome"], line["objects"], line["reason"]) for line in lines]
