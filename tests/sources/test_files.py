from __future__ import annotations

import io
import os
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from crdcompat.errors import SourceError
from crdcompat.sources import open_source
from crdcompat.sources.files import PathTree

if TYPE_CHECKING:
    from pathlib import Path


def read(tree: PathTree) -> dict[str, bytes]:
    return {entry.path: data for entry, data in tree.read(tree.entries())}


def tree_of(path: Path) -> PathTree:
    return PathTree(f"path:{path}", str(path))


def test_directory_is_sorted_and_recursive(tmp_path: Path) -> None:
    for name in ("b.yaml", "a/z.yaml", "a.yaml", "a-b/c.yaml", ".git/config", "a/.git", ".hidden.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    paths = [entry.path for entry in tree_of(tmp_path).entries()]
    assert paths == sorted(paths)
    assert set(paths) == {"b.yaml", "a/z.yaml", "a.yaml", "a-b/c.yaml", "a/.git", ".hidden.yaml"}
    assert read(tree_of(tmp_path))["a/z.yaml"] == b"a/z.yaml"


def test_single_file(tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_bytes(b"x")
    tree = open_source(f"path:{tmp_path}/one.yaml")
    assert [(entry.path, data) for entry, data in tree.read(tree.entries())] == [("one.yaml", b"x")]
    assert tree.commit is None


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"kind: X")))
    tree = open_source("-")
    for _ in range(2):
        assert [data for _, data in tree.read(tree.entries())] == [b"kind: X"]


def test_no_such_path(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nothing: no such file"):
        open_source(f"path:{tmp_path}/nothing")
    with pytest.raises(SourceError):
        open_source("path:a\0b")


def test_links_inside_are_followed_and_out_are_not(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "real/x.yaml").write_text("x")
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/s.yaml").write_text("secret")
    (root / "file.yaml").symlink_to("real/x.yaml")
    (root / "dir").symlink_to("real")
    (root / "out.yaml").symlink_to(tmp_path / "secret/s.yaml")
    (root / "outdir").symlink_to("../secret")
    (root / "dangling.yaml").symlink_to("nowhere")
    tree = tree_of(root)
    assert read(tree) == {"real/x.yaml": b"x", "file.yaml": b"x", "dir/x.yaml": b"x"}
    assert len({entry.oid for entry in tree.entries() if entry.path in read(tree)}) == 1
    assert [(one.file, one.reason) for one in tree.skipped] == [("outdir", "symbolic link out of the source")]
    assert {(one.file, one.message.partition(":")[0]) for one in tree.problems} == {
        ("out.yaml", "symbolic link out of the source"),
        ("dangling.yaml", "symbolic link to nothing"),
    }


def test_a_sibling_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root-secret").write_text("secret")
    (tmp_path / "root/link").symlink_to("../root-secret")
    assert read(tree_of(tmp_path / "root")) == {}


def test_link_loops_end(tmp_path: Path) -> None:
    for name in "abcdefgh":
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.yaml").write_text(name)
        (tmp_path / name / "up").symlink_to("..")
        for other in "abcdefgh":
            (tmp_path / name / f"to-{other}").symlink_to(f"../{other}")
    (tmp_path / "self").symlink_to("self")
    tree = tree_of(tmp_path)
    paths = [entry.path for entry in tree.entries()]
    assert {f"{name}/x.yaml" for name in "abcdefgh"} <= set(paths)
    assert len(paths) <= 2 * 8


def test_root_can_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real/x.yaml").write_text("x")
    (tmp_path / "link").symlink_to("real")
    assert read(tree_of(tmp_path / "link")) == {"x.yaml": b"x"}


def test_special_files_are_left_out(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "link.yaml").symlink_to("pipe.yaml")
    assert read(tree_of(tmp_path)) == {}


def test_unreadable_files_do_not_hide_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.yaml").write_text("a")
    (tmp_path / "gone.yaml").write_text("")
    (tmp_path / "z.yaml").write_text("toolong")
    monkeypatch.setattr("crdcompat.sources.files.MAX_FILE_BYTES", 4)
    tree = tree_of(tmp_path)
    tree.entries()
    (tmp_path / "gone.yaml").unlink()
    for _ in range(2):  # reading again does not report again
        assert read(tree) == {"a.yaml": b"a"}
    assert [(problem.file, problem.line) for problem in tree.problems] == [
        ("gone.yaml", None),
        ("z.yaml", None),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_permissions(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "closed").chmod(0)
    (tmp_path / "a.yaml").write_text("a")
    tree = tree_of(tmp_path)
    assert read(tree) == {"a.yaml": b"a"}
    assert [problem.file for problem in tree.problems] == ["closed"]
    with pytest.raises(SourceError):
        tree_of(tmp_path / "closed").entries()
    (tmp_path / "closed").chmod(0o700)


def test_names_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"bad-\xff.yaml")).write_text("x")
    tree = tree_of(tmp_path)
    assert read(tree) == {"bad-\\xff.yaml": b"x"}
