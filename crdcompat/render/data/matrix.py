"""A matrix as JSON data, format "2": what cells share stands once, in tables, and cells name it by its position.

Each pair of releases has most of its changes in common with other pairs: written out in each cell, thirteen releases of
a large API are 140 MB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from crdcompat.models.simulation import losses
from crdcompat.render.data.diff import diff_data
from crdcompat.render.data.parts import head, picked, problem, release, words
from crdcompat.render.data.simulation import loss_data, simulation_data
from crdcompat.render.escape import json_text

if TYPE_CHECKING:
    from crdcompat.models.matrix import Cell, MatrixCluster, MatrixReport


#: Members of the report on a comparison that say in each cell what the matrix says once.
_OF_THE_WHOLE = frozenset({"format", "tool", "command"})
#: The format of this report. Format "1", which other reports have, would repeat whole findings in each cell.
FORMAT = "2"


class _Tables:
    """The tables that cells share. A table holds each value once, in the order in which cells first name it."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Any]] = {"findings": [], "messages": [], "locations": [], "without_effect": []}
        self.rows["skipped"] = []
        self._known: dict[tuple[str, str], int] = {}

    def at(self, table: str, value: Any) -> int:
        """The position of a value in a table, of which it becomes the last where it is new."""
        rows = self.rows[table]
        found = self._known.setdefault((table, json_text(value)), len(rows))
        if found == len(rows):
            rows.append(value)
        return found

    def finding(self, data: dict[str, Any]) -> dict[str, int]:
        """The positions of a finding, its message and its locations. Message and locations differ from pair to pair."""
        apart = {"message": data.pop("message"), "locations": data.pop("locations")}
        found = {"finding": self.at("findings", data)}
        return found | {
            name: self.at(table, apart[name]) for name, table in (("message", "messages"), ("locations", "locations"))
        }


def matrix_data(report: MatrixReport) -> dict[str, Any]:
    """A matrix as JSON data: each cell is a diff report of one direction, with its verdict and blockers."""
    tables = _Tables()
    cells = [_cell(cell, tables) for cell in report.cells]
    return {
        **head(report.command, report.releases[0], report.releases[-1]),
        "format": FORMAT,
        "releases": [release(item) for item in report.releases],
        "notes": list(report.notes),
        "summary": {"verdicts": words(report.by_verdict()), "problems": [problem(item) for item in report.problems]},
        "cells": cells,
        **tables.rows,
        "cluster": _cluster(report.cluster) if report.cluster is not None else None,
    }


def _cell(cell: Cell, tables: _Tables) -> dict[str, Any]:
    compared = diff_data(cell.report)
    skipped = [tables.at("skipped", each) for each in compared["summary"]["skipped"]]
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
        **{name: value for name, value in compared.items() if name not in _OF_THE_WHOLE},
        "summary": {**compared["summary"], "skipped": skipped},
        "without_effect": [tables.at("without_effect", each) for each in compared["without_effect"]],
        "findings": [tables.finding(each) for each in compared["findings"]],
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
