"""A repository in GitPython, which runs git only in the safe environment of `Repository`.

GitPython needs a tenth of a second to import, so only rare requests use it. Other requests use git's plumbing:
GitPython reads refs and settings from files itself, which bypasses ``safe.directory`` and does not support reftable,
and its objects decode a message with any codec that the commit names. Its ids are SHA-1: a SHA-256 id is cut to 40
digits, an abbreviation that git accepts.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from git import Commit, Git, GitCommandError, Repo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crdcompat.sources.repository import Repository

#: The exit code of git for a negative answer.
_NO = 1
#: The first line of an entry of ``git blame --incremental`` in a repository with SHA-256 ids.
_LONG_ID = re.compile(rb"^([0-9a-f]{40})[0-9a-f]{24}(?=(?: \d+){3}$)", re.MULTILINE)


class SafeRepo(Repo):
    """GitPython's Repo for a `Repository`; ``settings`` override all others in its git commands.

    It skips GitPython's opening of a repository: git itself also finds bare ones without a configuration.
    """

    #: Hexadecimal digits of an id in GitPython.
    ID_DIGITS = 40
    #: None: our options do not come from users or repositories, and ``--contents=-`` reads standard input.
    unsafe_git_blame_options: list[str] = []  # noqa: RUF012 - as GitPython declares it

    def __init__(self, repository: Repository, settings: Mapping[str, str] | None = None) -> None:
        self.git = _SafeGit(repository, settings or {})

    def commit_of(self, name: str) -> Commit:
        """The commit object of a full id, without reading it: the commit may be missing."""
        return Commit(self, bytes.fromhex(name[: self.ID_DIGITS]))


class _SafeGit(Git):
    """GitPython's commands, run by a `Repository` with its directory, environment and errors."""

    def __init__(self, repository: Repository, settings: Mapping[str, str]) -> None:
        super().__init__()
        self._repository, self._settings = repository, settings

    def execute(self, command: Sequence[str], **how: Any) -> Any:  # type: ignore[override]
        """Run git with the options ``istream``, ``kill_after_timeout`` and ``stdout_as_string`` of GitPython.

        Raises SourceError, TimeOutError, and GitCommandError for a negative answer of git.
        """
        stream = how.get("istream")
        done = self._repository.run(
            *command[1:],
            ok=(0, _NO) if "--is-ancestor" in command else (0,),
            stdin=stream.read() if stream is not None else None,
            settings=self._settings,
            timeout=how.get("kill_after_timeout"),
        )
        if done.returncode == _NO:
            raise GitCommandError(list(command), _NO, done.stderr, done.stdout)
        output = done.stdout.removesuffix(b"\n")
        if "--incremental" in command:
            output = _LONG_ID.sub(rb"\1", output)
        return output.decode("utf-8", "surrogateescape") if how.get("stdout_as_string", True) else output
