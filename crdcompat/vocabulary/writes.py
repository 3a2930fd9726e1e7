"""Writes of recorded objects and what comes of them (design, section 5)."""

from __future__ import annotations

from enum import StrEnum

from crdcompat.vocabulary import Ordered


class WriteKind(StrEnum):
    """The writes that a simulation makes of each object (design, section 5)."""

    STATUS_UPDATE = "status-update"
    STATUS_UPDATE_TOUCHING = "status-update-touching"
    SPEC_UPDATE = "spec-update"
    METADATA_UPDATE = "metadata-update"
    FINALIZER_REMOVAL = "finalizer-removal"
    APPLY = "apply"
    CREATE = "create"


class WriteResult(Ordered):
    """What comes of one write of an object, the worst first."""

    REJECTED = "rejected"
    UNKNOWN = "unknown"
    LOSES_DATA = "loses-data"
    """Accepted, and fields that the reader's schema lacks are erased."""
    ACCEPTED = "accepted"


class Endpoint(StrEnum):
    """Where a write goes: to the object itself or to its /status."""

    MAIN = "main"
    STATUS = "status"


class RepairVerdict(StrEnum):
    """Which single write brings a rejected object back."""

    MAIN = "main"
    STATUS = "status"
    DEADLOCK = "deadlock"
    UNKNOWN = "unknown"
    NOT_NEEDED = "not-needed"


class ReleaseVerdict(Ordered):
    """Whether a cluster can go from one release to another, the worst first.

    What is known to block blocks, whatever else was not judged; of what was not judged in full nothing better than
    unknown is said.
    """

    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    AT_RISK = "at risk"
    CLEAN = "clean"
