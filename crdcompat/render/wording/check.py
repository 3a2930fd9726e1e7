"""How a section of a check is named."""

from __future__ import annotations

from crdcompat.models.check import Section
from crdcompat.vocabulary import Against


def section_title(section: Section) -> str:
    """What a section of a check is about."""
    return (
        "What this change does"
        if section.against == Against.BASE
        else f"Against the rollback target {section.report.old.name}"
    )
