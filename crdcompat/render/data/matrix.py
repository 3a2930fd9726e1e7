"""A matrix as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from crdcompat.models.losses import losses
from crdcompat.render.data.diff import diff_data
from crdcompat.render.data.parts import head, picked, problem, release, words
from crdcompat.render.data.simulation import loss_data, simulation_data

if TYPE_CHECKING:
    from crdcompat.models.matrix import Cell, MatrixCluster, MatrixReport


def matrix_data(report: MatrixReport) -> dict[str, Any]:
    """A matrix as JSON data: each cell is a diff report of one direction, with its verdict and blockers."""
    return {
        **head(report.command, report.releases[0], report.releases[-1]),
        "releases": [release(item) for item in report.releases],
        "notes": list(report.notes),
        "summary": {"verdicts": words(report.by_verdict()), "problems": [problem(item) for item in report.problems]},
        "cells": [_cell(cell) for cell in report.cells],
        "cluster": _cluster(report.cluster) if report.cluster is not None else None,
    }


def _cell(cell: Cell) -> dict[str, Any]:
    return {
        "from": cell.origin,
        "to": cell.target,
        "direction": cell.direction,
        "verdict": cell.verdict,
        **({"upgrade": cell.upgrade} if cell.upgrade else {}),
        "unjudged": list(cell.unjudged),
        "by_owner": {owner.value: words(found) for owner, found in cell.by_owner().items()},
        "blocking_crds": list(cell.blocking_crds),
        "blockers": [
            {
                **picked(blocker.finding, "id rule crd path"),
                "since": blocker.since,
                "values": [{"value": each.value, "since": each.release} for each in blocker.values],
            }
            for blocker in cell.blockers
        ],
        **diff_data(cell.report),
        **({"installers": [to_builtins(each) for each in cell.installers]} if cell.installers else {}),
    }


def _cluster(cluster: MatrixCluster) -> dict[str, Any]:
    """How far back the cluster can go, and its objects that are not accepted unchanged."""
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
                "lost": [loss_data(loss) for loss in losses(target.report)],
                **simulation_data(target.report, all_objects=False),
            }
            for target in cluster.targets
        ],
    }
