"""Errors caused by input or usage, and records of input that was not read.

Every message names the error, its place, and what to do. The command line maps these errors to exit code 2; any other
exception is a bug and maps to exit code 3. Every file that a command skips is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter
from typing import Literal

from msgspec import Struct

from crdcompat.vocabulary import Side


class CrdcompatError(Exception):
    """Base of all errors caused by input or usage; ``str()`` is one or more readable lines."""


class UsageError(CrdcompatError):
    """The request makes no sense (a bad option value, nothing to compare)."""


class SourceError(CrdcompatError):
    """A source could not be opened or read: no such path, not a repository, git failed."""


class ConfigError(CrdcompatError):
    """The configuration (or a waiver file) cannot be used: ``file:line: what, and what to do``."""


class MissingObjectsError(SourceError):
    """A repository lacks commits or files that the command needs.

    ``problem`` says which, ``advice`` contains the exact ``git fetch`` command, because crdcompat itself never fetches.
    """

    def __init__(self, problem: str, advice: str = "") -> None:
        super().__init__("\n".join(filter(None, (problem, advice))))
        self.problem = problem
        self.advice = advice


class RefNotFoundError(MissingObjectsError):
    """A git ref does not exist. ``ref`` is the name as given, ``near`` similar names."""

    def __init__(self, ref: str, problem: str, near: tuple[str, ...] = (), advice: str = "") -> None:
        super().__init__(problem, advice)
        self.ref = ref
        self.near = near


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``; did you mean NAME?`` for the nearest known name; "" if none is near.

    A name with dots, such as that of a CRD, is also known by its first part: ``widgets`` of ``widgets.example.com``.
    """
    from difflib import get_close_matches

    names = list(known)
    spelled = {each.partition(".")[0]: each for each in names} | {each: each for each in names}
    near = get_close_matches(name.lower(), spelled, n=1)
    return f"; did you mean {spelled[near[0]]}?" if near else ""


class Problem(Struct, frozen=True):
    """Input that could not be read, or compared. The run continues; its exit code becomes 2.

    ``file`` is the path below the source (or the source's name), ``line`` counts from 1, ``side`` is ``old``, ``new``,
    ``objects`` or ``""`` (any). ``task`` is the part of the run that failed.
    """

    file: str
    line: int | None
    message: str
    side: Side = Side.ANY
    task: Literal["read", "compare"] = "read"

    @property
    def lead(self) -> str:
        """The words before ``file`` and ``message``."""
        return "could not compare" if self.task == "compare" else "could not read"


def problem_order(problem: Problem) -> tuple[str, int, str, str]:
    """The sort key: by file and line; a problem of the whole file is first."""
    return (problem.file, problem.line or 0, problem.message, problem.side)


class Skipped(Struct, frozen=True):
    """A file or document that was skipped on purpose, and the reason (counted in the report).

    ``content`` is equal where what was skipped is the same; "" if that is not known.
    """

    file: str
    reason: str
    side: Side = Side.ANY
    content: str = ""


skipped_order = attrgetter("file", "reason", "side", "content")
"""The sort key: by file, then by reason."""
