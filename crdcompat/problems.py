"""Records of what was not read: nothing that was passed over is passed over in silence."""

from __future__ import annotations

from operator import attrgetter

from crdcompat.records import dataclass
from crdcompat.vocabulary import Side


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
