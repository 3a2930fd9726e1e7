"""Find the commit that introduced a line, and the first release that contains this commit.

Nothing here writes to a repository or runs programs from its settings. A long history needs much time, so there is a
time limit: results that are missing by then remain unknown.
"""

from __future__ import annotations

import io
import os
import posixpath
import re
import time
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.errors import SourceError
from crdcompat.sources.repository import TimeOutError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from git import Commit

    from crdcompat.sources.gitpython import SafeRepo
    from crdcompat.sources.repository import Repository

MAX_SECONDS = 5.0
"""Time limit in seconds for all look-ups of one call."""

FilePlace = tuple[str, int]
"""The path of a file below the top of the repository, and a line in it, from 1."""

_ZONE = re.compile(rb"([+-])(\d\d)(\d\d)")
_NOT_THERE = re.compile(r"fatal: (?:no such path|no such ref: HEAD|bad revision 'HEAD'|cannot stat path)")
_NUMBER = re.compile(r"\d+")
#: How a record of ``git ls-tree`` on a symbolic link begins.
_LINK = "120000 "
#: Format of ``git rev-list``: id, parents, raw author date, message; a commit contains no NUL.
_FACTS = "%x00%H%x00%P%x00%ad%x00%B%x00"
_SETTINGS = {"blame.showRoot": "false", "i18n.logOutputEncoding": "UTF-8"}


class Introduced(Struct, frozen=True):
    """The commit that introduced a line: full id, author date (ISO 8601), and unescaped subject."""

    commit: str
    date: str
    subject: str


NOT_COMMITTED = Introduced("", "", "not committed yet")
"""The value for lines that only the working tree or the index has."""


class Blamed(Struct, frozen=True):
    """The commit of each requested line, None if unknown; ``notes`` give the reasons."""

    lines: Mapping[FilePlace, Introduced | None]
    notes: tuple[str, ...] = ()


def introduced(
    repo: Repository,
    commit: str | None,
    places: Iterable[FilePlace],
    contents: Mapping[str, bytes] | None = None,
    *,
    seconds: float = MAX_SECONDS,
) -> Blamed:
    """Find the commits that introduced lines of files, with line numbers of ``commit``.

    Without a commit, the numbers count the lines of the file's bytes in ``contents`` (of the index, for example), else
    of the working tree; a line that HEAD lacks is NOT_COMMITTED. Renames of files are followed, changes of indentation
    are ignored. ``seconds`` limits the time. Raises nothing: results that git cannot give are unknown, with a note.
    """
    end = time.monotonic() + seconds
    by_file: dict[str, set[int]] = defaultdict(set)
    for file, line in places:
        by_file[file].add(line)
    found: dict[FilePlace, Introduced | None] = {(file, line): None for file in by_file for line in by_file[file]}
    notes: dict[str, None] = {}
    try:
        run = _BlameRun(repo, commit, contents or {}, end)
        for file in sorted(by_file):
            try:
                for line, who in run.blame(file, by_file[file]):
                    found[file, line] = who
            except TimeOutError:
                raise
            except SourceError as error:
                notes[f"{file}: who introduced its lines is not known: {error}"] = None
    except TimeOutError:
        notes[f"who introduced a line is not known for all of them: git took longer than {seconds:g} seconds"] = None
    except SourceError as error:
        notes[f"who introduced a line is not known: {error}"] = None
    else:
        if run.is_cut:
            notes["who introduced a line is not known for all of them: the clone is shallow"] = None
    return Blamed(found, tuple(notes))


def is_ancestor(repo: Repository, commit: str, of: str) -> bool:
    """Whether a commit is ``of`` or an ancestor of it, both full ids; False if git cannot decide."""
    try:
        git = _through_gitpython(repo)
        first, last = (git.commit_of(each) for each in (commit, of))
        return git.is_ancestor(first, last)
    except SourceError:
        return False


def first_release(
    repo: Repository, commit: str, refs: Mapping[str, str], *, seconds: float = MAX_SECONDS
) -> str | None:
    """The first of these branches, 4.9 before 4.10, that contains a commit; None if none does or it is unknown.

    ``refs`` are full refs by branch name. A shallow clone can show that a branch contains a commit, but not that it
    does not, so there the result is the first branch or None. Raises nothing.
    """
    if not commit or not refs:
        return None
    try:
        args = ("for-each-ref", "--format=%(refname)", f"--contains={commit}", *refs.values())
        there = {os.fsdecode(ref) for ref in repo.run(*args, timeout=_left(time.monotonic() + seconds)).stdout.split()}
        first, *others = sorted(refs, key=_by_version)
        if refs[first] in there:
            return first
        return None if repo.is_shallow else next((name for name in others if refs[name] in there), None)
    except SourceError:  # the clone lacks the commit, or the time is over
        return None


def _by_version(branch: str) -> tuple[bool, list[int], str]:
    """Sort key: names with numbers by their numbers, then names without: ``main`` comes after all releases."""
    numbers = [int(number) for number in _NUMBER.findall(branch)]
    return not numbers, numbers, branch


class _BlameRun:
    """Blames one file after the other until the time is over."""

    def __init__(self, repo: Repository, commit: str | None, contents: Mapping[str, bytes], end: float) -> None:
        """Look up the facts that all files share. Raises SourceError."""
        self._repo, self._commit, self._contents, self._end = repo, commit, contents, end
        self.is_cut = False
        # git blame expects paths relative to the current directory; ours are relative to the top.
        args = ("rev-parse", "--is-shallow-repository", "--show-cdup")
        shallow, _, up = repo.run(*args, ok=(0, 128), timeout=_left(end)).stdout.partition(b"\n")
        self._shallow, self._up = shallow == b"true", up.decode("utf-8", "surrogateescape").strip("\n")
        self._git = _through_gitpython(repo, _SETTINGS | ({} if commit else _without_filters(repo, _left(end))))
        self._known: dict[str, tuple[Introduced, bool]] = {}

    def blame(self, file: str, lines: Collection[int]) -> Iterator[tuple[int, Introduced | None]]:
        """The lines of a file, each with the commit that introduced it. Raises SourceError."""
        content = None if self._commit else self._contents.get(file)
        args: dict[str, Any] = {"L": [f"{line},{line}" for line in sorted(lines)], "w": True, "M": True}
        if content is not None:
            args |= {"contents": "-", "istream": io.BytesIO(content)}
        args |= {"no_textconv": True, "kill_after_timeout": _left(self._end)}
        output = self._git.blame_incremental(self._commit, self._up + file, **args)
        try:
            entries = list(output)
        except SourceError as error:
            if not _NOT_THERE.search(str(error)):
                raise
            if self._commit:
                if (real := self._behind_link(file)) is None:
                    raise
                yield from self.blame(real, lines)
            else:
                yield from ((line, NOT_COMMITTED) for line in lines)
            return
        self._look_up({entry.commit.hexsha: entry.commit for entry in entries})
        for entry in entries:
            who, is_first = self._known.get(entry.commit.hexsha, (NOT_COMMITTED, False))
            unknown = is_first and self._shallow
            self.is_cut = self.is_cut or unknown
            yield from ((line, None if unknown else who) for line in entry.linenos)

    def _behind_link(self, file: str) -> str | None:
        """The path of a file of the commit without the first link in it: git blame goes through none.

        Links that lead nowhere or in a circle are no matter here: no file is read through them.
        """
        parts = file.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        listing = self._repo.run("ls-tree", "-z", "--full-tree", str(self._commit), *above, timeout=_left(self._end))
        for record in listing.stdout.split(b"\0"):
            facts, _, path = record.decode("utf-8", "surrogateescape").partition("\t")
            if facts.startswith(_LINK):
                target = self._repo.run("cat-file", "blob", facts.split()[-1], timeout=_left(self._end)).stdout
                real = posixpath.join(posixpath.dirname(path), os.fsdecode(target), file[len(path) + 1 :])
                return posixpath.normpath(real)
        return None

    def _look_up(self, commits: Mapping[str, Commit]) -> None:
        """Read the facts of commits that are not known yet, and whether they are the start of the history.

        GitPython's commit objects are unsuitable: they list parents that a shallow clone lacks, and decode a message
        with any Python codec that the commit names.
        """
        new = [name for name in commits if name not in self._known and name.strip("0")]
        if not new:
            return
        how: dict[str, Any] = {"no_walk": True, "date": "raw", "format": _FACTS, "stdout_as_string": False}
        output = self._git.git.rev_list(*new, **how, kill_after_timeout=_left(self._end)).split(b"\0")
        for name, parents, date, message in zip(*(output[at::5] for at in range(1, 5)), strict=True):
            commit = name.decode("ascii")
            short = commit[: self._git.ID_DIGITS]
            when = _date(commits[short].authored_date, date.rpartition(b" ")[2])
            rows = message.decode("utf-8", "replace").split("\n")
            subject = next((row for row in rows if row.strip(" \t\r")), f"({commit})")
            self._known[short] = Introduced(commit, when, subject), not parents


def _date(seconds: int, zone: bytes) -> str:
    """A time in ISO 8601; "" for a time outside of the calendar, which a commit can contain."""
    matched = _ZONE.fullmatch(zone)
    offset = timedelta(hours=int(matched[2]), minutes=int(matched[3])) if matched else timedelta()
    try:
        return datetime.fromtimestamp(
            seconds, timezone(-offset if matched and matched[1] == b"-" else offset)
        ).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _through_gitpython(repo: Repository, settings: Mapping[str, str] | None = None) -> SafeRepo:
    """The repository in GitPython, which is imported only if there is a line to look up. Raises SourceError."""
    try:
        from crdcompat.sources.gitpython import SafeRepo
    except ImportError as error:  # also if GIT_PYTHON_GIT_EXECUTABLE is invalid
        raise SourceError(f"GitPython cannot be used: {str(error).splitlines()[0]}") from None
    return SafeRepo(repo, settings)


def _without_filters(repo: Repository, timeout: float) -> dict[str, str]:
    """Settings that disable the repository's filter programs, which git runs on files of the working tree."""
    listed = repo.run("config", "-z", "--name-only", "--get-regexp", r"^filter\.", ok=(0, 1), timeout=timeout).stdout
    drivers = {name.rpartition(".")[0] for name in listed.decode("utf-8", "surrogateescape").split("\0") if name}
    off = {"clean": "", "process": "", "smudge": "", "required": "false"}
    return {f"{driver}.{name}": value for driver in drivers for name, value in off.items()}


def _left(end: float) -> float:
    """The remaining seconds. Raises TimeOutError if there are none."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeOutError("git took too long")
    return left
