"""Which servers accept which CRDs, as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.render.data.parts import head, picked, problem, release, skipped, words
from crdcompat.render.pages.servers import verdict

if TYPE_CHECKING:
    from crdcompat.models.servers import CrdRow, Need, ServersReport
    from crdcompat.vocabulary.server_names import ServerName


def servers_data(report: ServersReport) -> dict[str, Any]:
    """The answers of all servers; ``old`` and ``new`` are the first and the last source."""
    return {
        **head(report.command, report.sources[0], report.sources[-1]),
        "sources": [release(item) for item in report.sources],
        "servers": [name.id for name in report.servers],
        "notes": list(report.notes),
        "summary": {
            "verdict": verdict(report),
            "accepting": [name.id for name in report.accepting],
            "crds": words(report.by_answer()),
            "problems": [problem(item) for item in report.problems],
            "skipped": [skipped(item) for item in report.skipped],
        },
        "crds": [_row(row) for row in report.rows],
    }


def _row(row: CrdRow) -> dict[str, Any]:
    return {
        **picked(row, "crd kind source files"),
        "answers": [
            {
                "server": each.server.id,
                "answer": each.acceptance,
                **picked(each, "errors warnings dropped"),
            }
            for each in row.answers
        ],
        "needs": [_need(need) for need in row.needs],
    }


def _need(need: Need) -> dict[str, Any]:
    return {
        **picked(need, "kind what version path rule file line column"),
        "refused": [name.id for name in need.refused],
        "taken": [name.id for name in need.accepting],
        "since": _id(need.since),
        "until": _id(need.until),
        "said": need.message,
    }


def _id(name: ServerName | None) -> str | None:
    return name.id if name is not None else None
