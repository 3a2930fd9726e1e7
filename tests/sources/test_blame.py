"""Who introduced a line, and which release has it first."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from helpers import commit, git

from crdcompat.sources.blame import NOT_COMMITTED, Blamed, Introduced, first_release, introduced, is_ancestor
from crdcompat.sources.refs import release_refs
from crdcompat.sources.repository import Repository

FILE = "config/widget.yaml"
ENUM = "enum:\n- Auto\n- Manual\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose first commit has the values Auto and Manual."""
    path = tmp_path / "repo"
    path.mkdir()
    git(path, "init", "-q", "-b", "main")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2024-02-03T04:05:06+0530")
    commit(path, {FILE: ENUM}, "first")
    monkeypatch.setenv("GIT_AUTHOR_DATE", "2025-02-03T04:05:06-0100")
    return path


def blame(at: Path, rev: str | None, *lines: int, file: str = FILE, **more: Any) -> Blamed:
    return introduced(Repository(str(at)), rev, [(file, line) for line in lines], **more)


def who(at: Path, rev: str | None, *lines: int, file: str = FILE, **more: Any) -> list[str | None]:
    """The commits of these lines; there must be no note."""
    found = blame(at, rev, *lines, file=file, **more)
    assert found.notes == ()
    return [None if each is None else each.commit for each in (found.lines[file, line] for line in lines)]


def files_of(at: Path) -> dict[str, tuple[int, bytes]]:
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in at.rglob("*") if path.is_file()}


def _object(at: Path, body: bytes) -> str:
    """Write a commit as it is; its id."""
    return subprocess.run(
        ["git", "-C", str(at), "hash-object", "-w", "-t", "commit", "--literally", "--stdin"],
        input=body, capture_output=True, check=True,
    ).stdout.decode().strip()  # fmt: skip


def test_a_value_added_later(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    second = commit(repo, {FILE: "enum:\n- Auto\n- Off\n- Manual\n"}, "widget: Off\n\nBecause.")
    found = blame(repo, second, 2, 3, 4)
    assert found == Blamed(
        {
            (FILE, 2): Introduced(first, "2024-02-03T04:05:06+05:30", "first"),
            (FILE, 3): Introduced(second, "2025-02-03T04:05:06-01:00", "widget: Off"),
            (FILE, 4): Introduced(first, "2024-02-03T04:05:06+05:30", "first"),
        }
    )
    assert who(repo, first, 3) == [first]


def test_a_line_that_was_moved_indented_or_in_a_file_of_another_name(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    long = "- AVeryLongValueThatIsNotMistakenForAnother\n"
    second = commit(repo, {FILE: ENUM + long})
    commit(repo, {FILE: long + ENUM.replace("- ", "  - ").replace("\n", "\r\n")})
    git(repo, "mv", FILE, "moved.yaml")
    last = commit(repo, {})
    assert who(repo, last, 1, 3, file="moved.yaml") == [second, first]


def test_a_file_in_a_linked_folder(repo: Path) -> None:
    """Tigera's operator: config/crd/bases is a link to the folder that a Go program embeds."""
    (repo / "a").mkdir()
    (repo / "a/crds").symlink_to("../b/crds")
    (repo / "b").symlink_to("config")
    (repo / "config/crds").symlink_to(".")
    linked = commit(repo, {FILE: "enum:\n- Auto\n- Off\n- Manual\n"}, "links")
    first = git(repo, "rev-parse", "HEAD~1")
    assert who(repo, linked, 2, 3, file="b/widget.yaml") == [first, linked]
    assert who(repo, linked, 2, 3, file="a/crds/widget.yaml") == [first, linked]


def test_what_is_not_committed(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    (repo / FILE).write_text("enum:\n- Auto\n- Off\n- Manual\n")
    (repo / "new.yaml").write_text("x\n")
    (repo / "staged.yaml").write_text("x\n")
    git(repo, "add", "staged.yaml")
    assert who(repo, None, 2, 3, 4) == [first, "", first]
    assert blame(repo, None, 3).lines[FILE, 3] == NOT_COMMITTED
    assert who(repo, None, 1, file="new.yaml") == who(repo, None, 1, file="staged.yaml") == [""]
    # the index: its bytes count, not those of the working tree
    assert who(repo, None, 2, 3, contents={FILE: b"enum:\n- Manual\n- Added\n"}) == [first, ""]


def test_before_the_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.yaml").write_text("a\n")
    git(tmp_path, "add", "-A")
    assert who(tmp_path, None, 1, file="a.yaml") == [""]


@pytest.mark.parametrize(
    "name", ["-x.yaml", "a b.yaml", "sub/größe 日本.yaml", ":(top)a", "--", "*.yaml", 'q"\\t.yaml']
)
def test_odd_names(repo: Path, name: str) -> None:
    made = commit(repo, {name: "a\n"})
    assert who(repo, made, 1, file=name) == who(repo, None, 1, file=name) == [made]


def test_from_below_the_top_and_in_a_bare_repository(repo: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    assert who(repo / "config", first, 2) == who(repo / "config", None, 2) == [first]
    git(tmp_path, "clone", "-q", "--bare", str(repo), "bare")
    assert who(tmp_path / "bare", first, 2) == [first]


def test_a_subject_is_what_it_is(repo: Path) -> None:
    subject = "\x1b[31mred\x07 \ttab é"
    made = commit(repo, {"b.yaml": "summary x\nauthor y\n\ttab\n"}, subject)
    found = blame(repo, made, 1, 2, 3, file="b.yaml")
    assert {each.subject for each in found.lines.values() if each} == {subject}


def test_dates_outside_of_the_calendar(repo: Path) -> None:
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    body = f"tree {tree}\nauthor A <a> 99999999999999999 +9959\ncommitter A <a> 1 +0000\n\nx\n"
    made = _object(repo, body.encode())
    assert blame(repo, made, 1).lines[FILE, 1] == Introduced(made, "", "x")


def test_a_shallow_clone_does_not_know(repo: Path, tmp_path: Path) -> None:
    commit(repo, {"other.yaml": "x\n"})
    last = commit(repo, {FILE: ENUM + "- Off\n"})
    git(tmp_path, "clone", "-q", "--depth", "2", f"file://{repo}", "shallow")
    git(tmp_path / "shallow", "config", "blame.showRoot", "true")
    found = blame(tmp_path / "shallow", last, 2, 4)
    assert found.lines[FILE, 2] is None
    assert found.lines[FILE, 4] is not None
    assert found.notes == ("who introduced a line is not known for all of them: the clone is shallow",)


def test_what_git_does_not_know_is_a_note(repo: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    places = [(FILE, 1), ("gone.yaml", 1), ("config/none.yaml", 7)]
    found = introduced(Repository(str(repo)), first, places)
    assert [place for place in places if found.lines[place]] == [(FILE, 1)]
    assert [note.partition(":")[0] for note in found.notes] == ["config/none.yaml", "gone.yaml"]
    beyond = blame(repo, first, 1, 99)
    assert set(beyond.lines.values()) == {None}
    assert "has only 3 lines" in beyond.notes[0]
    outside = blame(tmp_path, None, 1)
    assert outside.lines == {(FILE, 1): None}
    assert "is not in a git repository" in outside.notes[0]


def test_no_program_of_the_repository_runs_and_nothing_is_written(repo: Path) -> None:
    seen = repo.parent / "seen"
    for name in ("diff.bad.textconv", "diff.bad.command", "diff.external", "filter.b=d.clean", "filter.b=d.process",
                 "core.fsmonitor", "core.pager", "gpg.program"):  # fmt: skip
        git(repo, "config", name, f"touch {seen}; cat")
    git(repo, "config", "filter.b=d.required", "true")
    git(repo, "config", "log.showSignature", "true")
    for command in ("blame", "rev-list", "merge-base"):
        git(repo, "config", f"alias.{command}", f"!touch {seen}")
    (repo / ".git/info/attributes").write_text("*.yaml diff=bad filter=b=d\n")
    (repo / FILE).write_text(ENUM + "- Off\n")
    before = files_of(repo)
    first = git(repo, "rev-parse", "HEAD")
    assert who(repo, None, 2, 4) == [first, ""]
    assert who(repo, None, 2, contents={FILE: ENUM.encode()}) == who(repo, first, 2) == [first]
    assert is_ancestor(Repository(str(repo)), first, first)
    assert not seen.exists()
    assert files_of(repo) == before


@pytest.mark.parametrize("form", ["sha1", "sha256"])
def test_ids_of_both_lengths_and_a_bare_directory_without_a_configuration(tmp_path: Path, form: str) -> None:
    made = tmp_path / "made"
    made.mkdir()
    git(made, "init", "-q", f"--object-format={form}")
    first, second = commit(made, {FILE: ENUM}, "first"), commit(made, {FILE: ENUM + "- Off\n"})
    assert who(made, second, 1, 4) == [first, second]
    assert who(made, None, 1) == [first]
    here = Repository(str(made))
    assert [is_ancestor(here, a, b) for a, b in ((first, second), (second, first), (first, "0" * len(first)))] == [
        True,
        False,
        False,
    ]
    if form == "sha1":
        (made / ".git/config").unlink()
        assert who(made / ".git", second, 4) == [second]


def test_the_repository_of_a_hook_is_not_another_one(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = git(repo, "rev-parse", "HEAD")
    git(tmp_path, "init", "-q", "other")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other/.git"))
    monkeypatch.setenv("GIT_COMMON_DIR", str(tmp_path / "none"))
    assert who(repo, first, 1) == [first]
    assert is_ancestor(Repository(str(repo)), first, first)


@pytest.mark.parametrize(
    ("message", "subject"),
    [
        (b"one\ntwo\n\nthree", "one"),
        (b"\n \t\n  indented \nrest", "  indented "),
        (b"", None),
        (b"caf\xe9", "caf\ufffd"),
    ],
    ids=["two lines", "blank ones first", "none", "no UTF-8"],
)
def test_the_subject_is_the_first_line(repo: Path, message: bytes, subject: str | None) -> None:
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    body = f"tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\n".encode() + message
    made = _object(repo, body)
    assert blame(repo, made, 1).lines[FILE, 1] == Introduced(made, "1970-01-01T00:00:01+00:00", subject or f"({made})")


@pytest.mark.parametrize(("encoding", "subject"), [("ISO-8859-1", "café"), ("punycode", "caf\ufffd")])
def test_a_message_is_decoded_by_git_alone(repo: Path, encoding: str, subject: str) -> None:
    tree = git(repo, "rev-parse", "HEAD^{tree}")
    head = f"tree {tree}\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\nencoding {encoding}\n\n"
    made = _object(repo, head.encode() + b"caf\xe9")
    assert blame(repo, made, 1).lines[FILE, 1] == Introduced(made, "1970-01-01T00:00:01+00:00", subject)


def test_settings_of_the_environment_stay(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.kept")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "yes")
    shown = Repository(str(repo)).run("config", "--get-regexp", "^user", settings={"user.added": "a=b"}).stdout
    assert shown == b"user.kept yes\nuser.added a=b\n"


def test_time_is_limited(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = git(repo, "rev-parse", "HEAD")
    assert blame(repo, first, 1, seconds=0).notes == (
        "who introduced a line is not known for all of them: git took longer than 0 seconds",
    )
    command, git_run = Repository.command, Repository.run

    def slow(self: Repository, *args: str) -> list[str]:
        return ["sleep", "60"] if args[0] == "blame" and args[-1] == "z.yaml" else command(self, *args)

    def hurried(self: Repository, *args: str, timeout: float | None = None, **more: Any) -> Any:
        # Only the process that sleeps is short of time: the others end well, however busy the machine.
        return git_run(self, *args, timeout=0.05 if args[-1] == "z.yaml" else timeout, **more)

    monkeypatch.setattr(Repository, "command", slow)
    monkeypatch.setattr(Repository, "run", hurried)
    found = introduced(Repository(str(repo)), first, [("z.yaml", 1), (FILE, 1)], seconds=600)
    assert found.lines[FILE, 1] is not None
    assert found.lines["z.yaml", 1] is None
    assert found.notes == ("who introduced a line is not known for all of them: git took longer than 600 seconds",)
    assert first_release(Repository(str(repo)), first, {"main": "refs/heads/main"}, seconds=0) is None


def test_the_first_release(repo: Path, tmp_path: Path) -> None:
    here = Repository(str(repo))
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "branch", "release-4.8")
    second = commit(repo, {FILE: ENUM + "- Off\n"})
    for branch in ("release-4.9", "release-4.10"):
        git(repo, "branch", branch)
    third = commit(repo, {FILE: ENUM})
    names = {f"release-4.{minor}": f"refs/heads/release-4.{minor}" for minor in (10, 7, 9, 8)}
    with_main = {"main": "refs/heads/main"} | names
    assert [first_release(here, each, with_main) for each in (first, second, third)] == [
        "release-4.8",
        "release-4.9",
        "main",
    ]
    assert first_release(here, third, names) is None
    assert first_release(here, third, {}) is None
    assert first_release(here, NOT_COMMITTED.commit, names) is None
    assert first_release(here, "0" * 40, names) is None
    git(tmp_path, "clone", "-q", str(repo), "clone")
    clone = Repository(str(tmp_path / "clone"))
    assert release_refs(clone) == {f"release-4.{n}": f"refs/remotes/origin/release-4.{n}" for n in (8, 9, 10)}
    assert first_release(clone, second, release_refs(clone)) == "release-4.9"
    for remote in ("fork", "upstream"):
        git(tmp_path / "clone", "update-ref", f"refs/remotes/{remote}/release-4.9", second)
    assert release_refs(clone)["release-4.9"] == "refs/remotes/upstream/release-4.9"
    git(tmp_path / "clone", "branch", "release-4.9", "HEAD")
    git(tmp_path / "clone", "remote", "add", "fork", str(repo))
    git(tmp_path / "clone", "fetch", "-q", "fork")
    assert release_refs(clone) == {"release-4.9": "refs/heads/release-4.9"}  # of the others nobody knows which
    assert release_refs(Repository(str(tmp_path))) == {}
    git(tmp_path, "clone", "-q", "--depth", "1", "--no-single-branch", f"file://{repo}", "shallow")
    cut = Repository(str(tmp_path / "shallow"))
    refs = release_refs(cut)
    assert first_release(cut, second, refs) is None
    del refs["release-4.8"]
    assert first_release(cut, second, refs) == "release-4.9"
