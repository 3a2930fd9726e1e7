"""The verdict on a report and the exit code that follows from it, for all commands."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from crdcompat.vocabulary import ExitCode, FailOn, Severity
from crdcompat.vocabulary.writes import ReleaseVerdict, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


#: The options that turn the exit code of an unknown verdict into 0.
ALLOW_UNKNOWN, NEVER = "--allow-unknown", "--fail-on never"
#: The severity that decides, for the verdict on a part of a report: a cluster, or the objects of one.
_WORST = {ReleaseVerdict.BLOCKED: Severity.ERROR, ReleaseVerdict.AT_RISK: Severity.WARNING}
_WORST_WRITE = {WriteResult.REJECTED: Severity.ERROR, WriteResult.LOSES_DATA: Severity.WARNING}


Kind = TypeVar("Kind", bound=Hashable)


def counted(kinds: Iterable[Kind], found: Iterable[Kind]) -> dict[Kind, int]:
    """How often each kind was found, in the order of the kinds; 0 where none was."""
    counts = Counter(found)
    return {kind: counts[kind] for kind in kinds}


class Decision(Struct, frozen=True):
    """How a run ends: the exit code, and the option that allows an unknown verdict ("" if none does)."""

    code: ExitCode
    allowed: str = ""


class Judgement(Struct, frozen=True):
    """What decides the verdict on a report.

    ``worst`` is the worst severity of what counts, None without any. ``is_unjudged``: something that could change the
    answer was not judged. ``is_undone``: input could not be read, CRDs of both sides could not be compared, or there
    was nothing to judge.
    """

    worst: Severity | None = None
    is_unjudged: bool = False
    is_undone: bool = False

    @property
    def verdict(self) -> ReleaseVerdict:
        """An error blocks even if something was not judged; without an error, unjudged parts make it unknown."""
        if self.worst is Severity.ERROR:
            return ReleaseVerdict.BLOCKED
        if self.is_unjudged or self.is_undone:
            return ReleaseVerdict.UNKNOWN
        return ReleaseVerdict.AT_RISK if self.worst is Severity.WARNING else ReleaseVerdict.CLEAN

    def decide(self, fail_on: FailOn | str, *, allow_unknown: bool = False) -> Decision:
        """The exit code (docs/formats.md#exit-codes): 2 for unknown, 1 for blocked, else 0.

        ``fail_on`` moves the severity from which on findings are 1. What was not done is 2 whatever else was found; no
        option allows it.
        """
        threshold = FailOn(fail_on)
        if self.is_undone:
            return Decision(ExitCode.NOT_DONE)
        allowed = ""
        if self.verdict is ReleaseVerdict.UNKNOWN:
            allowed = ALLOW_UNKNOWN if allow_unknown else NEVER if threshold is FailOn.NEVER else ""
            if not allowed:
                return Decision(ExitCode.NOT_DONE)
        least = threshold.least
        fails = self.worst is not None and least is not None and self.worst.at_least(least)
        return Decision(ExitCode.FOUND if fails else ExitCode.CLEAN, allowed)


class WithVerdict(Struct, frozen=True):
    """A report with a verdict: its ``judgement`` decides."""

    @property
    def judgement(self) -> Judgement:
        """What decides the verdict on all of the report."""
        raise NotImplementedError

    @property
    def verdict(self) -> ReleaseVerdict:
        """The verdict on all of the report: the worst of its parts."""
        return self.judgement.verdict

    def fails(self, threshold: FailOn) -> bool:
        """Whether the exit code of a run with this threshold is not 0: also for a verdict that is unknown."""
        return self.judgement.decide(threshold).code is not ExitCode.CLEAN


def joined(parts: Iterable[Judgement]) -> Judgement:
    """The judgement on a report that consists of parts."""
    listed = tuple(parts)
    return Judgement(
        worst_of(each.worst for each in listed),
        any(each.is_unjudged for each in listed),
        any(each.is_undone for each in listed),
    )


def worst_of(found: Iterable[Severity | None]) -> Severity | None:
    """The worst of the severities; None without any."""
    return min((each for each in found if each is not None), key=lambda each: each.rank, default=None)


def judged_verdicts(verdicts: Iterable[ReleaseVerdict], *, undone: bool = False) -> Judgement:
    """The judgement on a report whose parts have these verdicts. ``undone``: see ``Judgement``."""
    found = set(verdicts)
    return Judgement(worst_of(map(_WORST.get, found)), ReleaseVerdict.UNKNOWN in found, undone)


def judged_writes(
    verdicts: Mapping[WriteResult, int], *, unjudged: bool, undone: bool = False, fails: bool = False
) -> Judgement:
    """The judgement on the objects of a cluster, from their number per worst verdict.

    ``unjudged``: something else was not judged. ``undone``: see ``Judgement``. ``fails``: there is an error
    whatever the writes give, such as a value that is held before the release that is declared to write it.
    """
    found = {verdict for verdict, count in verdicts.items() if count}
    worst = Severity.ERROR if fails else worst_of(map(_WORST_WRITE.get, found))
    return Judgement(worst, unjudged or not found or WriteResult.UNKNOWN in found, undone)
