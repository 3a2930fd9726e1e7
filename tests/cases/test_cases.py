"""Every folder here is a case: old/ and new/, the findings that must come out, and how the run ends.

``expected.json`` lists all findings; ``run.json``, where there is one, the exit code (else 1), CRDs compared, the
contexts of each finding, reasons of skipped files, and files with problems or remarks.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, run, spawn

HERE = Path(__file__).resolve().parent
CASES = sorted(path.parent for path in HERE.rglob("expected.json"))
AS_PROCESSES = {"files/several-in-one-file", "contexts/promoted-feature", "files/broken-document-between"}
SHOWN = ("direction", "rule", "severity", "path", "added", "removed", "effect")


def _name(case: Path) -> str:
    return case.relative_to(HERE).as_posix()


def _plain(findings: list[Json]) -> list[str]:
    """Findings as sorted text, in which 1, 1.0, "1" and true differ."""
    return sorted(json.dumps([finding[key] for key in SHOWN]) for finding in findings)


def test_there_are_cases() -> None:
    assert len(CASES) >= 30


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_case(case: Path) -> None:
    expected: list[Json] = json.loads((case / "expected.json").read_text())
    more: dict[str, Any] = json.loads((case / "run.json").read_text()) if (case / "run.json").exists() else {}
    start = spawn if _name(case) in AS_PROCESSES else run
    ran = start("diff", "./old", "./new", "--format", "json", cwd=case)
    report = ran.report
    assert _plain(report["findings"]) == _plain(expected)
    assert ran.code == more.get("exit", 1)
    assert ran.err == ""
    assert report["summary"]["crds"]["compared"] == more.get("crds", 1)
    assert sorted(problem["file"] for problem in report["summary"]["problems"]) == more.get("problems", [])
    assert sorted(remark["file"] for remark in report["summary"]["remarks"]) == more.get("remarks", [])
    reasons = {entry["file"]: entry["reason"] for entry in report["summary"]["skipped"]}
    assert more.get("skipped", {}).items() <= reasons.items()
    if "contexts" in more:
        assert [finding["contexts"] for finding in report["findings"]] == more["contexts"]
    for finding in report["findings"]:
        assert finding["witness"]["object"] is not None
        assert {place["side"] for place in finding["locations"]} == {"old", "new"}
        assert all(place["line"] for place in finding["locations"])
