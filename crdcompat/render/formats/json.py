"""The JSON report, format "1", of a matrix "2" (docs/formats.md): sorted, byte-identical over two runs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import orjson

from crdcompat.render.escape import Style, json_text
from crdcompat.render.formats import COMPARISONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.models.fleet import FleetReport
    from crdcompat.models.report import AnyReport

NAME = "json"
KINDS = (*COMPARISONS, "matrix", "fleet", "verify", "servers", "preflight", "versions")
#: A check consists of comparisons: their module makes its data, too.
_MODULES = {"check": "diff"}
#: The member of the report on a fleet that is written cluster by cluster. No string of JSON has a line break.
_CLUSTERS = '\n  "clusters": ['


def render(report: AnyReport, style: Style) -> str | Iterator[str]:
    """The report as JSON text; of ``style`` only ``allowed`` counts. ``render/data`` has a function for each kind."""
    module = import_module(f"crdcompat.render.data.{_MODULES.get(report.KIND, report.KIND)}")
    data: dict[str, Any] = getattr(module, f"{report.KIND}_data")(report)
    match report.KIND:
        case "preflight" | "servers" | "verify":
            pass  # their answer is another one
        case _:
            data["verdict"] = report.verdict
            data.update({"allowed_by": style.allowed} if style.allowed else {})
    match report.KIND:
        case "fleet":
            return _with_clusters(report, _text(data))
        case "matrix":
            return _rows(data)
    return _text(data)


def _rows(data: dict[str, Any]) -> Iterator[str]:
    """The report on a matrix: each cell, and each row of a table, in a line of its own."""
    mark = "{"
    for name, value in data.items():
        yield f"{mark}\n  {json_text(name)}: "
        mark = ","
        if isinstance(value, list) and value:
            yield from (f"{',' if index else '['}\n    {json_text(each)}" for index, each in enumerate(value))
            yield "\n  ]"
        else:
            yield json_text(value)
    yield "\n}\n"


def _with_clusters(report: FleetReport, text: str) -> Iterator[str]:
    """The report on a fleet with its clusters, which are made one by one."""
    from crdcompat.render.data.fleet import cluster_data

    before, opening, after = text.partition(_CLUSTERS)
    yield before + opening
    mark = ""
    for cluster in report.clusters:
        lines = _text(cluster_data(cluster)).rstrip("\n").replace("\n", "\n    ")
        yield f"{mark}\n    {lines}"
        mark = ","
    yield f"\n  {after}" if mark else after


def _text(data: dict[str, Any]) -> str:
    return json_text(data, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
