"""Single files of commits, with their bytes: links are followed inside of the commit alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crdcompat.errors import ConfigError
from crdcompat.sources.plain_file import MAX_BYTES, NOT_REGULAR, OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdcompat.sources.repository import Repository

#: What git says of a path without a file: ``-- missing``, and links that lead to nothing.
_NOTHING = ("missing", "dangling", "notdir")


def blobs_at(repo: Repository, commit: str, paths: Iterable[str]) -> dict[str, str]:
    """The blob ids of those of the paths (from the top of the repository) that a commit has as files, in their order.

    Raises ConfigError for a folder, a submodule, a link out of the commit, and a file above ``MAX_BYTES``; SourceError.
    """
    wanted = [path for path in paths if "\n" not in path]
    asked = "".join(f"{commit}:{path}\n" for path in wanted).encode()
    option = "--batch-check=%(objecttype) %(objectname) %(objectsize)"
    lines = iter(repo.run("cat-file", option, "--follow-symlinks", stdin=asked).stdout.split(b"\n"))
    found: dict[str, str] = {}
    for path in wanted:
        line = next(lines, b"").decode("utf-8", "replace")
        kind, *rest = line.split(" ")
        if kind in ("symlink", "dangling", "loop", "notdir"):
            next(lines, None)  # the second line is the target, or the path
        if line.endswith(" missing") or kind in _NOTHING:
            continue
        if kind == "symlink" or kind == "loop":
            raise ConfigError(f"{path}: {OUTSIDE}")
        if kind != "blob":
            raise ConfigError(f"{path}: {NOT_REGULAR}")
        if int(rest[1]) > MAX_BYTES:
            raise ConfigError(f"{path}: larger than {MAX_BYTES >> 20} MB: not read")
        found[path] = rest[0]
    return found


def read_blob(repo: Repository, oid: str) -> bytes:
    """The bytes of a blob. Raises SourceError."""
    return repo.run("cat-file", "blob", oid).stdout
