"""The report of verify: the answer of a real API server to the witness of each finding."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import Struct

from crdcompat.models.outcome import Judgement, counted
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from crdcompat.errors import Problem
    from crdcompat.models.release import Release


class Outcome(StrEnum):
    """Whether a server shows what a finding claims."""

    REFUTED = "refuted"
    NOT_TESTABLE = "not testable"
    CONFIRMED = "confirmed"


class Claim(Struct, frozen=True):
    """A finding of a JSON report: the effect of creating ``witness``, or of replacing ``stored`` by it.

    ``judged_as``: see ``Finding``. ``files`` are the files of the finding: ``old`` or ``new``, and the path.
    """

    id: str
    rule: str
    direction: str
    judged_as: str
    effect: str
    crd: str
    version: str
    path: str
    contexts: tuple[str, ...]
    witness: dict[str, Any] | None
    errors: tuple[str, ...]
    pruned: tuple[str, ...]
    defaulted: tuple[str, ...]
    reason: str
    stored: dict[str, Any] | None = None
    files: frozenset[tuple[str, str]] = frozenset()


class VerifiedFinding(Struct, frozen=True):
    """A finding of the report, and the answer of the server.

    ``reason`` says why it is refuted or not testable, or how a confirmation differs from the claim; ``said`` are the
    server's sentences.
    """

    claim: Claim
    outcome: Outcome
    reason: str = ""
    said: tuple[str, ...] = ()


class VerificationReport(Struct, frozen=True):
    """The answers of one server to all findings of one report (``file``); ``server`` is its version."""

    KIND: ClassVar[Literal["verify"]] = "verify"

    file: str
    old: Release
    new: Release
    context: str
    server: str
    findings: tuple[VerifiedFinding, ...]
    problems: tuple[Problem, ...] = ()

    def by_outcome(self) -> dict[Outcome, int]:
        """How many findings have which outcome."""
        return counted(Outcome, (finding.outcome for finding in self.findings))

    @property
    def refuted(self) -> bool:
        """Whether the server contradicts a finding."""
        return bool(self.by_outcome()[Outcome.REFUTED])

    @property
    def nothing_tested(self) -> bool:
        """Whether there were findings, and no answer to any."""
        return bool(self.findings) and self.by_outcome()[Outcome.NOT_TESTABLE] == len(self.findings)

    @property
    def judgement(self) -> Judgement:
        """What decides the exit code: a refuted finding is an error."""
        return Judgement(Severity.ERROR if self.refuted else None, is_undone=bool(self.problems) or self.nothing_tested)


class ClaimingReport(Struct, frozen=True):
    """A JSON report: its file, its releases, and its findings."""

    file: str
    old: Release
    new: Release
    claims: tuple[Claim, ...]
