"""Run git in a repository, without writes and without network access."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import MissingObjectsError, SourceError
from crdcompat.sources.naming import display_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NO_REPOSITORY = re.compile(r"^fatal: (not a git repository|cannot change to)", re.MULTILINE)
_LACKING = re.compile(r"could not fetch (\w+) from promisor remote|unable to read (?:tree|sha1 file of) \(?(\w+)")
_REFUSED = re.compile(r"^fatal: detected dubious ownership", re.MULTILINE)

# A hook sets these variables for *its* repository; they must not apply to another one that --repo names.
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
    """There is no git repository in this directory."""


class TimeOutError(SourceError):
    """Git did not finish within the time limit."""


class Repository(Struct, frozen=True):
    """A directory in or of a repository to run git in; None means the current directory.

    For the current directory, GIT_DIR and GIT_INDEX_FILE of the environment apply, as a commit hook needs; for a named
    directory they are ignored.
    """

    path: str | None = None

    @property
    def where(self) -> str:
        """The directory, for messages."""
        return self.path if self.path is not None else str(Path.cwd())

    @property
    def exists(self) -> bool:
        """Whether there is a repository that git can read."""
        try:
            self.run("rev-parse", "--git-dir")
        except SourceError:
            return False
        return True

    @property
    def is_shallow(self) -> bool:
        """Whether the repository is a shallow clone."""
        return self.run("rev-parse", "--is-shallow-repository", ok=(0, 128)).stdout.strip() == b"true"

    @property
    def is_bare(self) -> bool:
        """Whether the repository has no working tree."""
        return self.run("rev-parse", "--is-bare-repository", ok=(0, 128)).stdout.strip() == b"true"

    def run(
        self,
        *args: str,
        ok: tuple[int, ...] = (0,),
        stdin: bytes | None = None,
        settings: Mapping[str, str] | None = None,
        timeout: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a git command to its end, with ``stdin`` as its input and ``settings`` that override all others.

        Raises SourceError unless its exit code is one of ``ok``, MissingObjectsError for an object that a partial clone
        lacks, TimeOutError after ``timeout`` seconds.
        """
        environment = _with_settings(self.environment(), settings or {})
        try:
            done = subprocess.run(
                self.command(*args), env=environment, input=stdin or b"", capture_output=True, timeout=timeout
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
        if done.returncode not in ok and (lacking := _LACKING.search(message)):
            problem = f"git object {lacking[1] or lacking[2]} is missing in {self.where}"
            import shlex

            command = shlex.join(["git", *self._at, "fetch", "--refetch", "--no-filter"])
            raise MissingObjectsError(
                f"{problem}: a partial clone? crdcompat never fetches", f"to get all objects: {command}"
            )
        if done.returncode not in ok or _REFUSED.search(message):
            raise SourceError(f"git {args[0]} failed in {self.where}: {message or done.returncode}")
        return done

    def start(self, *args: str, ok: tuple[int, ...] = (0,)) -> Callable[[], subprocess.CompletedProcess[bytes]]:
        """Start a git command in the background; the returned function waits for it, and raises as ``run`` does."""
        ended: list[subprocess.CompletedProcess[bytes] | BaseException] = []

        def follow() -> None:
            try:
                ended.append(self.run(*args, ok=ok))
            except BaseException as error:
                ended.append(error)

        thread = Thread(target=follow, daemon=True)
        thread.start()

        def wait() -> subprocess.CompletedProcess[bytes]:
            thread.join()
            if isinstance(ended[0], BaseException):
                raise ended[0]
            return ended[0]

        return wait

    @property
    def _at(self) -> list[str]:
        return [] if self.path is None else ["-C", self.path]

    def command(self, *args: str) -> list[str]:
        """The full command line, without a repository's fsmonitor, which is a program that git would start."""
        return ["git", *self._at, "-c", "core.fsmonitor=false", *args]

    def environment(self) -> dict[str, str]:
        """The environment in which git neither writes, nor prompts, nor uses the network.

        Replacements (``git replace``) are ignored, so that an id always has the same content.
        """
        dropped = () if self.path is None else _REPOSITORY_VARIABLES
        kept = {name: value for name, value in os.environ.items() if name not in dropped}
        for mode in ("LITERAL", "GLOB", "NOGLOB", "ICASE"):
            kept.pop(f"GIT_{mode}_PATHSPECS", None)
        return {
            **kept,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",  # for older versions of git, which ignore the line above
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }


def _with_settings(environment: dict[str, str], settings: Mapping[str, str]) -> dict[str, str]:
    """Append settings to git's environment: unlike ``-c``, this supports names with an equals sign."""
    count = environment.get("GIT_CONFIG_COUNT", "")
    first = int(count) if count.isdecimal() else 0
    variables = {"GIT_CONFIG_COUNT": str(first + len(settings))} if settings else {}
    for index, (name, value) in enumerate(settings.items(), first):
        variables |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
    return environment | variables
