"""The state of a value that grows in two steps: accepted in one release, written from a later one."""

from __future__ import annotations

from enum import StrEnum


class GrowthState(StrEnum):
    """What a declaration of two-step growth means: for a rollback from NEW to OLD, which lacks the value, or an object.

    A finding about several places has the last state, in this order, of any of them.
    """

    ACCEPTED = "accepted"
    """NEW accepts the value and does not write it yet: the finding is no error."""
    WRITTEN = "written"
    """NEW writes the value, and OLD is before the release that accepts it: the finding counts."""
    UNKNOWN = "unknown"
    """The release of NEW is not known: the finding counts."""
    BROKEN = "broken"
    """OLD is declared to accept the value, and rejects it: an error."""
    EARLY = "early"
    """A recorded object holds the value before the release that writes it: an error."""
