"""Archives from strangers: read as a stream, with a clear line for everything that is not read."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace

import pytest
from helpers import both, crd, obj, root, run, string
from operations import operations

from crdcompat.errors import SourceError
from crdcompat.features.diff import diff_workflow
from crdcompat.sources import archive, files, open_objects, open_source, tar, unpack
from crdcompat.sources.archive import ArchiveTree, is_archive
from crdcompat.sources.tree import Entry

CONFIG_MAP = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %d, uid: u%d}\n"


def regular(name: str, data: bytes = b"a: 1\n", **more: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def special(name: str, kind: bytes, link: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info, b""


def packed(members: Iterable[tuple[tarfile.TarInfo, bytes]], form: int = tarfile.PAX_FORMAT) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as made:
        for info, data in members:
            made.addfile(info, io.BytesIO(data))
    return file.getvalue()


def tree_of(path: Path, data: bytes) -> ArchiveTree:
    path.write_bytes(data)
    return ArchiveTree(str(path), str(path))


def yaml_files(path: str) -> bool:
    return path.endswith(".yaml")


def read(tree: ArchiveTree) -> dict[str, bytes]:
    return {entry.path: data for entry, data in tree.stream(yaml_files)}


def reported(tree: ArchiveTree) -> list[tuple[str, str]]:
    return [(problem.file, problem.message) for problem in tree.problems]


# -- what is read ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_every_form_is_recognised_by_its_content(tmp_path: Path, form: int, compress: Callable[[bytes], bytes]) -> None:
    long = "/".join(["d" * 60] * 3) + "/x.yaml"
    beyond_ustar = "" if form == tarfile.USTAR_FORMAT else "e" * 300
    members = [
        regular("./b.yaml", b"b"),
        regular(long, b"long"),
        regular("ä.yaml", b"u"),
        regular("big.log", b"x" * 999),
    ]
    members += [regular(f"{beyond_ustar}.yaml", b"e")]
    file = tmp_path / "no-extension"
    data = compress(packed(members, form))
    file.write_bytes(data)
    tree = open_objects(str(file))
    assert isinstance(tree, ArchiveTree)
    expected = {"b.yaml": b"b", long: b"long", "ä.yaml": b"u", f"{beyond_ustar}.yaml": b"e"}
    assert read(tree) == expected
    assert reported(tree) == [] and tree.skipped == []
    assert [entry.path for entry in tree.entries()] == sorted([*expected, "big.log"])
    assert file.read_bytes() == data


def test_files_are_read_in_the_order_asked_for(tmp_path: Path) -> None:
    tree = tree_of(tmp_path / "a.tar", packed(regular(name, name.encode()) for name in "dbca"))
    wanted = [Entry(name) for name in "abba"]
    assert [(entry.path, data.decode()) for entry, data in tree.read(wanted)] == [(name, name) for name in "abba"]
    assert list(tree.read([Entry("nothing")])) == []


def test_what_is_no_archive_is_no_archive(tmp_path: Path) -> None:
    for name, data, expected in (
        ("empty.tar.gz", b"", False),
        ("x.json.gz", gzip.compress(b"{}" * 1000), False),
        ("x.yaml", b"a: 1\n" * 500, False),
        ("garbage.tar", b"no archive" * 100, True),  # by its name: what is wrong with it is said
        ("cut.tar.gz", gzip.compress(b"x" * 9999)[:20], True),
        ("nothing-inside", packed([]), True),
    ):
        (tmp_path / name).write_bytes(data)
        assert is_archive(str(tmp_path / name)) is expected, name
    assert not is_archive(str(tmp_path)) and not is_archive(str(tmp_path / "missing")) and not is_archive("a\0b")


def test_an_archive_on_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    data = gzip.compress(packed([regular("a.yaml", b"a")]))
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    tree = open_objects("-")
    assert isinstance(tree, ArchiveTree)
    assert tree.label == "stdin" and read(tree) == {"a.yaml": b"a"}
    with pytest.raises(SourceError, match="only once"):
        read(tree)


# -- what is not read -----------------------------------------------------------------------------------------


def test_names_that_lead_out_of_the_archive(tmp_path: Path) -> None:
    names = ("/etc/a.yaml", "../b.yaml", "x/../../c.yaml", "..", "x/../y.yaml")
    tree = tree_of(tmp_path / "a.tar", packed([*(regular(name) for name in names), regular("ok.yaml", b"ok")]))
    assert read(tree) == {"ok.yaml": b"ok"}
    assert reported(tree) == [(name, "leads out of the archive: not read") for name in names]
    assert {path.name for path in tmp_path.iterdir()} == {"a.tar"}


def test_links_devices_and_pipes(tmp_path: Path) -> None:
    members = [
        regular("dir/real.yaml", b"real"),
        special("dir/soft.yaml", tarfile.SYMTYPE, "real.yaml"),
        special("dir/latest", tarfile.SYMTYPE, "../dir"),
        special("out", tarfile.SYMTYPE, "/etc"),
        special("dir/up", tarfile.SYMTYPE, "../../x"),
        special("hard.yaml", tarfile.LNKTYPE, "dir/real.yaml"),
        special("tty.yaml", tarfile.CHRTYPE),
        special("disk", tarfile.BLKTYPE),
        special("pipe.yaml", tarfile.FIFOTYPE),
        special("strange", b"z"),
        regular("after.yaml", b"after"),
    ]
    tree = tree_of(tmp_path / "a.tar", packed(members))
    assert read(tree) == {"dir/real.yaml": b"real", "after.yaml": b"after"}
    assert reported(tree) == [
        ("dir/soft.yaml", "symbolic link to real.yaml: not followed"),
        ("out", "symbolic link to /etc: not followed"),
        ("dir/up", "symbolic link to ../../x: not followed"),
        ("hard.yaml", "hard link to dir/real.yaml: not followed"),
        ("tty.yaml", "character device: not read"),
        ("disk", "block device: not read"),
        ("pipe.yaml", "named pipe: not read"),
        ("strange", "member of unknown type b'z': not read"),
    ]
    assert [(one.file, one.reason) for one in tree.skipped] == [("dir/latest", "symbolic link to ../dir: not followed")]
    read(tree)
    assert len(tree.problems) == 8  # a second reading says nothing twice


def test_sparse_files_are_passed_over(tmp_path: Path) -> None:
    old = bytearray(packed([special("old.yaml", tarfile.GNUTYPE_SPARSE)], tarfile.GNU_FORMAT)[:512])
    old[124:136] = b"%011o\0" % 512  # one block of content, one more block of its map before it
    old[482] = 1
    old[148:156] = b" " * 8
    old[148:156] = b"%06o\0 " % sum(old)
    info, data = regular("new.yaml", b"9\n" + b"0" * 510)
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(1 << 50)}
    rest = packed([(info, data), regular("ok.yaml", b"ok")])
    tree = tree_of(tmp_path / "a.tar", bytes(old) + bytes(512) + b"x" * 512 + rest)
    assert read(tree) == {"ok.yaml": b"ok"}
    assert reported(tree) == [("old.yaml", "sparse file: not read"), ("new.yaml", "sparse file: not read")]


def test_a_large_member_hides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILE_BYTES", 1000)
    members = [regular("a.yaml", b"a"), regular("big.yaml", b"x" * 1001), regular("big.log", b"x" * 5000)]
    tree = tree_of(tmp_path / "a.tar", packed([*members, regular("z.yaml", b"z")]))
    assert read(tree) == {"a.yaml": b"a", "z.yaml": b"z"}
    assert reported(tree) == [("big.yaml", "larger than 1000 bytes: not read")]


def test_a_member_of_a_gigabyte_costs_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    info = tarfile.TarInfo("bomb.yaml")
    info.size = 1 << 30
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(info.tobuf())
        for _ in range(256):
            file.write(bytes(4 << 20))
        file.write(packed([regular("after.yaml", b"after")]))
    tree = ArchiveTree("a", str(path))
    tracemalloc.start()
    with operations() as done:
        found = read(tree)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
    assert found in ({}, {"after.yaml": b"after"})
    assert reported(tree)[0] == ("bomb.yaml", f"larger than {files.MAX_FILE_BYTES} bytes: not read")
    assert done.calls < 200_000


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_bombs_are_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    monkeypatch.setattr(unpack, "_RATIO_APPLIES_FROM", 1 << 20)
    members = [regular("first.yaml", b"first"), regular("zeros.log", bytes(16 << 20)), regular("last.yaml", b"last")]
    tree = tree_of(tmp_path / "bomb.tar.gz", compress(packed(members)))
    assert read(tree) == {"first.yaml": b"first"}
    assert reported(tree) == [("bomb.tar.gz", "unpacks to more than 500 times its size: the rest is not read")]


def test_more_than_an_archive_may_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = tree_of(tmp_path / "a.tar", packed(regular(f"{n}.yaml") for n in range(30)))
    monkeypatch.setattr(tar, "MAX_MEMBERS", 10)
    assert len(read(tree)) == 10
    assert reported(tree) == [("a.tar", "more than 10 members: the rest is not read")]
    monkeypatch.undo()
    tree = ArchiveTree("a.tar", str(tmp_path / "a.tar"))
    monkeypatch.setattr(unpack, "MAX_TOTAL_BYTES", 5000)
    assert 0 < len(read(tree)) < 30
    assert reported(tree) == [("a.tar", "unpacks to more than 5000 bytes: the rest is not read")]


def test_an_xz_dictionary_of_gigabytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = lzma.compress(packed([regular("a.yaml")]), filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 64 << 20}])
    monkeypatch.setattr(unpack, "_XZ_MEMORY", 1 << 20)
    tree = tree_of(tmp_path / "a.tar.xz", data)
    assert read(tree) == {}
    assert "damaged" in reported(tree)[0][1]


def test_headers_as_large_as_files_are_refused(tmp_path: Path) -> None:
    for kind in (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK):
        info = tarfile.TarInfo("x")
        info.type, info.size = kind, 8 << 30
        tree = tree_of(
            tmp_path / "a.tar", packed([regular("a.yaml", b"a")])[:1024] + info.tobuf(tarfile.GNU_FORMAT) + bytes(4096)
        )
        assert read(tree) == {"a.yaml": b"a"}
        assert reported(tree) == [("a.tar", f"damaged: an extended header of {8 << 30} bytes")]


@pytest.mark.parametrize("record", [b"nonsense", b"9 size=x\n", b"99999 a=b\n", b"0 a=b\n", b"11 size=-1\n"])
def test_extended_headers_that_are_none(tmp_path: Path, record: bytes) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, len(record)
    data = info.tobuf() + record.ljust(512, b"\0") + packed([regular("a.yaml")])
    tree = tree_of(tmp_path / "a.tar", data)
    assert read(tree) == {}
    assert len(reported(tree)) == 1 and reported(tree)[0][1].startswith("damaged: ")


def test_where_an_archive_is_damaged_the_rest_ends(tmp_path: Path) -> None:
    data = packed(regular(f"{n}.yaml", b"%d" % n) for n in range(4))
    tree = tree_of(tmp_path / "a.tar", data[:2048] + b"\xff" * 512 + data[2560:])
    assert read(tree) == {"0.yaml": b"0", "1.yaml": b"1"}
    assert reported(tree) == [("a.tar", "damaged: no header at byte 2048 of the archive")]


@pytest.mark.parametrize(("keep", "whole"), [(100, 0), (512, 0), (600, 1), (1024, 1), (1536, 1), (2000, 2), (3072, 3)])
def test_a_plain_archive_that_is_cut_short_says_so(tmp_path: Path, keep: int, whole: int) -> None:
    tree = tree_of(tmp_path / "a.tar", packed(regular(f"{n}.yaml", b"%d" % n) for n in range(3))[:keep])
    assert len(read(tree)) == whole
    assert len(reported(tree)) == 1 and "cut short" in reported(tree)[0][1]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_a_compressed_archive_that_is_cut_short_says_so(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    data = compress(packed(regular(f"{n}.yaml", b"%d" % n) for n in range(3)))
    for keep in (len(data) - 1, len(data) // 2, 12):
        tree = tree_of(tmp_path / "a.tar.gz", data[:keep])
        read(tree)
        assert reported(tree) == [("a.tar.gz", "cut short: it ends in the middle")], keep


@pytest.mark.parametrize("junk", [b"hello, this is no archive", b"<!DOCTYPE html>\n" * 99])
@pytest.mark.parametrize(
    ("name", "packing"),
    [("a.tar.gz", "gzip"), ("A.TGZ", "gzip"), ("a.tar.bz2", "bzip2"), ("a.tbz2", "bzip2"), ("a.tar.xz", "xz"),
     ("a.txz", "xz")],
)  # fmt: skip
def test_what_is_only_called_an_archive_is_none(tmp_path: Path, name: str, packing: str, junk: bytes) -> None:
    tree = tree_of(tmp_path / name, junk)
    assert read(tree) == {}
    assert reported(tree) == [(name, f"no {packing} archive: its first bytes are not those of one")]


def test_a_name_that_promises_another_packing_is_no_matter(tmp_path: Path) -> None:
    data = packed(regular(f"{n}.yaml", b"%d" % n) for n in range(3))
    for found, said in (
        (data, []),
        (lzma.compress(data), []),
        (data[:2000], [("a.tar.gz", "cut short: it ends in the middle")]),
        (lzma.compress(data)[:60], [("a.tar.gz", "cut short: it ends in the middle")]),
    ):
        tree = tree_of(tmp_path / "a.tar.gz", found)
        read(tree)
        assert reported(tree) == said


def test_a_flipped_bit_is_found_by_the_checksum(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(packed([regular("a.yaml", bytes(range(256)) * 8)]), compresslevel=0))
    data[len(data) // 10] ^= 1
    tree = tree_of(tmp_path / "a.tar.gz", bytes(data))
    read(tree)
    assert len(reported(tree)) == 1 and reported(tree)[0][1].startswith("damaged: ")


def test_bytes_after_the_end_are_reported(tmp_path: Path) -> None:
    tree = tree_of(tmp_path / "a.tar", packed([regular("a.yaml", b"a")]) + packed([regular("b.yaml", b"b")]))
    assert read(tree) == {"a.yaml": b"a"}
    assert reported(tree) == [("a.tar", "has more bytes after the mark that ends it: they are not read")]


def test_many_bad_members_are_not_many_lines(tmp_path: Path) -> None:
    tree = tree_of(tmp_path / "a.tar", packed(regular(f"../{n}.yaml") for n in range(250)))
    assert read(tree) == {}
    assert len(tree.problems) == archive.MAX_PROBLEMS + 1
    assert reported(tree)[-1] == ("a.tar", "150 more members are not read, for reasons like these")


def test_names_that_are_no_text(tmp_path: Path) -> None:
    info, data = regular("x\x1b[31m\udcff.yaml")
    tree = tree_of(tmp_path / "a.tar", packed([(info, data)], tarfile.GNU_FORMAT))
    assert list(read(tree)) == ["x\x1b[31m\\xff.yaml"]


def test_twenty_thousand_members(tmp_path: Path) -> None:
    path = tmp_path / "a.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for number in range(20_000):
            info, data = regular(f"namespaces/n/core/configmaps/{number}.yaml", CONFIG_MAP % (number, number))
            file.write(info.tobuf() + data.ljust(512, b"\0"))
        file.write(bytes(1024))
    tree = ArchiveTree("a", str(path))
    with operations() as done:
        count = sum(1 for _ in tree.stream(yaml_files))
    assert count == 20_000 and tree.problems == []
    assert done.calls < 150 * count


# -- through the command line ---------------------------------------------------------------------------------


def test_bad_members_are_problems_and_the_rest_is_judged(tmp_path: Path) -> None:
    sides = both(tmp_path, root(spec=obj(p=string())), root(spec=obj(p=string())))
    good = json.dumps({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "x"}}).encode()
    data = packed([regular("good.json", good), regular("../bad.json", good), special("l.json", tarfile.SYMTYPE, "/x")])
    (tmp_path / "r.tar.gz").write_bytes(gzip.compress(data))
    ran = run("simulate", *sides, "--objects", tmp_path / "r.tar.gz", "--kube-version", "1.31", "--format", "json")
    assert ran.code == 2
    (judged,) = ran.report["objects"]
    assert judged["source"] == "r.tar.gz: good.json"
    assert [(one["file"], one["message"]) for one in ran.report["summary"]["problems"]] == [
        ("r.tar.gz: ../bad.json", "leads out of the archive: not read"),
        ("r.tar.gz: l.json", "symbolic link to /x: not followed"),
    ]


def test_an_archive_of_crds_is_a_source(tmp_path: Path) -> None:
    data = json.dumps(crd(root(spec=obj(p=string())))).encode()
    members = [regular("config/w.json", data), regular("x.json", b"[]"), regular("tests/w.json", data)]
    (tmp_path / "crds.tgz").write_bytes(gzip.compress(packed(members)))
    for name in ("crds.tgz", "path:crds.tgz", "recording:crds.tgz"):
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(tmp_path)
            found = diff_workflow.load(name)
            assert [document.file for document in found.documents] == ["config/w.json"]
            assert [path for path, _ in found.read(["config/w.json"])] == ["config/w.json"]
    assert open_source(str(tmp_path / "crds.tgz")).problems == []
