"""The report of verify as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.render.data.parts import head, picked, problem, words

if TYPE_CHECKING:
    from crdcompat.models.verification import VerificationReport, VerifiedFinding


def verify_data(report: VerificationReport) -> dict[str, Any]:
    """Which findings a server confirmed, in its words."""
    return {
        **head("verify", report.old, report.new),
        "report": report.file,
        "server": {"context": report.context, "version": report.server},
        "summary": {
            "outcomes": words(report.by_outcome()),
            "problems": [problem(item) for item in report.problems],
        },
        "verified": [_finding(item) for item in report.findings],
    }


def _finding(item: VerifiedFinding) -> dict[str, Any]:
    return {
        **picked(item.claim, "id rule direction effect crd version path"),
        "outcome": item.outcome,
        "reason": item.reason or None,
        "said": list(item.said),
    }
