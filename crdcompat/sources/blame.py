"""Who introduced a line, and the first release that has it.

Nothing here writes into a repository or runs the programs that its settings name. In a long history this
takes long, so there is a limit of time: what was not found until then stays unknown.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from functools import cached_property
from typing import TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.records import dataclass
from crdcompat.sources.refs import is_shallow
from crdcompat.sources.repository import TimeOutError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from crdcompat.sources.repository import Repository

SECONDS = 5.0
"""How long all look-ups of one call may take."""

FilePlace = tuple[str, int]
"""A file, below the top of the repository, and a line in it, from 1."""

_HEADER = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ (\d+)(?: \d+)?")
_ZONE = re.compile(rb"([+-])(\d\d)(\d\d)")
_NOT_THERE = re.compile(r"fatal: (?:no such path|no such ref: HEAD|bad revision 'HEAD'|cannot stat path)")
_NUMBER = re.compile(r"\d+")
_SETTINGS = {"blame.showRoot": "false", "i18n.logOutputEncoding": "UTF-8"}


@dataclass(frozen=True, slots=True)
class Introduced:
    """The commit that introduced a line: full id, the author's date (ISO 8601), and the subject as it is written."""

    commit: str
    date: str
    subject: str


NOT_COMMITTED = Introduced("", "", "not committed yet")
"""What the lines have that only the working tree or the index holds."""


@dataclass(frozen=True, slots=True)
class Blamed:
    """Who introduced each line that was asked for, None where this is not known; ``notes`` say why."""

    lines: Mapping[FilePlace, Introduced | None]
    notes: tuple[str, ...] = ()


def introduced(
    repo: Repository,
    commit: str | None,
    places: Iterable[FilePlace],
    contents: Mapping[str, bytes] | None = None,
    *,
    seconds: float = SECONDS,
) -> Blamed:
    """Find who introduced lines of files, as they are in a commit.

    With None for the commit, lines are those of the file's bytes in ``contents`` (of the index, say), else
    of the working tree; one that HEAD does not have is NOT_COMMITTED. Renames of whole files are followed,
    and changes of indentation are passed over. Raises nothing: what git cannot tell is unknown, with a note.
    """
    end = time.monotonic() + seconds
    by_file: dict[str, set[int]] = defaultdict(set)
    for file, line in places:
        by_file[file].add(line)
    found: dict[FilePlace, Introduced | None] = {(file, line): None for file in by_file for line in by_file[file]}
    notes: dict[str, None] = {}
    try:
        asked = _Asked(repo, commit, contents or {}, end)
        for file in sorted(by_file):
            try:
                for line, who in asked.blame(file, by_file[file]):
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
        if asked.cut:
            notes["who introduced a line is not known for all of them: the clone is shallow"] = None
    return Blamed(found, tuple(notes))


def first_release(repo: Repository, commit: str, refs: Mapping[str, str], *, seconds: float = SECONDS) -> str | None:
    """Give the first of these branches, 4.9 before 4.10, that contains a commit; None if none does or nobody knows.

    ``refs`` are branches by name, with the full ref of each. A shallow clone can show that a branch contains a commit,
    but not that it does not: there it is the first branch or nobody knows. Raises nothing.
    """
    if not commit or not refs:
        return None
    try:
        asked = ("for-each-ref", "--format=%(refname)", f"--contains={commit}", *refs.values())
        there = {os.fsdecode(ref) for ref in repo.run(*asked, timeout=_left(time.monotonic() + seconds)).stdout.split()}
        first, *others = sorted(refs, key=_by_version)
        if refs[first] in there:
            return first
        return None if is_shallow(repo) else next((name for name in others if refs[name] in there), None)
    except SourceError:  # the commit or the history is not here, or it took too long
        return None


def _by_version(branch: str) -> tuple[bool, list[int], str]:
    """Names with numbers by their numbers, then those without: ``main`` is what comes after all releases."""
    numbers = [int(number) for number in _NUMBER.findall(branch)]
    return not numbers, numbers, branch


class _Asked:
    """Asks git for one file after the other, until the time is over."""

    def __init__(self, repo: Repository, commit: str | None, contents: Mapping[str, bytes], end: float) -> None:
        """Look up what holds for all files. Raises SourceError."""
        self._repo, self._commit, self._contents, self._end = repo, commit, contents, end
        self.cut = False
        # Paths that git blame takes are below where we stand; ours are below the top.
        up = repo.run("rev-parse", "--show-cdup", ok=(0, 128), timeout=_left(end)).stdout
        self._up = up.decode("utf-8", "surrogateescape").strip("\n")
        self._settings = _SETTINGS | ({} if commit else _without_filters(repo, _left(end)))

    @cached_property
    def _shallow(self) -> bool:
        """Whether history is cut off: asked when a line leads to an end of it."""
        return is_shallow(self._repo)

    def blame(self, file: str, lines: Collection[int]) -> Iterator[tuple[int, Introduced | None]]:
        """Give lines of a file and who introduced them. Raises SourceError."""
        args = ["--porcelain", "--no-textconv", "-w", "-M", *(f"-L{line},{line}" for line in sorted(lines))]
        given = None if self._commit else self._contents.get(file)
        if self._commit:
            args.append(self._commit)
        if given is not None:
            args.append("--contents=-")
        try:
            done = self._repo.run(
                *("blame", *args, "--", self._up + file),
                timeout=_left(self._end),
                given=given,
                settings=self._settings,
            )
        except SourceError as error:
            if self._commit or not _NOT_THERE.search(str(error)):
                raise
            yield from ((line, NOT_COMMITTED) for line in lines)
            return
        for line, who, at_end_of_history in _read_porcelain(done.stdout):
            unknown = at_end_of_history and self._shallow
            self.cut = self.cut or unknown
            yield line, None if unknown else who


def _read_porcelain(output: bytes) -> Iterator[tuple[int, Introduced, bool]]:
    """Read (line, who introduced it, whether history ends there); the facts of a commit stand where it comes first."""
    facts: dict[bytes, dict[bytes, bytes]] = defaultdict(dict)
    commit, line = b"", 0
    for row in output.split(b"\n"):
        if row.startswith(b"\t"):
            known = facts[commit]
            yield line, _who(commit, known), b"boundary" in known
            commit = b""
        elif not commit:
            header = _HEADER.fullmatch(row)
            commit, line = (header[1], int(header[2])) if header else (b"", 0)
        else:
            name, _, value = row.partition(b" ")
            facts[commit][name] = value


def _who(commit: bytes, facts: Mapping[bytes, bytes]) -> Introduced:
    if not commit.strip(b"0"):
        return NOT_COMMITTED
    date = _date(facts.get(b"author-time", b""), facts.get(b"author-tz", b""))
    return Introduced(commit.decode("ascii"), date, facts.get(b"summary", b"").decode("utf-8", "replace"))


def _date(seconds: bytes, zone: bytes) -> str:
    """A time in ISO 8601, "" for one outside of the calendar: a commit can say anything."""
    matched = _ZONE.fullmatch(zone)
    offset = timedelta(hours=int(matched[2]), minutes=int(matched[3])) if matched else timedelta()
    try:
        return datetime.fromtimestamp(
            int(seconds), timezone(-offset if matched and matched[1] == b"-" else offset)
        ).isoformat()
    except (ValueError, OverflowError, OSError):
        return ""


def _without_filters(repo: Repository, timeout: float) -> dict[str, str]:
    """The settings under which git runs no filter of the repository on a file that is not committed."""
    listed = repo.run("config", "-z", "--name-only", "--get-regexp", r"^filter\.", ok=(0, 1), timeout=timeout).stdout
    drivers = {name.rpartition(".")[0] for name in listed.decode("utf-8", "surrogateescape").split("\0") if name}
    off = {"clean": "", "process": "", "smudge": "", "required": "false"}
    return {f"{driver}.{name}": value for driver in drivers for name, value in off.items()}


def _left(end: float) -> float:
    """The seconds that are left. Raises TimeOutError if there are none."""
    left = end - time.monotonic()
    if left <= 0:
        raise TimeOutError("git took too long")
    return left
