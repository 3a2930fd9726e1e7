"""The words of the design (section 2) as values: each is its text, so that it compares, sorts and prints as that.

This package knows no other module of crdcompat: every room may use it. What only replays need is in ``writes``: a
class of an enum takes a tenth of a millisecond to make, and a check of no change waits for each.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Ordered(StrEnum):
    """Words in an order; ``rank`` is the place of one, 0 the first that is defined."""

    rank: int

    def __init__(self, _word: str) -> None:
        self.rank = len(self.__class__.__members__)


class Direction(StrEnum):
    """Whose objects meet whose schema; rollback, which nobody tests, comes first."""

    ROLLBACK = "rollback"
    """Objects valid under NEW meet OLD's schema."""
    UPGRADE = "upgrade"
    """Objects valid under OLD meet NEW's."""


class Side(StrEnum):
    """Which input something comes from."""

    OLD = "old"
    NEW = "new"
    OBJECTS = "objects"
    ANY = ""
    """It makes no difference."""


class Owner(Ordered):
    """Who writes a field, in the order of reports: controllers write status, by themselves."""

    STATUS = "status"
    SPEC = "spec"
    METADATA = "metadata"
    OTHER = "other"
    """A top-level field outside these."""
    CRD = "crd"
    """The change is one of the CRD itself."""


class Effect(StrEnum):
    """What the API server does (reference, section 13)."""

    CRD_REJECTED = "crd-rejected"
    WRITE_REJECTED = "write-rejected"
    REQUEST_FAILED = "request-failed"
    VALUE_PRUNED = "value-pruned"
    VALUE_DEFAULTED = "value-defaulted"
    NONE = "none"


class Severity(Ordered):
    """How much a finding matters, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    def at_least(self, threshold: Severity) -> bool:
        """Whether it is as high as ``threshold`` or higher."""
        return self.rank <= threshold.rank

    @property
    def lowered(self) -> Severity:
        """One step lower."""
        return Severity.WARNING if self is Severity.ERROR else Severity.INFO


class FailOn(StrEnum):
    """From which severity on the exit code is 1."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"
    UNDECIDED = "undecided"
    NEVER = "never"


class FindingStatus(StrEnum):
    """Whether the change under review makes a finding, or it was there before."""

    NEW = "new"
    EXISTING = "existing"


class Against(StrEnum):
    """What a section of a check compares the head with: its merge base, or a release that a rollback may go to."""

    BASE = "base"
    TARGET = "target"


class ExitCode(IntEnum):
    """How a command ends (design, section 8); ``judge``: accepted, rejected, not judged."""

    CLEAN = 0
    FOUND = 1
    NOT_DONE = 2
    CRASHED = 3
