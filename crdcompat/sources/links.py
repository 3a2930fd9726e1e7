"""Resolve the symbolic links of a git tree inside that tree; nothing on disk is followed.

A CRD behind a link is a CRD of the release. A link that leaves the tree is never followed: it could show any file of
the machine to the author of a pull request.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import Problem
from crdcompat.sources.naming import is_manifest_name
from crdcompat.sources.tree import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: Links in a row that git hosts and kernels accept; more are a loop.
_MAX_LINKS = 40
READ_ANYWAY = "symbolic link to a directory that is read anyway"
OUT, NOTHING = "symbolic link out of the source", "symbolic link to nothing"


class Unfollowed(Struct, frozen=True):
    """A link that is not followed, and the reason."""

    path: str
    reason: str

    @property
    def is_manifest(self) -> bool:
        """Whether the link has the name of a manifest and leads nowhere: then a CRD may be missing."""
        return self.reason != READ_ANYWAY and is_manifest_name(self.path)

    @property
    def entry(self) -> Entry:
        """The entry of the link in a listing, with a content id that no file has."""
        return Entry(self.path, f"link:{self.reason}")

    @property
    def problem(self) -> Problem:
        """The problem to report where the link is read."""
        return Problem(self.path, None, f"{self.reason}: not checked; replace the link with the file")


class _LeadsNowhereError(Exception):
    """A link that leads out of the tree, or to nothing; the argument is the reason."""


def linked_entries(files: Mapping[str, Entry], links: Mapping[str, str]) -> Iterator[Entry | Unfollowed]:
    """The files that ``links`` (path -> target text) add to ``files``, each at its path through the link.

    A link to a directory adds all files below it, once for each directory.
    """
    folders = _folders((*files, *links)) if links else set()
    seen: set[str] = set()
    for path in sorted(links):
        try:
            target = _resolve(path, files, links, folders)
        except _LeadsNowhereError as error:
            yield Unfollowed(path, str(error))
            continue
        if target in files:
            yield Entry(path, files[target].oid)
        elif target in seen or f"{path}/".startswith(f"{target}/") or target == ".":
            yield Unfollowed(path, READ_ANYWAY)
        else:
            seen.add(target)
            below = f"{target}/"
            yield from (Entry(path + file[len(target) :], files[file].oid) for file in files if file.startswith(below))


def _folders(paths: Iterable[str]) -> set[str]:
    """All folders above these paths, "." for the top."""
    folders = {"."}
    for path in paths:
        above = path.rpartition("/")[0]
        while above and above not in folders:  # what is above a known folder is known, too
            folders.add(above)
            above = above.rpartition("/")[0]
    return folders


def _resolve(path: str, files: Mapping[str, Entry], links: Mapping[str, str], folders: set[str]) -> str:
    """The path of the file or folder that a link leads to, "." for the top. Raises _LeadsNowhereError."""
    at: list[str] = []
    pending = path.split("/")[::-1]
    followed = 0
    while pending:
        step = pending.pop()
        if step in ("", "."):
            continue
        if step == "..":
            if not at:
                raise _LeadsNowhereError(OUT)
            at.pop()
            continue
        at.append(step)
        here = "/".join(at)
        if (target := links.get(here)) is None:
            if here not in folders and (here not in files or pending):
                raise _LeadsNowhereError(NOTHING)
            continue
        followed += 1
        if followed > _MAX_LINKS:
            raise _LeadsNowhereError(NOTHING)
        if target.startswith("/"):
            raise _LeadsNowhereError(OUT)
        at.pop()
        pending.extend(target.split("/")[::-1])
    return "/".join(at) or "."
