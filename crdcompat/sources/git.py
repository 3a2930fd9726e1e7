"""Git commits, the index and the working tree as trees, read with git's plumbing commands.

Nothing here writes to a repository, checks out or fetches, not even the missing blobs of a partial clone.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from crdcompat.errors import Problem, Skipped, SourceError
from crdcompat.sources.blobs import read_blobs
from crdcompat.sources.differing import read_index
from crdcompat.sources.files import read_file
from crdcompat.sources.links import Unfollowed, linked_entries
from crdcompat.sources.naming import MANIFESTS, display_path
from crdcompat.sources.repository import Repository
from crdcompat.sources.tree import Entry, Listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_SYMLINK, _SUBMODULE = "120000", "160000"
#: Git makes no tree with a name twice, and reads one in more than one way. Bytes that are no text are shown as escapes.
_TWICE = "two files have this name: rename one whose name is not UTF-8, or mend the tree (git fsck)"
_RECORD = re.compile(r"(\d{6}) (?:[a-z]+ )?([0-9a-f]+)(?: (\d))?\t([^\0]+)\0")


class _GitFiles(Listed, Struct):
    """Files whose bytes git has; ``commit`` is the full id of the commit that they are of."""

    repo: Repository
    name: str = ""
    commit: str | None = None
    notes: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unfollowed: dict[str, Unfollowed] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)
    _entries: list[Entry] | None = None

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read blobs, equal ones once; one that is too large becomes a problem. Raises SourceError."""
        return read_blobs(self.repo, _followed(self, entries), self.problems)


class GitTree(_GitFiles):
    """The files of one commit, also behind symbolic links; ``commit`` is its full id. Submodules are ``skipped``."""

    def entries(self) -> list[Entry]:
        """List the commit's files with their blob ids, with paths from the top of the repository."""
        if self._entries is None:
            listing = self.repo.run("ls-tree", "-r", "-z", "--full-tree", str(self.commit)).stdout
            self._entries = _blob_entries(self, _records(listing))
        return self._entries


class IndexTree(_GitFiles):
    """The files of the index, which the next commit would have; paths in conflict are ``problems``."""

    name: str = "index:"

    def entries(self) -> list[Entry]:
        """List the index's files with their blob ids. Raises SourceError in a bare repository."""
        if self._entries is None:
            _top_level(self.repo)
            listing = self.repo.run("ls-files", "-s", "-z", "--full-name", ":/").stdout
            records = _records(listing)
            conflicts = {path for _, _, stage, path in records if stage != "0"}
            self.problems.extend(
                Problem(path, None, "in conflict in the index: finish the merge first") for path in sorted(conflicts)
            )
            clean = (record for record in records if record[-1] not in conflicts)
            self._entries = _blob_entries(self, clean)
        return self._entries


class WorktreeTree(_GitFiles):
    """The files of the working tree: tracked ones that exist, and untracked ones that are not ignored."""

    name: str = "worktree:"
    _on_disk: dict[str, str] = field(default_factory=dict)

    def entries(self) -> list[Entry]:
        """List the working tree's files, from its top. Raises SourceError in a bare repository."""
        if self._entries is None:
            top = _top_level(self.repo)
            listing = self.repo.run("ls-files", "-z", "-co", "--exclude-standard", "--full-name", ":/").stdout
            paths = {os.fsdecode(path) for path in listing.split(b"\0")}
            times = Counter(map(display_path, paths))
            self.problems.extend(Problem(path, None, _TWICE) for path, count in sorted(times.items()) if count > 1)
            targets: dict[str, str] = {}
            self._on_disk = dict(_regular_files(top, paths, self.skipped, targets))
            known = self._unmodified()
            files = {path: Entry(path, known.get(path)) for path in sorted(self._on_disk)}
            self._entries = _with_links(self, files, targets)
            through_links = (entry.path for entry in self._entries if entry.path not in self._on_disk)
            self._on_disk |= {path: str(Path(top, path)) for path in through_links}
        return self._entries

    def _unmodified(self) -> dict[str, str]:
        """The blob ids of tracked files that are equal on disk and in the index."""
        staged = self.repo.run("ls-files", "-s", "-z", "--full-name", ":/").stdout
        modified = set(read_index(self.repo).changed(lambda path: True))
        return {path: oid for _, oid, stage, path in _records(staged) if stage == "0" and path not in modified}

    def read(self, entries: Iterable[Entry]) -> Iterator[tuple[Entry, bytes]]:
        """Read files from disk; one that cannot be read becomes a problem."""
        self.entries()
        for entry in _followed(self, entries):
            data = read_file(self._on_disk[entry.path], entry.path, self.problems)
            if data is not None:
                yield entry, data


def grep(
    tree: GitTree, words: Iterable[str], *, excluded_folders: Iterable[str] = ()
) -> Callable[[], Iterator[tuple[str, str]]]:
    """Start to search a commit's YAML and JSON files for lines with one of these words.

    git searches in the background. The returned function waits for it and yields (path, line); it raises SourceError if
    a file could not be searched. ``excluded_folders`` are names of folders at any level.
    """
    asked = [argument for word in words for argument in ("-e", word)]
    files = [f":(icase){each}" for each in MANIFESTS]
    files += [f":(exclude,glob)**/{folder}/**" for folder in excluded_folders]
    # These options override the user's settings; -a also searches files that attributes declare as binary.
    plain = ("--no-color", "--no-line-number", "--no-column", "--no-textconv", "--no-recurse-submodules", "--full-name")
    at = ("--", *(f":(top){each}" if not each.startswith(":") else each.replace(":(", ":(top,", 1) for each in files))
    commit = str(tree.commit)
    wait = tree.repo.start("grep", "-a", "-H", "-z", "-F", *plain, *asked, commit, *at, ok=(0, 1))

    def lines() -> Iterator[tuple[str, str]]:
        done = wait()
        if done.stderr:  # git reports a missing object only there
            raise SourceError(f"git grep failed in {tree.repo.where}: {display_path(done.stderr).strip()}")
        for record in done.stdout.split(b"\n"):
            named, zero, line = record.partition(b"\0")
            if zero:
                yield display_path(named[len(commit) + 1 :]), line.decode("utf-8", "replace")

    return lines


def has_word(
    repo: Repository, commit: str, word: str, *, folder: str = "", excluded_folders: Iterable[str] = ()
) -> bool:
    """Whether a YAML or JSON file of a commit, in a folder, has a word; git stops at the first one.

    Raises SourceError.
    """
    files = (f":(top,icase){folder and f'{folder}/'}{each}" for each in MANIFESTS)
    excluded = (f":(top,exclude,glob)**/{each}/**" for each in excluded_folders)
    done = repo.run("grep", "-q", "-a", "-F", "-e", word, commit, "--", *files, *excluded, ok=(0, 1))
    return done.returncode == 0


def file_at(repo: Repository, commit: str, path: str) -> bytes:
    """The bytes of a commit's file, with its path from the top of the repository; none if there is no such file."""
    return repo.run("cat-file", "blob", f"{commit}:{path}", ok=(0, 128)).stdout


def _records(listing: bytes) -> list[tuple[str, str, str, str]]:
    """Split the output of ``ls-tree -z`` or ``ls-files -s -z`` into (mode, blob id, stage, path); ls-tree: stage ""."""
    return _RECORD.findall(display_path(listing))


def _blob_entries(tree: _GitFiles, records: Iterable[tuple[str, str, str, str]]) -> list[Entry]:
    """The files of ``tree``, also those behind links that stay inside it."""
    files: dict[str, Entry] = {}
    links: list[Entry] = []
    seen: set[str] = set()
    for mode, oid, _, path in records:
        if path in seen:
            tree.problems.append(Problem(path, None, _TWICE))
        seen.add(path)
        if mode == _SYMLINK:
            links.append(Entry(path, oid))
        elif mode == _SUBMODULE:
            tree.skipped.append(Skipped(path, "submodule"))
        else:
            files[path] = Entry(path, oid)
    targets = {entry.path: display_path(data) for entry, data in read_blobs(tree.repo, links, tree.problems)}
    return _with_links(tree, files, targets)


def _with_links(tree: _GitFiles, files: Mapping[str, Entry], targets: Mapping[str, str]) -> list[Entry]:
    entries = [*files.values()]
    for found in linked_entries(files, targets):
        if isinstance(found, Entry):
            entries.append(found)
            tree.linked.add(found.path)
        elif found.is_manifest:
            entries.append(found.entry)
            tree.unfollowed[found.path] = found
        else:
            tree.skipped.append(Skipped(found.path, found.reason))
    return sorted(entries, key=attrgetter("path"))


def _followed(tree: _GitFiles, entries: Iterable[Entry]) -> Iterator[Entry]:
    """The entries to read; a link that is not followed becomes a problem of ``tree``."""
    for entry in entries:
        if (link := tree.unfollowed.get(entry.path)) is None:
            yield entry
        elif link.problem not in tree.problems:
            tree.problems.append(link.problem)


def _top_level(repo: Repository) -> str:
    done = repo.run("rev-parse", "--is-bare-repository", "--show-toplevel", ok=(0, 128))
    if done.returncode != 0:
        raise SourceError(f"{repo.where} is a bare repository: it has no index and no working tree")
    return os.fsdecode(done.stdout.partition(b"\n")[2].removesuffix(b"\n"))


def _regular_files(
    top: str, paths: set[str], skipped: list[Skipped], targets: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """The (path, path on disk) of regular files that are not below a symbolic link; links go to ``targets``."""
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
        elif in_place[parent] and stat.S_ISLNK(mode):
            targets[display_path(path)] = display_path(str(on_disk.readlink()))
        else:
            reason = "submodule or repository" if in_place[parent] else "below a symbolic link"
            skipped.append(Skipped(display_path(path), reason))
