"""The ``git fetch`` command that brings what a repository lacks. crdcompat itself never fetches.

CI systems clone with a remote ``origin`` (actions/checkout, GitLab) or by a URL without any remote (clonerefs of Prow),
and all of them on request with few commits (a shallow clone) or without the content of files (a partial clone).
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from crdcompat.sources.branches import names_of_remotes
from crdcompat.sources.naming import display_path, is_commit_id, without_suffix

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.sources.repository import Repository

#: Where the branches of a URL are kept: the place of the branches of a clone's own remote.
_DEFAULT = "origin"


def fetch_commands(
    repo: Repository, refs: Iterable[str] = (), *, branches: Sequence[str] = (), whole: bool = False
) -> str:
    """The command, one line per remote, that fetches ``refs``; "" if nothing says where to fetch from.

    ``refs`` are branches, tags and commit ids, with or without the name of a remote; ``branches`` are globs of
    branches. ``whole``: the commits that a shallow clone lacks, and the files that a partial clone lacks of these refs,
    too. Raises SourceError.
    """
    remotes = names_of_remotes(repo)
    main = _DEFAULT if _DEFAULT in remotes else next(iter(remotes), "") or fetched_from(repo)
    if not main:
        return ""
    wanted: dict[str, list[str]] = {main: []}
    for ref in refs:
        base = without_suffix(ref).removeprefix("refs/remotes/")
        remote = next((name for name in remotes if base.startswith(f"{name}/")), main)
        wanted.setdefault(remote, []).append(_refspec(base.removeprefix(f"{remote}/"), _folder(remote)))
    wanted[main] += [f"+refs/heads/{glob}:refs/remotes/{_folder(main)}/{glob}" for glob in branches]
    git = ["git"] if repo.path is None else ["git", "-C", repo.path]
    deepen = ["--unshallow"] if whole and repo.is_shallow else []
    refetch = ["--refetch", "--no-filter"] if whole and is_partial(repo) else []
    lines = []
    for remote, refspecs in wanted.items():
        if deepen or refetch or refspecs:
            lines.append(shlex.join([*git, "fetch", *deepen, *refetch, remote, *dict.fromkeys(refspecs)]))
            deepen = []  # git refuses it in a repository that has its whole history
    return "\n".join(lines)


def fetched_from(repo: Repository) -> str:
    """The URL of the last ``git fetch``, without credentials; "" if there was none.

    Without a remote, only this record of git says where the commits come from. Raises SourceError.
    """
    folder = repo.run("rev-parse", "--absolute-git-dir", ok=(0, 128)).stdout
    try:
        record = (Path(display_path(folder).removesuffix("\n")) / "FETCH_HEAD").read_bytes()
    except (OSError, ValueError):
        return ""
    line = display_path(record.partition(b"\n")[0])
    return line.rpartition("\t")[2].rpartition(" of ")[2]


def is_partial(repo: Repository) -> bool:
    """Whether the repository is a partial clone, which can lack the content of files. Raises SourceError."""
    return bool(repo.run("config", "--get-regexp", r"^remote\..*\.promisor$", ok=(0, 1)).stdout)


def _folder(remote: str) -> str:
    """The folder of ``refs/remotes`` for a remote; a URL cannot be one."""
    return _DEFAULT if ":" in remote or remote.startswith("/") else remote


def _refspec(ref: str, folder: str) -> str:
    if is_commit_id(ref):
        return ref
    if ref.startswith("refs/") and not ref.startswith("refs/heads/"):
        return f"{ref}:{ref}"
    branch = ref.removeprefix("refs/heads/")
    return f"{branch}:refs/remotes/{folder}/{branch}"
