"""A report on many clusters as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.render.data.parts import growth_data, head, location, picked, problem, release, skipped, words

if TYPE_CHECKING:
    from crdcompat.models.fleet import FleetCluster, FleetFinding, FleetReport


def fleet_data(report: FleetReport) -> dict[str, Any]:
    """A report on many clusters as JSON data, with an empty list in the place of the clusters."""
    return {
        **head(report.command, report.old, report.new),
        "direction": report.direction,
        "summary": {
            "clusters": len(report.clusters),
            "recordings": {"read": report.recordings - len(report.unread), "unread": len(report.unread)},
            "objects": report.objects,
            "verdicts": {target.name: words(report.by_verdict(target.name)) for target in report.targets},
            "problems": [problem(item) for item in report.problems],
            "skipped": [skipped(item) for item in report.left_out],
        },
        "unread": [picked(item, "recording reason") for item in report.unread],
        "findings": [_finding(item) for item in report.findings],
        "unjudged": [picked(item, "reason targets clusters objects example") for item in report.unjudged],
        "clusters": [],
        "notes": list(report.notes),
        "targets": [release(item) for item in report.targets],
    }


def _finding(item: FleetFinding) -> dict[str, Any]:
    return {
        **picked(item, "id crd kind path type endpoint clusters"),
        "targets": [
            {
                **picked(share, "target clusters objects"),
                "values": [picked(held, "value clusters") for held in share.values],
                "location": location(share.location) if share.location is not None else None,
            }
            for share in item.targets
        ],
        "example": item.example,
        **({"growth": growth_data(item.growth)} if item.growth is not None else {}),
    }


def cluster_data(item: FleetCluster) -> dict[str, Any]:
    """One cluster as JSON data."""
    return {
        **picked(item, "name recordings id version platform objects outside farthest"),
        "targets": [
            {
                "target": standing.target,
                "verdict": standing.verdict,
                "objects": words(standing.objects),
                **picked(standing, "findings unjudged unjudged_objects"),
            }
            for standing in item.verdicts
        ],
    }
