"""Git commits, the index and the working tree as trees, by git's plumbing commands alone.

Nothing here writes into a repository, checks anything out or fetches, not even the blobs that a partial
clone lacks.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from crdcompat.errors import SourceError
from crdcompat.problems import Problem, Skipped
from crdcompat.sources.files import MAX_FILE_BYTES, display_path, read_file
from crdcompat.sources.tree import Entry, Listed

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

_SYMLINK, _SUBMODULE = b"120000", b"160000"
_OID = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NO_REPOSITORY = re.compile(r"^fatal: (not a git repository|cannot change to)", re.MULTILINE)
_REFUSED = re.compile(r"^fatal: detected dubious ownership", re.MULTILINE)
# Requests in flight: so few bytes that writing them never waits, whatever git is still sending.
_WINDOW = 64

# What a hook's environment says about *its* repository must not lead to another one named by --repo.
_REPOSITORY_VARIABLES = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)


class NotARepositoryError(SourceError):
    """There is no git repository at this place."""


class TimeOutError(SourceError):
    """Git did not answer in the time that it was given."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A place to run git in: a directory in or of a repository; None means the current directory.

    For the current directory the environment's GIT_DIR and GIT_INDEX_FILE hold, as a commit hook needs;
    for a named one they are ignored.
    """

    path: str | None = None

    @property
    def where(self) -> str:
        """The directory, for messages."""
        return self.path if self.path is not None else str(Path.cwd())

    def run(
        self,
        *args: str,
        ok: tuple[int, ...] = (0,),
        given: bytes | None = None,
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command to its end, with ``given`` as its input and these settings above all others.

        Raises SourceError unless its exit code is one of ``ok``, TimeOutError after ``timeout`` seconds.
        """
        environment = _with_settings(self.environment(), settings or {})
        try:
            done = subprocess.run(
                self.command(*args), env=environment, input=given or b"", capture_output=True, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            raise TimeOutError(f"git {args[0]} took longer than {timeout:.1f} seconds in {self.where}") from None
        except FileNotFoundError:
            raise SourceError("git is not installed, or not on the PATH") from None
        except (OSError, ValueError) as error:
            raise SourceError(f"git could not be run in {self.where}: {error}") from None
        message = display_path(done.stderr).strip()
        if done.returncode == 128 and _NO_REPOSITORY.search(message):
            raise NotARepositoryError(
                f"{self.where} is not in a git repository: name one with --repo, or compare directories"
            )
        if done.returncode not in ok or _REFUSED.search(message):
            raise SourceError(f"git {args[0]} failed in {self.where}: {message or done.returncode}")
        return done

    def command(self, *args: str) -> list[str]:
        """Give the full command line; a repository's fsmonitor is a program that git would start."""
        at = [] if self.path is None else ["-C", self.path]
        return ["git", *at, "-c", "core.fsmonitor=false", *args]

    def environment(self) -> dict[str, str]:
        """Give the environment in which git neither writes, nor asks, nor reaches for the network."""
        dropped = () if self.path is None else _REPOSITORY_VARIABLES
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        for manner in ("LITERAL", "GLOB", "NOGLOB", "ICASE"):
            kept.pop(f"GIT_{manner}_PATHSPECS", None)
        return {
            **kept,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",  # what older gits, which do not know the line above, obey
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }


def _with_settings(environment: dict[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Add settings to git's environment, behind those it has: unlike ``-c``, it takes names with an equals sign."""
    count = environment.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    variables = {"GIT_CONFIG_COUNT": str(first + len(settings))} if settings else {}
    for index, (name, value) in enumerate(settings.items(), first):
        variables |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
    return environment | variables


@dataclass(slots=True)
class GitTree(Listed):
    """The files of one commit; ``commit`` is its full id. Symbolic links and submodules are ``skipped``."""

    repo: Repository
    name: str
    commit: str | None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _entries: list[Entry] | None = None

    def entries(self) -> list[Entry]:
        """List the commit's files with their blob ids, wherever in the repository we stand."""
        if self._entries is None:
            listing = self.repo.run("ls-tree", "-r", "-z", "--full-tree", str(self.commit)).stdout
            self._entries = _blob_entries(_records(listing, oid_at=2), self.skipped)
        return self._entries

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read blobs, equal ones once; one that is too large goes to ``problems``. Raises SourceError."""
        return read_blobs(self.repo, entries, self.problems)


@dataclass(slots=True)
class IndexTree(Listed):
    """The files of the index, as the next commit would have them; paths in conflict are ``problems``."""

    repo: Repository
    name: str = "index:"
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _entries: list[Entry] | None = None

    def entries(self) -> list[Entry]:
        """List the index's files with their blob ids. Raises SourceError in a bare repository."""
        if self._entries is None:
            _top_level(self.repo)
            listing = self.repo.run("ls-files", "-s", "-z", "--full-name", ":/").stdout
            records = list(_records(listing, oid_at=1))
            conflicts = {path for meta, path in records if meta[2] != b"0"}
            self.problems.extend(
                Problem(display_path(path), None, "in conflict in the index: finish the merge first")
                for path in sorted(conflicts)
            )
            clean = ((meta, path) for meta, path in records if path not in conflicts)
            self._entries = _blob_entries(clean, self.skipped)
        return self._entries

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read blobs, equal ones once; one that is too large goes to ``problems``. Raises SourceError."""
        return read_blobs(self.repo, entries, self.problems)


@dataclass(slots=True)
class WorktreeTree(Listed):
    """The files as they are on disk: tracked ones that still exist, and new ones that are not ignored."""

    repo: Repository
    name: str = "worktree:"
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    _entries: list[Entry] | None = None
    _on_disk: dict[str, str] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """List the working tree's files, from its top. Raises SourceError in a bare repository."""
        if self._entries is None:
            top = _top_level(self.repo)
            listing = self.repo.run("ls-files", "-z", "-co", "--exclude-standard", "--full-name", ":/").stdout
            self._on_disk = dict(
                sorted(_regular_files(top, {os.fsdecode(path) for path in listing.split(b"\0")}, self.skipped))
            )
            known = self._unmodified()
            self._entries = [Entry(path, known.get(path)) for path in self._on_disk]
        return self._entries

    def _unmodified(self) -> dict[str, str]:
        """The blob ids of the files that are on disk as they are in the index; a doubtful one is left out."""
        staged = self.repo.run("ls-files", "-s", "-z", "--full-name", ":/").stdout
        modified = {os.fsencode(path) for path in unstaged_files(self.repo)}
        records = (
            (meta, path) for meta, path in _records(staged, oid_at=1) if meta[2] == b"0" and path not in modified
        )
        return {display_path(path): meta[1].decode("ascii") for meta, path in records}

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read files from disk; one that cannot be read goes to ``problems`` instead."""
        self.entries()
        for entry in entries:
            data = read_file(self._on_disk[entry.path], entry.path, self.problems)
            if data is not None:
                yield entry, data


def unstaged_files(repo: Repository) -> list[str]:
    """The tracked files that differ from the index, or may; paths from the top of the repository."""
    listing = repo.run("diff-files", "-z", "--name-only", "--no-ext-diff", "--ignore-submodules").stdout
    return [os.fsdecode(path) for path in listing.split(b"\0") if path]


def read_blobs(repo: Repository, entries: Iterable[Entry], problems: list[Problem]) -> Iterator[tuple[Entry, bytes]]:
    """Read blobs in the order of ``entries``, each id once, through one git process.

    A blob that several entries share is kept until the last of them. Raises SourceError for a blob that
    is not in the repository.
    """
    wanted = list(entries)
    uses = Counter(_oid(entry) for entry in wanted)
    kept: dict[str, bytes | None] = {}
    blobs = _blobs(repo, list(uses))  # a Counter keeps first-come order: the order in which we meet them
    try:
        for entry in wanted:
            oid = _oid(entry)
            data = kept[oid] if oid in kept else next(blobs)
            uses[oid] -= 1
            if uses[oid]:
                kept[oid] = data
            else:
                kept.pop(oid, None)
            if data is not None:
                yield entry, data
            elif (large := Problem(entry.path, None, _TOO_LARGE)) not in problems:
                problems.append(large)
    finally:
        blobs.close()


def grep(tree: GitTree, words: Iterable[str], *, leaving_out: Iterable[str] = ()) -> Iterator[tuple[str, str]]:
    """The lines of a commit's YAML and JSON files in which one of these words stands, with the file's path.

    ``leaving_out`` are names of folders. Raises SourceError.
    """
    asked = [argument for word in words for argument in ("-e", word)]
    files = [":(icase)*.yaml", ":(icase)*.yml", ":(icase)*.json"]
    files += [f":(exclude,glob)**/{folder}/**" for folder in leaving_out]
    # Whatever the user has configured, and read as bytes: a file that attributes call binary is searched, too.
    plain = ("--no-color", "--no-line-number", "--no-column", "--no-textconv", "--no-recurse-submodules", "--full-name")
    at = ("--", *(f":(top){each}" if not each.startswith(":") else each.replace(":(", ":(top,", 1) for each in files))
    commit = str(tree.commit)
    done = tree.repo.run("grep", "-a", "-H", "-z", "-F", *plain, *asked, commit, *at, ok=(0, 1))
    if done.stderr:  # an object that is missing is told there, and nowhere else
        raise SourceError(f"git grep failed in {tree.repo.where}: {display_path(done.stderr).strip()}")
    for record in done.stdout.split(b"\n"):
        named, zero, line = record.partition(b"\0")
        if zero:
            yield display_path(named[len(commit) + 1 :]), line.decode("utf-8", "replace")


_TOO_LARGE = f"larger than {MAX_FILE_BYTES} bytes: not read"


def _blobs(repo: Repository, oids: list[str]) -> Generator[bytes | None]:
    """Give the content of each blob in turn, None for one that is too large."""
    if not oids:
        return
    process = subprocess.Popen(
        repo.command("cat-file", "--batch"),
        env=repo.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    requests, answers = process.stdin, process.stdout
    assert requests is not None and answers is not None
    try:
        for start in range(0, len(oids), _WINDOW):
            window = oids[start : start + _WINDOW]
            with suppress(BrokenPipeError):  # git has died: the first answer that is not there says so
                requests.write("".join(f"{oid}\n" for oid in window).encode())
                requests.flush()
            for oid in window:
                yield _answer(repo, answers, oid)
    finally:
        process.kill()
        answers.close()
        with suppress(BrokenPipeError):
            requests.close()
        process.wait()


def _answer(repo: Repository, answers: IO[bytes], oid: str) -> bytes | None:
    header = answers.readline().split()
    if len(header) != 3 or header[1] != b"blob":
        reason = "missing" if header[-1:] == [b"missing"] else "unreadable"
        raise SourceError(
            f"git object {oid} is {reason} in {repo.where}: a partial or damaged clone? "
            "`git fetch --refetch` brings missing objects; crdcompat never fetches"
        )
    size = int(header[2])
    if size > MAX_FILE_BYTES:
        left = size + 1
        while left and (chunk := answers.read(min(left, 1 << 20))):
            left -= len(chunk)
        return None
    data = answers.read(size + 1)
    if len(data) != size + 1:
        raise SourceError(f"git stopped while sending object {oid} of {repo.where}: a damaged clone?")
    return data[:-1]


def _oid(entry: Entry) -> str:
    if entry.oid is None or not _OID.fullmatch(entry.oid):
        raise SourceError(f"{entry.path}: not a file of this git tree")
    return entry.oid


def _records(listing: bytes, *, oid_at: int) -> Iterator[tuple[tuple[bytes, bytes, bytes], bytes]]:
    """Split ``ls-tree``/``ls-files`` output into ((mode, oid, stage or b""), path)."""
    for record in listing.split(b"\0"):
        if record:
            meta, _, path = record.partition(b"\t")
            fields = meta.split(b" ")
            yield (fields[0], fields[oid_at], fields[2] if oid_at == 1 else b""), path


def _blob_entries(records: Iterable[tuple[tuple[bytes, bytes, bytes], bytes]], skipped: list[Skipped]) -> list[Entry]:
    entries = []
    for (mode, oid, _), path in records:
        if mode == _SYMLINK:
            skipped.append(Skipped(display_path(path), "symbolic link"))
        elif mode == _SUBMODULE:
            skipped.append(Skipped(display_path(path), "submodule"))
        else:
            entries.append(Entry(display_path(path), oid.decode("ascii")))
    return sorted(entries, key=lambda entry: entry.path)


def _top_level(repo: Repository) -> str:
    done = repo.run("rev-parse", "--is-bare-repository", "--show-toplevel", ok=(0, 128))
    if done.returncode != 0:
        raise SourceError(f"{repo.where} is a bare repository: it has no index and no working tree")
    return os.fsdecode(done.stdout.partition(b"\n")[2].removesuffix(b"\n"))


def _regular_files(top: str, paths: set[str], skipped: list[Skipped]) -> Iterator[tuple[str, str]]:
    """Give (path, path on disk) of what is a file on disk, and not behind a link out of its place."""
    real_top = os.path.realpath(top)
    in_place: dict[str, bool] = {}
    for path in sorted(paths - {""}):
        parent = path.rpartition("/")[0]
        if parent not in in_place:
            expected = f"{real_top}/{parent}" if parent else real_top
            in_place[parent] = os.path.realpath(f"{real_top}/{parent}") == expected
        on_disk = Path(real_top, path)
        try:
            mode = on_disk.lstat().st_mode
        except OSError:
            continue  # deleted
        if in_place[parent] and stat.S_ISREG(mode):
            yield display_path(path), str(on_disk)
        else:
            is_link = stat.S_ISLNK(mode) or not in_place[parent]
            reason = "symbolic link" if is_link else "submodule or repository"
            skipped.append(Skipped(display_path(path), reason))
