"""SARIF documents, held to OASIS' schema where it is at hand."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
from json_schemas import Schema
from offline import SHARED
from report_samples import rendered

from crdcompat.models.report import Report

Run = dict[str, Any]
#: The fingerprint that follows a finding from run to run.
KEY = "crdcompatFinding/v1"


@cache
def sarif_schema() -> Any:
    """The schema of SARIF 2.1.0; in a clone without ../shared one that takes everything."""
    file = SHARED / "data/schemas/sarif-2.1.0.schema.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


@cache
def _validated() -> Schema:
    return Schema(sarif_schema(), jsonschema.Draft4Validator)


def one_run(report: Report) -> Run:
    """Render a report; its one run, if the document keeps to the schema and names each rule that it uses once."""
    data = json.loads(rendered(report, "sarif"))
    assert _validated().faults(data) == []
    (only,) = data["runs"]
    rules = only["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({result["ruleId"] for result in only["results"]})
    for result in only["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    return dict(only)
