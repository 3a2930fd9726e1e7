"""A simulation as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.render.data.parts import head, location, problem, skipped, words
from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from crdcompat.models.simulation import SimulatedObject, SimulationReport


def simulation_data(report: SimulationReport, *, all_objects: bool = True) -> dict[str, Any]:
    """A simulation report as JSON data; without ``all_objects`` it omits objects of which every write is accepted."""
    shown = [item for item in report.objects if all_objects or item.worst != WriteResult.ACCEPTED]
    return {
        **head("simulate", report.old, report.new),
        "direction": report.direction,
        "notes": list(report.notes),
        "summary": {
            "objects": {"simulated": len(report.objects), "not_simulated": len(report.not_simulated)},
            "verdicts": words(report.by_verdict()),
            "causes": [
                {
                    "crd": item.crd,
                    "kind": item.kind,
                    "path": item.path,
                    "type": item.type,
                    "values": list(item.values),
                    "objects": item.objects,
                    "total": item.total,
                    "endpoint": item.endpoint,
                    "location": location(item.location) if item.location is not None else None,
                    "example": item.example,
                }
                for item in report.causes
            ],
            "skipped": [skipped(item) for item in report.skipped],
            "problems": [problem(item) for item in report.problems],
        },
        "objects": [_object(item) for item in shown],
        "not_simulated": [
            {"object": item.object, "source": item.source, "reason": item.reason} for item in report.not_simulated
        ],
    }


def _object(item: SimulatedObject) -> dict[str, Any]:
    return {
        "object": {
            "apiVersion": item.api_version,
            "kind": item.kind,
            "namespace": item.namespace,
            "name": item.name,
        },
        "source": item.source,
        "crd": item.crd,
        "version": item.version,
        "writes": {
            name.value: {
                "verdict": write.verdict,
                "errors": list(write.errors),
                "message": write.message,
                **({"note": write.note} if write.note else {}),
            }
            for name, write in item.writes.items()
        },
        "pruned": list(item.pruned),
        "defaulted": list(item.defaulted),
        "repair": {
            "verdict": item.repair.verdict,
            "patch": item.repair.patch,
            **({"note": item.repair.note} if item.repair.note else {}),
        },
    }
