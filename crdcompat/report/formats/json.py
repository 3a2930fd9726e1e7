"""The JSON report, format "1" (design, section 7): sorted, byte-identical over two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from crdcompat import __version__
from crdcompat.report.check_model import CheckReport
from crdcompat.report.diff_model import DiffReport, UndecidedEntry
from crdcompat.report.model import FORMAT, Release
from crdcompat.report.reports import Report
from crdcompat.report.simulation_model import SimulatedObject, SimulationReport

if TYPE_CHECKING:
    from crdcompat.policy.findings import Finding, Location
    from crdcompat.problems import Problem, Skipped
    from crdcompat.report.fleet_model import FleetReport
    from crdcompat.report.matrix_model import Cell, Cluster, MatrixReport
    from crdcompat.report.style import Style

NAME = "json"


def render(report: Report, style: Style) -> str:
    """The report as JSON text; ``style`` plays no part."""
    if isinstance(report, SimulationReport):
        data = simulation_data(report)
    else:
        data = check_data(report) if isinstance(report, CheckReport) else diff_data(report)
    return _text(data)


def render_fleet(report: FleetReport, style: Style) -> str:
    """A report on many clusters as JSON text; ``style`` plays no part."""
    return _text(fleet_data(report))


def _text(data: dict[str, Any]) -> str:
    return orjson.dumps(data, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def diff_data(report: DiffReport) -> dict[str, Any]:
    """A diff report as JSON data."""
    counts = report.counts
    return {
        **_head(report.command, report.old, report.new),
        "summary": {
            "crds": {
                "old": counts.old,
                "new": counts.new,
                "compared": counts.compared,
                "changed": counts.changed,
                "only_old": list(counts.only_old),
                "only_new": list(counts.only_new),
                "apart": list(counts.apart),
            },
            "findings": {
                **report.by_severity(),
                "waived": sum(finding.waiver is not None for finding in report.findings),
                "existing": sum(finding.status == "existing" for finding in report.findings),
            },
            "contexts": list(counts.contexts),
            "contexts_only_old": list(counts.contexts_only_old),
            "contexts_only_new": list(counts.contexts_only_new),
            "text_only_changes": len(counts.text_changes),
            "without_effect": counts.harmless,
            "unread": counts.unread,
            "superseded": [{"crd": crd, "file": file, "by": by} for crd, file, by in counts.superseded],
            "skipped": [_skipped(item) for item in report.skipped],
            "problems": [_problem(item) for item in report.problems],
            "remarks": [_problem(item) for item in report.remarks],
        },
        "undecided": [_undecided(item) for item in report.undecided],
        "unexplained": list(report.unexplained),
        "findings": [_finding(item) for item in report.findings],
    }


def check_data(report: CheckReport) -> dict[str, Any]:
    """A check as JSON data: one section for the base and each target, each a diff report of its own."""
    return {
        **_head("check", report.sections[0].report.old if report.sections else report.head, report.head),
        "notes": list(report.notes),
        "waivers": list(report.waivers),
        "summary": {"findings": report.by_severity(), "problems": [_problem(item) for item in report.problems]},
        "sections": [{"against": section.against, **diff_data(section.report)} for section in report.sections],
    }


def simulation_data(report: SimulationReport, *, all_objects: bool = True) -> dict[str, Any]:
    """A simulation report as JSON data; without ``all_objects`` those are left out that every write is accepted of."""
    shown = [item for item in report.objects if all_objects or item.worst != "accepted"]
    return {
        **_head("simulate", report.old, report.new),
        "direction": report.direction,
        "summary": {
            "objects": {"simulated": len(report.objects), "not_simulated": len(report.not_simulated)},
            "verdicts": report.by_verdict(),
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
                    "location": _location(item.location) if item.location is not None else None,
                    "example": item.example,
                }
                for item in report.causes
            ],
            "skipped": [_skipped(item) for item in report.skipped],
            "problems": [_problem(item) for item in report.problems],
        },
        "objects": [_object(item) for item in shown],
        "not_simulated": [
            {"object": item.object, "source": item.source, "reason": item.reason} for item in report.not_simulated
        ],
    }


def fleet_data(report: FleetReport) -> dict[str, Any]:
    """A report on many clusters as JSON data."""
    from crdcompat.report.json_fleet import fleet_body

    body = fleet_body(report, _location)
    read = {
        "problems": [_problem(item) for item in report.problems],
        "skipped": [_skipped(item) for item in report.left_out],
    }
    return {
        **_head(report.command, report.old, report.new),
        **body,
        "targets": [_release(release) for release in report.targets],
        "summary": {**body["summary"], **read},
    }


def render_matrix(report: MatrixReport, style: Style) -> str:
    """A matrix as JSON text; ``style`` plays no part."""
    return _text(matrix_data(report))


def matrix_data(report: MatrixReport) -> dict[str, Any]:
    """A matrix as JSON data: each cell is a diff report of one direction, with its verdict and what blocks."""
    return {
        **_head(report.command, report.releases[0], report.releases[-1]),
        "releases": [_release(item) for item in report.releases],
        "notes": list(report.notes),
        "summary": {"verdicts": report.by_verdict(), "problems": [_problem(item) for item in report.problems]},
        "cells": [_cell(cell) for cell in report.cells],
        "cluster": _cluster(report.cluster) if report.cluster is not None else None,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "from": cell.origin,
        "to": cell.target,
        "direction": cell.direction,
        "verdict": cell.verdict,
        "unjudged": list(cell.unjudged),
        "by_owner": cell.by_owner(),
        "blocking_crds": list(cell.blocking_crds),
        "blockers": [
            {
                "id": blocker.finding.id,
                "rule": blocker.finding.rule,
                "crd": blocker.finding.crd,
                "path": blocker.finding.path,
                "since": blocker.since,
                "values": [{"value": each.value, "since": each.release} for each in blocker.values],
            }
            for blocker in cell.blockers
        ],
        **diff_data(cell.report),
    }


def _cluster(cluster: Cluster) -> dict[str, Any]:
    """How far back the cluster can go; of its objects those that are not accepted as they are."""
    from crdcompat.report.losses import losses

    return {
        "sources": list(cluster.sources),
        "version": cluster.version,
        "from": cluster.origin,
        "notes": list(cluster.notes),
        "targets": [
            {
                "to": target.target,
                "verdict": target.verdict,
                "unjudged": list(target.unjudged),
                "lost": [
                    {
                        "crd": loss.crd,
                        "kind": loss.kind,
                        "path": loss.path,
                        "objects": loss.objects,
                        "example": loss.example,
                    }
                    for loss in losses(target.report)
                ],
                **simulation_data(target.report, all_objects=False),
            }
            for target in cluster.targets
        ],
    }


def _head(command: str, old: Release, new: Release) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "tool": {"name": "crdcompat", "version": __version__},
        "command": command,
        "old": _release(old),
        "new": _release(new),
    }


def _release(release: Release) -> dict[str, Any]:
    return {
        "name": release.name,
        "commit": release.commit,
        "kubernetes": release.kubernetes,
        "notes": list(release.notes),
    }


def _skipped(item: Skipped) -> dict[str, Any]:
    return {"file": item.file, "reason": item.reason, "side": item.side}


def _problem(item: Problem) -> dict[str, Any]:
    return {"file": item.file, "line": item.line, "message": item.message, "side": item.side}


def _location(item: Location) -> dict[str, Any]:
    return {"side": item.side, "kind": item.kind, "file": item.file, "line": item.line, "column": item.column}


def _undecided(item: UndecidedEntry) -> dict[str, Any]:
    return {
        "crd": item.crd,
        "version": item.version,
        "contexts": list(item.contexts),
        "path": item.path,
        "keyword": item.keyword,
        "old": item.old,
        "new": item.new,
        "reason": item.reason,
        "locations": [_location(location) for location in item.locations],
    }


def _finding(item: Finding) -> dict[str, Any]:
    return {
        "id": item.id,
        "rule": item.rule,
        "change": item.change,
        "direction": item.direction,
        "effect": item.effect,
        "severity": item.severity,
        "crd": item.crd,
        "kind": item.kind,
        "version": item.version,
        "contexts": list(item.contexts),
        "path": item.path,
        "owner": item.owner,
        "old": item.old,
        "new": item.new,
        "added": list(item.added),
        "removed": list(item.removed),
        "message": item.message,
        "witness": {
            "object": item.witness.object,
            "errors": list(item.witness.errors),
            "pruned": list(item.witness.pruned),
            "defaulted": list(item.witness.defaulted),
            "reason": item.witness.reason,
        },
        "windows": item.windows,
        "status": item.status,
        "introduced_by": item.introduced_by,
        "places": list(item.places),
        "locations": [_location(location) for location in item.locations],
        "evidence": item.evidence,
        "waiver": item.waiver,
        "ended_waiver": item.ended or None,
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
            name: {
                "verdict": write.verdict,
                "errors": list(write.errors),
                "message": write.message,
                **({"note": write.note} if write.note else {}),
            }
            for name, write in item.writes.items()
        },
        "pruned": list(item.pruned),
        "defaulted": list(item.defaulted),
        "repair": item.repair,
    }
