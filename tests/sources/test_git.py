from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import contents
from offline import PROJECT

from crdcompat.errors import MissingObjectsError, RefNotFoundError, SourceError, UsageError
from crdcompat.sources import open_source
from crdcompat.sources.differing import read_index
from crdcompat.sources.git import GitTree, IndexTree, WorktreeTree
from crdcompat.sources.refs import merge_base, resolve
from crdcompat.sources.repository import NotARepositoryError, Repository
from crdcompat.sources.tree import Entry


def git(at: Path, *args: str) -> str:
    done = subprocess.run(["git", "-C", str(at), *args], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def commit(repo: Path, files: dict[str, str], message: str = "change") -> str:
    for name, text in files.items():
        path = repo / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", message)
    return git(repo, "rev-parse", "HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with main and a tag v1; a.yaml and sub/b.yaml have equal bytes."""
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    commit(path, {"a.yaml": "same\n", "sub/b.yaml": "same\n", "sub/deep/c.yaml": "c\n"})
    git(path, "tag", "-a", "v1", "-m", "one")
    commit(path, {"d.yaml": "d\n"})
    return path


@pytest.fixture
def clone(repo: Path, tmp_path: Path) -> Path:
    """A clone that has release-1 only as origin/release-1."""
    git(repo, "branch", "release-1")
    git(tmp_path, "clone", "-q", str(repo), "clone")
    return tmp_path / "clone"


def test_commit_tree(repo: Path) -> None:
    tree = open_source("git:v1", repo=str(repo))
    assert tree.commit == git(repo, "rev-parse", "v1^{commit}")
    assert (tree.name, tree.notes) == ("git:v1", ())
    assert contents(tree) == {"a.yaml": "same\n", "sub/b.yaml": "same\n", "sub/deep/c.yaml": "c\n"}
    a, b, _ = tree.entries()
    assert a.oid == b.oid


def test_read_keeps_the_order_asked_for(repo: Path) -> None:
    tree = open_source("HEAD", repo=str(repo))
    backwards = list(tree.entries())[::-1]
    assert [entry for entry, _ in tree.read(backwards + backwards)] == backwards + backwards


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that are started to read blobs."""
    started: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def counting(command: list[str], **kwargs: object) -> subprocess.Popen[bytes]:
        process: subprocess.Popen[bytes] = real(command, **kwargs)  # type: ignore[call-overload]
        if "cat-file" in command:
            started.append(process)
        return process

    monkeypatch.setattr(subprocess, "Popen", counting)
    return started


def test_read_can_be_left_early_and_starts_one_process(repo: Path, readers: list[subprocess.Popen[bytes]]) -> None:
    tree = open_source("HEAD", repo=str(repo))
    reading = tree.read(tree.entries())
    next(reading)
    reading.close()  # type: ignore[attr-defined]
    assert len(readers) == 1
    assert readers[0].returncode is not None


def test_many_and_large_blobs_do_not_block(repo: Path) -> None:
    files = {f"many/{number}.yaml": f"{number}\n" * (20_000 if number % 50 == 0 else 1) for number in range(500)}
    commit(repo, files)
    found = contents(open_source("HEAD", repo=str(repo)))
    assert {path: found[path] for path in files} == files


def test_too_large_blob_is_a_problem_and_hides_nothing(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.sources.blobs.MAX_FILE_BYTES", 4)
    tree = open_source("HEAD", repo=str(repo))
    assert set(contents(tree)) == {"d.yaml", "sub/deep/c.yaml"}
    assert [problem.file for problem in tree.problems] == ["a.yaml", "sub/b.yaml"]  # type: ignore[attr-defined]


def test_submodules_are_skipped(repo: Path) -> None:
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{git(repo, 'rev-parse', 'HEAD')},module")
    git(repo, "commit", "-qm", "module")
    for name in ("git:HEAD", "index:"):
        tree = open_source(name, repo=str(repo))
        assert "module" not in contents(tree)
        assert [(one.file, one.reason) for one in tree.skipped] == [("module", "submodule")]  # type: ignore[attr-defined]


def test_links_inside_are_followed_and_out_are_not(repo: Path, tmp_path: Path) -> None:
    before = contents(open_source("HEAD", repo=str(repo)))
    (tmp_path / "secret.yaml").write_text("secret\n")
    links = {
        "file.yaml": "a.yaml",
        "chain.yaml": "file.yaml",
        "folder": "sub",
        "again": "sub/../sub",
        "sub/up": "..",
        "through.yaml": "folder/deep/c.yaml",
        "links/up.yaml": "../a.yaml",
        "out.yaml": "../secret.yaml",
        "absolute.yaml": str(tmp_path / "secret.yaml"),
        "nowhere.yaml": "not-there.yaml",
        "below-a-file.yaml": "a.yaml/x",
        "loop.yaml": "loop.yaml",
        "out": "../..",
    }
    (repo / "links").mkdir()
    for path, target in links.items():
        (repo / path).symlink_to(target)
    git(repo, "add", "-A")
    for name in ("index:", "worktree:", "git:HEAD"):
        if name == "git:HEAD":
            git(repo, "commit", "-qm", "links")
        tree = open_source(name, repo=str(repo))
        found = contents(tree)
        assert {path: found[path] for path in found if path not in before} == {
            "file.yaml": before["a.yaml"],
            "chain.yaml": before["a.yaml"],
            "links/up.yaml": before["a.yaml"],
            "again/b.yaml": before["sub/b.yaml"],
            "again/deep/c.yaml": before["sub/deep/c.yaml"],
            "through.yaml": before["sub/deep/c.yaml"],
        }
        assert {(one.file, one.message.partition(":")[0]) for one in tree.problems} == {  # type: ignore[attr-defined]
            ("out.yaml", "symbolic link out of the source"),
            ("absolute.yaml", "symbolic link out of the source"),
            ("nowhere.yaml", "symbolic link to nothing"),
            ("below-a-file.yaml", "symbolic link to nothing"),
            ("loop.yaml", "symbolic link to nothing"),
        }
        assert {(one.file, one.reason) for one in tree.skipped} == {  # type: ignore[attr-defined]
            ("folder", "symbolic link to a directory that is read anyway"),
            ("sub/up", "symbolic link to a directory that is read anyway"),
            ("out", "symbolic link out of the source"),
        }


def test_missing_blob_is_a_source_error(repo: Path) -> None:
    oid = git(repo, "rev-parse", "HEAD:d.yaml")
    (repo / ".git/objects" / oid[:2] / oid[2:]).unlink()
    with pytest.raises(SourceError, match=f"d.yaml: git object {oid} is missing in"):
        contents(open_source("HEAD", repo=str(repo)))


@pytest.mark.parametrize(("kind", "remote"), [("blob:none", " origin"), ("tree:0", "")], ids=["blobless", "treeless"])
def test_partial_clone_never_fetches(repo: Path, tmp_path: Path, kind: str, remote: str) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--no-checkout", f"--filter={kind}", repo.as_uri(), "partial")
    partial = tmp_path / "partial"
    with pytest.raises(MissingObjectsError, match="never fetches") as raised:
        contents(open_source("HEAD", repo=str(partial)))
    assert raised.value.advice == f"to get all objects: git -C {partial} fetch --refetch --no-filter{remote}"
    git(partial, "fetch", "--refetch", "--no-filter", "origin")
    assert contents(open_source("HEAD", repo=str(partial)))


@pytest.mark.parametrize("oid", [None, "HEAD", "--help", "0" * 39])
def test_foreign_entries_are_refused(repo: Path, oid: str | None) -> None:
    tree = open_source("HEAD", repo=str(repo))
    with pytest.raises(SourceError):
        list(tree.read([Entry("x", oid)]))


def test_bare_mirror_without_config(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--mirror", str(repo), "mirror.git")
    (tmp_path / "mirror.git/config").unlink()
    tree = open_source("v1", repo=str(tmp_path / "mirror.git"))
    assert len(contents(tree)) == 3
    with pytest.raises(SourceError, match="bare"):
        open_source("index:", repo=str(tmp_path / "mirror.git"))


def test_linked_worktree_and_subdirectory(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "v1")
    monkeypatch.chdir(tmp_path / "linked/sub")
    everything = {"a.yaml", "sub/b.yaml", "sub/deep/c.yaml"}
    for name in ("HEAD", "index:", "worktree:"):
        assert set(contents(open_source(name))) == everything


def test_nothing_is_written(repo: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        found = [path for path in (repo / ".git").rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in found}

    os.utime(repo / "a.yaml")  # a stale index is what git would like to refresh
    before = state()
    for name in ("HEAD", "index:", "worktree:"):
        contents(open_source(name, repo=str(repo)))
    assert state() == before


def test_index_and_worktree(repo: Path) -> None:
    (repo / "a.yaml").write_text("staged\n")
    git(repo, "add", "a.yaml")
    (repo / "a.yaml").write_text("on disk\n")
    (repo / "new.yaml").write_text("new\n")
    (repo / ".gitignore").write_text("ignored.yaml\n")
    (repo / "ignored.yaml").write_text("")
    (repo / "d.yaml").unlink()
    index, worktree = (
        contents(open_source("index:", repo=str(repo))),
        contents(open_source("worktree:", repo=str(repo))),
    )
    assert index["a.yaml"] == "staged\n" and "new.yaml" not in index and "d.yaml" in index
    assert worktree["a.yaml"] == "on disk\n" and worktree["new.yaml"] == "new\n"
    assert not {"d.yaml", "ignored.yaml"} & set(worktree)


def test_index_in_conflict_names_the_paths(repo: Path) -> None:
    git(repo, "checkout", "-qb", "other", "v1")
    commit(repo, {"d.yaml": "other\n"})
    subprocess.run(["git", "-C", str(repo), "merge", "-q", "main"], capture_output=True, check=False)
    tree = IndexTree(Repository(str(repo)))
    assert "d.yaml" not in contents(tree)
    assert [problem.file for problem in tree.problems] == ["d.yaml"]


def test_worktree_does_not_follow_links_out(repo: Path, tmp_path: Path) -> None:
    shutil.rmtree(repo / "sub")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/b.yaml").write_text("secret\n")
    (repo / "sub").symlink_to(tmp_path / "outside")
    assert "sub/b.yaml" not in contents(WorktreeTree(Repository(str(repo))))


def test_a_hook_sees_its_own_index(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    shutil.copy(repo / ".git/index", tmp_path / "index")
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    git(repo, "rm", "-q", "--cached", "d.yaml")
    assert "d.yaml" not in contents(open_source("index:"))
    assert "d.yaml" in contents(open_source("index:", repo=str(repo)))


def test_named_repository_beats_the_environment(repo: Path, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(clone / ".git"))
    assert resolve(Repository(str(repo)), "release-1").notes == ()


def test_fsmonitor_is_not_started(repo: Path, tmp_path: Path) -> None:
    script = tmp_path / "monitor"
    script.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    script.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(script))
    contents(open_source("worktree:", repo=str(repo)))
    contents(open_source("index:", repo=str(repo)))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_flags_of_the_index_hide_nothing(repo: Path, flag: str) -> None:
    (repo / "a.yaml").write_text("changed\n")
    git(repo, "update-index", flag, "a.yaml")
    same = {entry.path: entry.oid for entry in open_source("index:", repo=str(repo)).entries()}
    tree = open_source("worktree:", repo=str(repo))
    assert [e.path for e in tree.entries() if e.path in same and e.oid != same[e.path]] == ["a.yaml"]
    assert contents(tree)["a.yaml"] == "changed\n"
    assert read_index(Repository(str(repo))).changed() == ["a.yaml"]


def test_no_filter_of_the_repository_runs(repo: Path, tmp_path: Path) -> None:
    git(repo, "config", "filter.f.clean", f"touch {tmp_path}/ran; cat")
    git(repo, "config", "filter.f.smudge", f"touch {tmp_path}/ran; cat")
    (repo / ".git/info/attributes").write_text("* filter=f\n")
    os.utime(repo / "a.yaml", (1, 1))  # git would have to read it, through the filter
    assert read_index(Repository(str(repo))).changed() == []
    for name in ("worktree:", "index:", "git:HEAD"):
        contents(open_source(name, repo=str(repo)))
    assert not (tmp_path / "ran").exists()


def test_a_change_in_the_moment_of_staging_is_seen(repo: Path) -> None:
    """The entry has the size and time of the file; only the file's content differs."""
    before = (repo / "a.yaml").stat()
    index = (repo / ".git/index").stat()
    (repo / "a.yaml").write_bytes(bytes(reversed((repo / "a.yaml").read_bytes())))
    os.utime(repo / "a.yaml", ns=(before.st_mtime_ns, before.st_mtime_ns))
    os.utime(repo / ".git/index", ns=(index.st_mtime_ns, before.st_mtime_ns))
    assert read_index(Repository(str(repo))).changed() == ["a.yaml"]


@pytest.mark.parametrize("ref", ["HEAD", "main", "v1", "HEAD~1", "main@{0}", "refs/heads/main"])
def test_exact_refs(repo: Path, ref: str) -> None:
    assert resolve(Repository(str(repo)), ref).commit == git(repo, "rev-parse", f"{ref}^{{commit}}")


def test_abbreviated_commit(repo: Path) -> None:
    full = git(repo, "rev-parse", "HEAD")
    assert resolve(Repository(str(repo)), full[:9]).commit == full


def test_remote_branch_stands_in(clone: Path) -> None:
    found = resolve(Repository(str(clone)), "release-1")
    assert found.notes == ("release-1 is read as origin/release-1",)
    assert resolve(Repository(str(clone)), "release-1~1").notes == ("release-1~1 is read as origin/release-1~1",)
    assert resolve(Repository(str(clone)), "origin/release-1").notes == ()
    assert open_source("release-1", repo=str(clone)).notes == found.notes


def test_branch_of_two_remotes_is_an_error(repo: Path, clone: Path) -> None:
    """Unless both have the same commit, or one of them is the project that the other is a fork of."""
    git(clone, "remote", "add", "up/stream", str(repo))
    git(clone, "fetch", "-q", "up/stream")
    last, before = (git(clone, "rev-parse", f"origin/main{suffix}") for suffix in ("", "~1"))
    resolved = resolve(Repository(str(clone)), "release-1")
    assert resolved.notes == ("release-1 is read as origin/release-1",)
    git(clone, "update-ref", "refs/remotes/origin/release-1", last)
    git(clone, "update-ref", "refs/remotes/up/stream/release-1", before)
    with pytest.raises(RefNotFoundError, match=r"origin/release-1 or up/stream/release-1"):
        resolve(Repository(str(clone)), "release-1")
    git(clone, "update-ref", "refs/remotes/upstream/release-1", before)
    resolved = resolve(Repository(str(clone)), "release-1")
    assert resolved.commit == before
    assert resolved.notes == ("release-1 is read as upstream/release-1, not as origin/release-1",)


def test_branch_and_tag_of_one_name(repo: Path) -> None:
    git(repo, "tag", "main", "v1^{commit}")
    found = resolve(Repository(str(repo)), "main")
    assert found.commit == git(repo, "rev-parse", "v1^{commit}")
    assert "several refs" in found.notes[0]


def test_missing_ref_says_what_to_do(clone: Path) -> None:
    with pytest.raises(RefNotFoundError) as caught:
        resolve(Repository(str(clone)), "release-2")
    error = caught.value
    assert error.ref == "release-2"
    assert "origin/release-1" in error.near
    assert str(clone) in str(error)
    expected = f"git -C {clone} fetch origin release-2:refs/remotes/origin/release-2"
    assert expected in str(error)
    with pytest.raises(RefNotFoundError, match="fetch origin release-2:refs/remotes/origin/release-2"):
        resolve(Repository(str(clone)), "origin/release-2")


def test_the_fetch_line_works(repo: Path, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(repo, "branch", "release-2")
    monkeypatch.chdir(clone)
    with pytest.raises(RefNotFoundError) as caught:
        resolve(Repository(), "release-2")
    line = str(caught.value).partition("to get it: ")[2]
    assert line == "git fetch origin release-2:refs/remotes/origin/release-2"
    subprocess.run(line, shell=True, check=True, capture_output=True)
    assert resolve(Repository(), "release-2").notes == ("release-2 is read as origin/release-2",)


def test_nearest_name_first(clone: Path) -> None:
    with pytest.raises(RefNotFoundError) as caught:
        resolve(Repository(str(clone)), "relese-1")
    assert caught.value.near[0] == "origin/release-1"


def test_someone_elses_repository_is_gits_own_answer(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(SourceError, match=r"safe\.directory"):
        open_source("main", repo=str(repo))


def test_missing_ref_without_a_remote(repo: Path) -> None:
    with pytest.raises(RefNotFoundError, match="no remote"):
        resolve(Repository(str(repo)), "release-2")


def test_shallow_clone_hints(repo: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", repo.as_uri(), "shallow")
    shallow = Repository(str(tmp_path / "shallow"))
    assert set(contents(GitTree(shallow, "HEAD", resolve(shallow, "HEAD").commit))) >= {"a.yaml"}
    with pytest.raises(RefNotFoundError, match=r"fetch origin release-1:refs/remotes/origin/release-1$"):
        resolve(shallow, "release-1")
    with pytest.raises(RefNotFoundError, match=f"to get more history: git -C {shallow.path} fetch --unshallow origin$"):
        resolve(shallow, "HEAD~1")


@pytest.mark.parametrize(
    "ref", ["-h", "--help", "--upload-pack=touch ran", "--output=ran", "^HEAD", "", "a\nb", "a\0b", "a..b"]
)
def test_hostile_refs(repo: Path, monkeypatch: pytest.MonkeyPatch, ref: str) -> None:
    monkeypatch.chdir(repo)
    with pytest.raises(RefNotFoundError):
        resolve(Repository(), ref)
    assert not (repo / "ran").exists()


def test_quoting_of_hostile_names_in_advice(clone: Path) -> None:
    with pytest.raises(RefNotFoundError, match=r"'\$\(touch ran\):refs/remotes/origin/\$\(touch ran\)'"):
        resolve(Repository(str(clone)), "$(touch ran)")


def test_empty_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(RefNotFoundError):
        resolve(Repository(str(tmp_path)), "HEAD")
    assert list(open_source("index:", repo=str(tmp_path)).entries()) == []


def test_merge_base(repo: Path) -> None:
    base = git(repo, "rev-parse", "v1^{commit}")
    git(repo, "checkout", "-qb", "topic", "v1")
    commit(repo, {"t.yaml": ""})
    assert merge_base(Repository(str(repo)), "main", "topic") == base
    git(repo, "checkout", "-q", "--orphan", "island")
    commit(repo, {"i.yaml": ""})
    with pytest.raises(SourceError, match="unrelated"):
        merge_base(Repository(str(repo)), "main", "island")


def test_not_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for repo in (None, str(tmp_path), str(tmp_path / "nothing")):
        with pytest.raises(NotARepositoryError, match="--repo"):
            open_source("git:main", repo=repo)
    with pytest.raises(SourceError, match="no path") as caught:
        open_source("nothing")
    assert "not in a git repository" in str(caught.value)
    (tmp_path / "config").mkdir()
    assert open_source("config").commit is None


def test_bare_words(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repo)
    assert open_source("main").commit
    assert set(contents(open_source("sub"))) == {"b.yaml", "deep/c.yaml"}
    (repo / "v1").mkdir()
    both = open_source("v1")
    assert both.commit and "path:v1" in both.notes[0]
    assert open_source("./v1").commit is None
    with pytest.raises(RefNotFoundError, match="no such path either"):
        open_source("mian")


@pytest.mark.parametrize("text", ["", "git:", "path:", "index:x", "worktree:x", "recording:"])
def test_usage_errors(repo: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(repo)
    with pytest.raises(UsageError):
        open_source(text)


def test_import_is_lazy() -> None:
    modules = "import sys, crdcompat.sources, crdcompat.sources.git"
    check = f"{modules}; print(*{{'git', 'yaml', 'jsonschema'}} & set(sys.modules))"
    root = str(PROJECT)
    done = subprocess.run([sys.executable, "-c", check], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_one_process_answers_again_and_again(repo: Path, readers: list[subprocess.Popen[bytes]]) -> None:
    tree = open_source("HEAD", repo=str(repo))
    for _ in range(3):
        contents(tree)
    assert len(readers) == 1
    first, second = tree.read(tree.entries()), tree.read(tree.entries())
    assert list(zip(first, second, strict=True)) == [(each, each) for each in tree.read(tree.entries())]
    assert len(readers) == 2  # two that read by turns have one each


def test_a_process_that_owes_answers_is_asked_no_more(repo: Path, readers: list[subprocess.Popen[bytes]]) -> None:
    tree = open_source("HEAD", repo=str(repo))
    missing = Entry("gone.yaml", "0" * 39 + "1")
    with pytest.raises(SourceError, match="0001 is missing"):
        list(tree.read([missing, *tree.entries()]))
    assert contents(tree)["a.yaml"] == "same\n"
    assert [reader.returncode is None for reader in readers] == [False, True]


def test_a_process_that_died_while_it_waited_is_replaced(repo: Path, readers: list[subprocess.Popen[bytes]]) -> None:
    tree = open_source("HEAD", repo=str(repo))
    found = contents(tree)
    readers[0].kill()
    readers[0].wait()
    assert contents(tree) == found
    assert [reader.returncode is None for reader in readers] == [False, True]


def test_a_fork_leaves_its_parents_process_alone(repo: Path, readers: list[subprocess.Popen[bytes]]) -> None:
    tree = open_source("HEAD", repo=str(repo))
    found = contents(tree)
    child = os.fork()
    if not child:
        is_same = contents(tree) == found
        next(tree.read(tree.entries()))  # and the rest of what was asked for is never read
        os._exit(not is_same)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert contents(tree) == found
    assert len(readers) == 1


def test_a_repository_that_took_anothers_place_is_asked_anew(repo: Path) -> None:
    contents(open_source("HEAD", repo=str(repo)))
    repo.rename(repo.parent / "away")
    git(repo.parent, "clone", "-q", "away", "repo")
    shutil.rmtree(repo.parent / "away")
    commit(repo, {"a.yaml": "other\n"})
    assert contents(open_source("HEAD", repo=str(repo)))["a.yaml"] == "other\n"


def test_where_we_stand_may_be_gone(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert contents(open_source("git:HEAD", repo=str(repo)))["a.yaml"] == "same\n"
