"""The cache of facts about blobs saves time; no result depends on it, and only this user can have written it."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from pathlib import Path

import pytest
from helpers import Json, commit, crd, git, obj, root, run, string, write

import crdcompat.prefilter.collect
from crdcompat.prefilter.collect import recall, remember


def kept(cache: Path) -> list[Path]:
    """The files in the cache."""
    return sorted(path for path in cache.rglob("*.*") if path.is_file())


def test_what_was_remembered_is_recalled(cache: Path) -> None:
    assert recall("who") == {}
    remember("who", {"a": [1], "b": "x"})
    remember("who", {"b": "y"})
    assert recall("who") == {"a": [1], "b": "y"}
    assert recall("what") == {}
    assert [file.parent.name for file in kept(cache)] == ["crdcompat"]
    assert (cache / "crdcompat").stat().st_mode & 0o077 == 0


def test_another_version_asks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    remember("who", {"a": 1})
    monkeypatch.setattr(crdcompat.prefilter.collect, "__version__", "99")
    assert recall("who") == {}


def test_the_oldest_is_forgotten(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crdcompat.prefilter.collect, "MAX_BLOBS", 3)
    remember("who", {"a": 1, "b": 2, "c": 3})
    remember("who", {"a": 1, "d": 4})
    assert recall("who") == {"c": 3, "a": 1, "d": 4}
    for number in range(20):
        remember(f"question {number}", {"a": number})
    assert len(kept(cache)) == 8
    assert recall("question 19") == {"a": 19}


@pytest.mark.parametrize(
    "junk", [b"", b"{", b"\xff\xfe", b"[]", b'{"question":"another","blobs":{"a":1}}', b'{"blobs":[1]}', b"x" * 100]
)
def test_junk_counts_for_nothing_and_is_replaced(cache: Path, junk: bytes) -> None:
    remember("who", {"a": 1})
    (file,) = kept(cache)
    file.write_bytes(junk)
    assert recall("who") == {}
    remember("who", {"b": 2})
    assert recall("who") == {"b": 2}


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for unset in ("", "relative"):
        monkeypatch.setenv("XDG_CACHE_HOME", unset)
        remember("who", {unset: 1})
    assert recall("who") == {"": 1, "relative": 1}
    assert [file.parent for file in kept(tmp_path)] == [tmp_path / ".cache/crdcompat"]


def test_no_home_to_keep_it_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME")
    for home in ("", ".", "home"):
        monkeypatch.setenv("HOME", home)
        remember("who", {"a": 1})
    monkeypatch.delenv("HOME")
    remember("who", {"a": 1})
    assert list(tmp_path.iterdir()) == []


def test_a_cache_inside_a_checkout_does_not_count(repo: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("who", {"a": 1})
    for variable, folder in (("XDG_CACHE_HOME", "deep/cache"), ("HOME", ".")):
        monkeypatch.setenv("XDG_CACHE_HOME", "")
        monkeypatch.setenv(variable, str(repo / folder))
        copy = repo / (folder if variable == "XDG_CACHE_HOME" else ".cache") / "crdcompat"
        shutil.copytree(cache / "crdcompat", copy)
        assert recall("who") == {}
        before = kept(repo)
        remember("who", {"b": 1})
        assert kept(repo) == before


@pytest.mark.parametrize("linked", [".", "home", "home/.cache", "home/.cache/crdcompat"])
def test_a_link_into_a_checkout_does_not_count(
    repo: Path, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, linked: str
) -> None:
    """The home of this user, a folder of it, or its cache is a link to a folder that the repository brings along."""
    remember("who", {"a": 1})
    shutil.copytree(cache / "crdcompat", repo / "home/.cache/crdcompat")
    link = tmp_path / "user" / linked
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(repo / linked)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path / "user/home"))
    assert (tmp_path / "user/home/.cache/crdcompat").is_dir()
    assert recall("who") == {}
    before = kept(repo)
    remember("who", {"b": 1})
    assert kept(repo) == before


@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("at_folder", [True, False])
def test_a_cache_that_others_can_write_does_not_count(cache: Path, mode: int, at_folder: bool) -> None:
    remember("who", {"a": 1})
    (file,) = kept(cache)
    place = file.parent if at_folder else file
    place.chmod(place.stat().st_mode | mode)
    assert recall("who") == {}


def test_a_cache_of_another_user_does_not_count(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember("who", {"a": 1})
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert recall("who") == {}


def test_what_is_no_file_is_not_read(cache: Path) -> None:
    remember("who", {"a": 1})
    (file,) = kept(cache)
    file.unlink()
    os.mkfifo(file)
    assert recall("who") == {}
    remember("who", {"b": 2})
    assert recall("who") == {"b": 2}


def test_what_a_cut_off_run_left_goes_in_time(cache: Path) -> None:
    remember("who", {"a": 1})
    for number in range(20):
        left = cache / "crdcompat" / f".{number}-{number}"
        left.write_text("half")
        os.utime(left, (number, number))
    remember("who", {"b": 1})
    assert len(list((cache / "crdcompat").iterdir())) == 8
    assert recall("who") == {"a": 1, "b": 1}


def test_nowhere_to_keep_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(taken))
    remember("who", {"a": 1})
    assert recall("who") == {}
    assert taken.read_text() == "a file"


def _write(number: int) -> None:
    for _ in range(20):
        remember("who", {str(number): "x" * 5000})
        assert all(len(each) == 5000 for each in recall("who").values())


def test_many_write_at_once(cache: Path) -> None:
    """Nobody reads half a file, and nothing is left lying about."""
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        pool.map(_write, range(4))
    assert 1 <= len(recall("who")) <= 4
    assert len(kept(cache)) == 1


# -- check ------------------------------------------------------------------------------------


def widget(*phases: str, kind: str = "Widget") -> object:
    return crd(root(spec=obj(a=string()), status=obj(p=string(*phases))), kind=kind)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = tmp_path / "repo"
    made.mkdir()
    git(made, "init", "--quiet", "--initial-branch=main")
    commit(made, {"w.yaml": widget("A"), **{f"o/{kind}.yaml": widget("A", kind=kind) for kind in ("Other", "More")}})
    write(made / "w.yaml", widget("A", "B"))
    git(made, "add", "--all")
    return made


def test_check_says_the_same_with_it_and_without(repo: Path, cache: Path) -> None:
    runs = [run("check", *args, cwd=repo) for args in (("--no-cache",), (), (), ("--no-cache",))]
    assert {(ran.code, ran.out) for ran in runs} == {(1, runs[0].out)}
    assert len(kept(cache)) == 1


def test_a_committed_cache_does_not_hide_a_variant(repo: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pull request commits a cache that says of every file: there is no CRD in it. Elsewhere it would be believed."""
    variant = crd(root(spec=obj()), annotations={"release.openshift.io/feature-set": "CustomNoUpgrade"})
    commit(repo, {"w.yaml": widget("A"), "v.yaml": variant})
    write(repo / "w.yaml", widget("A", "B"))
    git(repo, "add", "--all")

    def report(*args: str) -> Json:
        return run("check", "--base", "HEAD", "--format", "json", *args, cwd=repo).report

    honest = report()
    (file,) = kept(cache)
    forged = json.loads(file.read_text())
    forged["blobs"] = {oid: [[], [], False] for oid in forged["blobs"]}
    write(file, json.dumps(forged))
    file.chmod(0o600)
    assert report() != honest
    shutil.copytree(cache / "crdcompat", repo / ".cache/crdcompat")
    git(repo, "add", "--all")
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setenv("HOME", str(repo))
    assert report() == report("--no-cache")


def test_without_it_nothing_is_kept(repo: Path, cache: Path) -> None:
    run("check", "--no-cache", cwd=repo)
    assert not kept(cache)


@pytest.mark.parametrize(
    "row", ["x", None, 3, [], [[], []], [[], [], "no"], [[], [1], False], [[{}], [], False], {"plurals": []}]
)
def test_what_is_no_answer_is_asked_again(repo: Path, cache: Path, row: object) -> None:
    """A variant that a damaged file does not mention is found all the same."""
    commit(
        repo,
        {
            "w.yaml": widget("A"),
            "v.yaml": crd(root(spec=obj()), annotations={"release.openshift.io/feature-set": "CustomNoUpgrade"}),
        },
    )
    write(repo / "w.yaml", widget("A", "B"))
    git(repo, "add", "--all")
    first = run("check", "--base", "HEAD", "--format", "json", cwd=repo).report
    (file,) = kept(cache)
    damaged = json.loads(file.read_text())
    damaged["blobs"] = dict.fromkeys(damaged["blobs"], row)
    file.write_text(json.dumps(damaged))
    again = run("check", "--base", "HEAD", "--format", "json", cwd=repo).report
    assert again == first
    assert "CustomNoUpgrade/default" in first["sections"][0]["summary"]["contexts"]


def test_annotations_that_read_alike_are_different_questions(repo: Path, cache: Path) -> None:
    for number, variants in enumerate(("['a/x b/y']", "['a/x', 'b/y']"), 1):
        (repo / ".crdcompat.yaml").write_text(f"variant_annotations: {variants}\n")
        run("check", cwd=repo)
        assert len(kept(cache)) == number


def test_a_file_too_large_to_read_is_reported_alike(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New since an earlier run, and so looked at by itself; what is too large is git's to search."""
    commit(repo, {"w.yaml": widget("A"), **{f"o/{name}.yaml": widget("A", kind=f"O{name}") for name in "abcdefghij"}})
    write(repo / "w.yaml", widget("A", "B"))
    git(repo, "add", "--all")
    run("check", "--base", "HEAD", cwd=repo)
    commit(repo, {"w.yaml": widget("A"), "big.yaml": "a: " + "b" * 5000})
    monkeypatch.setattr("crdcompat.sources.blobs.MAX_FILE_BYTES", 4000)
    write(repo / "w.yaml", widget("A", "B"))
    git(repo, "add", "--all")
    runs = [run("check", "--base", "HEAD", *args, cwd=repo) for args in (("--no-cache",), (), ())]
    assert {(ran.code, ran.out) for ran in runs} == {(1, runs[0].out)}
