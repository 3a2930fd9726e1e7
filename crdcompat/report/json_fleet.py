"""A report on many clusters as JSON data, format "1"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from crdcompat.policy.findings import Location
    from crdcompat.report.fleet_model import FleetCluster, FleetFinding, FleetReport


def fleet_body(report: FleetReport, location: Callable[[Location], dict[str, Any]]) -> dict[str, Any]:
    """All but what every report begins with, ``targets`` and what could not be read."""
    return {
        "direction": report.direction,
        "summary": {
            "clusters": len(report.clusters),
            "recordings": {"read": report.recordings - len(report.unread), "unread": len(report.unread)},
            "objects": report.objects,
            "verdicts": {release.name: report.by_verdict(release.name) for release in report.targets},
        },
        "unread": [{"recording": item.recording, "reason": item.reason} for item in report.unread],
        "findings": [_finding(item, location) for item in report.findings],
        "unjudged": [
            {
                "reason": item.reason,
                "targets": list(item.targets),
                "clusters": item.clusters,
                "objects": item.objects,
                "example": item.example,
            }
            for item in report.unjudged
        ],
        "clusters": [_cluster(item) for item in report.clusters],
        "notes": list(report.notes),
    }


def _finding(item: FleetFinding, location: Callable[[Location], dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": item.id,
        "crd": item.crd,
        "kind": item.kind,
        "path": item.path,
        "type": item.type,
        "endpoint": item.endpoint,
        "clusters": item.clusters,
        "targets": [
            {
                "target": share.target,
                "clusters": share.clusters,
                "objects": share.objects,
                "values": [{"value": held.value, "clusters": held.clusters} for held in share.values],
                "location": location(share.location) if share.location is not None else None,
            }
            for share in item.targets
        ],
        "example": item.example,
    }


def _cluster(item: FleetCluster) -> dict[str, Any]:
    return {
        "name": item.name,
        "recordings": list(item.recordings),
        "id": item.id,
        "version": item.version,
        "objects": item.objects,
        "outside": item.outside,
        "farthest": item.farthest,
        "targets": [
            {
                "target": standing.target,
                "verdict": standing.verdict,
                "objects": dict(standing.objects),
                "findings": list(standing.findings),
                "unjudged": list(standing.unjudged),
                "unjudged_objects": standing.unjudged_objects,
            }
            for standing in item.standings
        ],
    }
