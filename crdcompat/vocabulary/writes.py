"""Writes of recorded objects and their results (docs/cluster.md#the-kinds-of-write)."""

from __future__ import annotations

from enum import StrEnum

from crdcompat.vocabulary import Ordered


class WriteKind(StrEnum):
    """The writes that a simulation tries for each object (docs/cluster.md#the-kinds-of-write)."""

    STATUS_UPDATE = "status-update"
    STATUS_UPDATE_TOUCHING = "status-update-touching"
    SPEC_UPDATE = "spec-update"
    METADATA_UPDATE = "metadata-update"
    FINALIZER_REMOVAL = "finalizer-removal"
    APPLY = "apply"
    CREATE = "create"
    """A restore from a backup, which no rollback does: it never makes a rollback blocked."""


#: The writes that a cluster does after a rollback; their answers make the verdict on an object.
COUNTED_WRITES = tuple(kind for kind in WriteKind if kind is not WriteKind.CREATE)


#: The type of a cause that is no field error: the API server answers 404, because the CRD of the judging release lacks
#: the version (then the path is "") or the endpoint (``status``).
NOT_FOUND = "NotFound"


#: The writes that leave a bad value alone, if there is another thing to change.
ORDINARY = frozenset(WriteKind) - {WriteKind.STATUS_UPDATE_TOUCHING, WriteKind.CREATE}

#: Those of them that leave spec and status as they are.
OF_THE_REST = frozenset({WriteKind.METADATA_UPDATE, WriteKind.FINALIZER_REMOVAL})


class Spared(StrEnum):
    """The updates that ratcheting lets pass: all that leave a part of the object as it is."""

    VALUE = "value"
    """Those that leave the value that breaks the schema."""
    LIST = "list"
    """Those that leave the whole list that the value is in, because ratcheting compares the list as one value."""


class Operation(StrEnum):
    """The write of an update, in the words of ``crdcompat judge``."""

    MAIN = "update"
    STATUS = "updateStatus"


class WriteResult(Ordered):
    """The result of one write of an object, the worst first."""

    REJECTED = "rejected"
    UNKNOWN = "unknown"
    LOSES_DATA = "loses-data"
    """Accepted, but the server prunes fields that the reader's schema lacks."""
    ACCEPTED = "accepted"


class Apart(StrEnum):
    """Rejections and losses that the writing release has as well: the move to another release does not cause them."""

    ALREADY = "already"
    """It rejects the writes as well."""
    NOT_STORED = "not-stored"
    """It prunes the fields as well: they are not in the stored object."""


class Endpoint(StrEnum):
    """The target of a write: the object itself or its /status."""

    MAIN = "main"
    STATUS = "status"


class RepairVerdict(StrEnum):
    """The single write that repairs a rejected object, or why there is none."""

    MAIN = "main"
    STATUS = "status"
    DEADLOCK = "deadlock"
    UNKNOWN = "unknown"
    NOT_NEEDED = "not-needed"


class ReleaseVerdict(Ordered):
    """Whether a cluster can move from one release to another, the worst first.

    A known rejection blocks, even if other objects could not be judged. Otherwise an incomplete judgement is unknown.
    """

    BLOCKED = "blocked"
    UNKNOWN = "unknown"
    AT_RISK = "at risk"
    CLEAN = "clean"
