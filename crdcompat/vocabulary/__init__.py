"""The terms of the glossary (CONTRIBUTING.md#glossary) as string enums.

This package imports no other module of crdcompat, so every package may use it. Terms that only replays need are in
``writes``: creating an enum class costs 0.1 ms, which a check without changes should not pay.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum

#: Replaces, in reports, a value of a recorded or judged object that is not to be published.
HIDDEN = "<hidden>"
#: The name of the cluster that the program runs in, as a pod with a service account.
IN_CLUSTER = "in-cluster"


class Ordered(StrEnum):
    """Terms with an order; ``rank`` is the index of definition, from 0."""

    rank: int

    def __init__(self, _word: str) -> None:
        self.rank = len(self.__class__.__members__)


class Direction(StrEnum):
    """Which side writes objects and which reads them. Rollback comes first, because it is rarely tested."""

    ROLLBACK = "rollback"
    """OLD reads objects that are valid under NEW."""
    UPGRADE = "upgrade"
    """NEW reads objects that are valid under OLD."""


class Side(StrEnum):
    """The input that a value comes from."""

    OLD = "old"
    NEW = "new"
    OBJECTS = "objects"
    ANY = ""
    """No particular input."""


class Owner(Ordered):
    """The part of an object that a field is in, in the order of reports. Controllers write status without users."""

    STATUS = "status"
    SPEC = "spec"
    METADATA = "metadata"
    OTHER = "other"
    """A top-level field outside these."""
    CRD = "crd"
    """Not a field: the change is one of the CRD itself."""


class Effect(StrEnum):
    """The API server's reaction (docs/judging.md#effects)."""

    CRD_REJECTED = "crd-rejected"
    WRITE_REJECTED = "write-rejected"
    REQUEST_FAILED = "request-failed"
    VALUE_PRUNED = "value-pruned"
    VALUE_DEFAULTED = "value-defaulted"
    NONE = "none"


class Severity(Ordered):
    """Severity of a finding, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    def at_least(self, threshold: Severity) -> bool:
        """Whether the severity is ``threshold`` or higher."""
        return self.rank <= threshold.rank

    @property
    def lowered(self) -> Severity:
        """The next lower severity; INFO stays INFO."""
        return Severity.WARNING if self is Severity.ERROR else Severity.INFO


class FailOn(StrEnum):
    """The lowest severity with exit code 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    UNDECIDED = "undecided"
    NEVER = "never"

    @property
    def least(self) -> Severity | None:
        """The lowest severity of a finding that fails; None: no finding does."""
        match self:
            case FailOn.NEVER:
                return None
            case FailOn.UNDECIDED:
                return Severity.INFO
        return Severity(self)


class FindingStatus(StrEnum):
    """Whether the change under review adds a finding, or the base has it already.

    ``unreleased``: the change adds it, and no rollback target has what it breaks. Only a new finding can fail a run.
    """

    NEW = "new"
    EXISTING = "existing"
    UNRELEASED = "unreleased"


class Against(StrEnum):
    """The other side of a section of check: the merge base, or a target (a release to roll back to)."""

    BASE = "base"
    TARGET = "target"


class ExitCode(IntEnum):
    """Exit codes (docs/formats.md#exit-codes). For ``judge`` they mean accepted, rejected, not judged."""

    CLEAN = 0
    FOUND = 1
    NOT_DONE = 2
    CRASHED = 3
