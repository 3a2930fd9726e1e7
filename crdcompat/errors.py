"""What can go wrong that is the input's doing, not ours.

Every message says what, where, and what to do. The command line turns any of these into exit code 2
(could not do what was asked); anything else that escapes is a bug and exits 3.

Records of what was not read: nothing that was passed over is passed over in silence.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from crdcompat.vocabulary import Side


class CrdcompatError(Exception):
    """Base of all errors caused by input or usage; ``str()`` is one or more readable lines."""


class UsageError(CrdcompatError):
    """The command was asked for something that makes no sense (bad option value, nothing to compare)."""


class SourceError(CrdcompatError):
    """A source could not be opened or read: no such path, not a repository, git failed."""


class ConfigError(CrdcompatError):
    """The configuration (or a waiver file) cannot be used: ``file:line: what, and what to do``."""


class RefNotFoundError(SourceError):
    """A git ref is not there.

    ``ref`` is the name as given, ``near`` the names that look like it; the message prints the exact
    ``git fetch`` line, because the tool itself never fetches.
    """

    def __init__(self, ref: str, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.ref = ref
        self.near = near


@dataclass(frozen=True, slots=True)
class Problem:
    """Input that could not be read. The run goes on; its exit code becomes 2.

    ``file`` is the path below the source (or the source's name), ``line`` counts from 1, ``side`` is
    ``old``, ``new``, ``objects`` or ``""`` where it makes no difference.
    """

    file: str
    line: int | None
    message: str
    side: Side = Side.ANY


def problem_order(problem: Problem) -> tuple[str, int, str, str]:
    """By file and line; a problem of the whole file comes first."""
    return (problem.file, problem.line or 0, problem.message, problem.side)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or document that was rightly left out, and why (counted in the report)."""

    file: str
    reason: str
    side: Side = Side.ANY


skipped_order = attrgetter("file", "reason", "side")
"""By file, then by reason."""
