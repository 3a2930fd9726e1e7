"""A simulation as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from crdcompat.models.simulation import Loss, not_stored
from crdcompat.render.data.parts import growth_data, head, location, picked, problem, skipped, words
from crdcompat.vocabulary.writes import WriteResult

if TYPE_CHECKING:
    from crdcompat.models.simulation import RejectedCause, SimulatedObject, SimulationReport

#: The fields of a finding that cannot show in the recorded objects.
_HIDDEN = "id rule severity crd version path"


def simulation_data(report: SimulationReport, *, all_objects: bool = True) -> dict[str, Any]:
    """A simulation report as JSON data; without ``all_objects`` it omits objects of which every write is accepted."""
    shown = [item for item in report.objects if all_objects or item.worst != WriteResult.ACCEPTED]
    fields = not_stored(report)
    return {
        **head("simulate", report.old, report.new),
        "direction": report.direction,
        "notes": list(report.notes),
        "summary": {
            "objects": {"simulated": len(report.objects), "not_simulated": len(report.not_simulated)},
            "verdicts": words(report.by_verdict()),
            "causes": [cause_data(item) for item in report.causes],
            **({"already": [cause_data(item) for item in report.already]} if report.already else {}),
            **({"not_stored": [loss_data(item) for item in fields]} if fields else {}),
            **({"hidden": [picked(item, _HIDDEN) for item in report.hidden]} if report.hidden else {}),
            **({"unrecorded": [to_builtins(item) for item in report.unrecorded]} if report.unrecorded else {}),
            "skipped": [skipped(item) for item in report.skipped],
            "problems": [problem(item) for item in report.problems],
        },
        "objects": [_object(item) for item in shown],
        "not_simulated": [picked(item, "object source reason") for item in report.not_simulated],
    }


def cause_data(item: RejectedCause) -> dict[str, Any]:
    """Values that the judging release rejects."""
    return {
        **picked(item, "crd kind path type values objects total endpoint"),
        "location": location(item.location) if item.location is not None else None,
        "example": item.example,
        **({"growth": growth_data(item.growth)} if item.growth is not None else {}),
    }


def loss_data(item: Loss) -> dict[str, Any]:
    """A field that objects lose or do not store."""
    return picked(item, "crd kind path objects example")


def _object(item: SimulatedObject) -> dict[str, Any]:
    return {
        "object": {
            "apiVersion": item.api_version,
            **picked(item, "kind namespace name"),
        },
        **picked(item, "source crd version"),
        "writes": {
            name.value: {
                **picked(write, "verdict errors message"),
                **({"note": write.note} if write.note else {}),
                **({"already": True} if write.already else {}),
                **({"manager": write.manager} if write.manager else {}),
                **({"accepted_without": list(write.accepted_without)} if write.accepted_without else {}),
            }
            for name, write in item.writes.items()
        },
        **picked(item, "pruned defaulted"),
        **({"not_stored": list(item.not_stored)} if item.not_stored else {}),
        "repair": {
            **picked(item.repair, "verdict patch"),
            **({"note": item.repair.note} if item.repair.note else {}),
        },
    }
