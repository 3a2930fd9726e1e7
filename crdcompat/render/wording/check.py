"""The title of a section of a check."""

from __future__ import annotations

from crdcompat.models.check import Section
from crdcompat.vocabulary import Against

#: Why an unreleased finding does not fail.
UNRELEASED_REASON = "no rollback target has what it breaks, so it does not fail"


def section_title(section: Section) -> str:
    """``What this change does``, or which rollback target it is compared with."""
    return (
        "What this change does"
        if section.against == Against.BASE
        else f"Against the rollback target {section.report.old.title}"
    )
