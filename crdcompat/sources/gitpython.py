"""A repository through GitPython, which asks git only in the safe environment that `Repository` makes.

GitPython costs a tenth of a second to import, so only what a run rarely asks goes through it. What is left to git's
plumbing, and why: GitPython reads refs and settings from files itself, which passes ``safe.directory`` by and knows no
reftable; its objects decode a message by any codec that the commit names. Its ids are SHA-1 ones: of a SHA-256 id it
is given as many digits, an abbreviation that git understands.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from git import Commit, Git, GitCommandError, Repo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from crdcompat.sources.repository import Repository

#: The exit code by which git answers no.
_NO = 1
#: What begins an entry of ``git blame --incremental`` in a repository of SHA-256 ids.
_LONG_ID = re.compile(rb"^([0-9a-f]{40})[0-9a-f]{24}(?=(?: \d+){3}$)", re.MULTILINE)


class SafeRepo(Repo):
    """GitPython's Repo for a `Repository`: all that is asked through ``git`` obeys these settings above all others.

    It is not opened as GitPython opens one: git finds its repository itself, bare ones without a configuration too.
    """

    #: Hexadecimal digits of an id that GitPython can hold.
    ID_DIGITS = 40
    #: No option of ours comes from a user or a repository, and ``--contents=-`` reads what is given.
    unsafe_git_blame_options: list[str] = []  # noqa: RUF012 - as GitPython declares it

    def __init__(self, repository: Repository, settings: Mapping[str, str] | None = None) -> None:
        self.git = _SafeGit(repository, settings or {})

    def commit_of(self, name: str) -> Commit:
        """The commit of a full id, which may be missing: nothing is read."""
        return Commit(self, bytes.fromhex(name[: self.ID_DIGITS]))


class _SafeGit(Git):
    """GitPython's commands, run by a `Repository`: its place and environment count, and its errors are raised."""

    def __init__(self, repository: Repository, settings: Mapping[str, str]) -> None:
        super().__init__()
        self._repository, self._settings = repository, settings

    def execute(self, command: Sequence[str], **how: Any) -> Any:  # type: ignore[override]
        """Run git; of ``how`` what our callers ask for: ``istream``, ``kill_after_timeout``, ``stdout_as_string``.

        Raises SourceError, TimeOutError, and GitCommandError where git answers no.
        """
        given = how.get("istream")
        done = self._repository.run(
            *command[1:],
            ok=(0, _NO) if "--is-ancestor" in command else (0,),
            given=given.read() if given is not None else None,
            settings=self._settings,
            timeout=how.get("kill_after_timeout"),
        )
        if done.returncode == _NO:
            raise GitCommandError(list(command), _NO, done.stderr, done.stdout)
        output = done.stdout.removesuffix(b"\n")
        if "--incremental" in command:
            output = _LONG_ID.sub(rb"\1", output)
        return output.decode("utf-8", "surrogateescape") if how.get("stdout_as_string", True) else output
