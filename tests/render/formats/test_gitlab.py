"""GitLab Code Quality: what its documentation asks of each issue."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from helpers import crd, obj, root, run, string, write
from msgspec.structs import replace
from report_samples import HOSTILE, check, compared, empty_check, hostile_check, rendered, replayed, sample, unreadable
from report_samples import OLD as SAME

from crdcompat.models.finding import Location
from crdcompat.models.report import Report


def _issues(report: Report) -> list[dict[str, Any]]:
    issues: list[dict[str, Any]] = json.loads(rendered(report, "gitlab"))
    for issue in issues:
        assert list(issue) == ["description", "check_name", "fingerprint", "severity", "location"] + (
            ["findings"] if "findings" in issue else []
        )
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert isinstance(issue["location"]["path"], str)
        assert issue["location"]["lines"]["begin"] >= 1
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    return issues


def test_issues(tmp_path: Path) -> None:
    report = sample(tmp_path)
    issues = _issues(report)
    assert [(issue["severity"], issue["check_name"]) for issue in issues] == [
        ("critical", "enum-value-added"),
        ("major", "enum-value-added"),
        ("info", "property-added"),
    ]
    assert [issue["fingerprint"] for issue in issues] == [finding.id for finding in report.findings]
    assert [issue["findings"] for issue in issues] == [[finding.id] for finding in report.findings]
    reported = issues[0]["description"].split(" \u2014 ")
    assert reported[0] == (
        'widgets.example.com/v1: status.p gained "B": '
        "after a rollback, r1 rejects writes of a Widget that holds it; Kubernetes 1.32 and older reject all of them, "
        "later ones those that change the value."
    )
    assert reported[1] == 'API server: status.p: Unsupported value: "B": supported values: "A"'
    assert issues[0]["location"] == {"path": "w.json", "lines": {"begin": 1}}


def test_where_it_points_to(tmp_path: Path) -> None:
    report = sample(tmp_path)

    def shown(*locations: Location) -> tuple[str, int]:
        changed = replace(report, findings=(replace(report.findings[0], locations=locations),))
        place = _issues(changed)[0]["location"]
        return place["path"], place["lines"]["begin"]

    old, new, go = Location("old", "o", 9, 2), Location("new", "n", 3, 4), Location("new", "t.go", 5, 6, "go")
    assert shown(old, new) == ("n", 3)
    assert shown(old, new, go) == ("t.go", 5)
    assert shown(old) == ("o", 1)
    assert shown(Location("new", "n")) == ("n", 1)
    assert shown() == ("widgets.example.com", 1)


def test_what_does_not_count_is_no_issue_and_each_finding_is_one(tmp_path: Path) -> None:
    report = check(tmp_path)
    assert len(_issues(report)) == 3
    assert [issue["check_name"] for issue in _issues(replace(report, sections=report.sections[1:2]))] == [
        "property-added", "waived"
    ]  # fmt: skip


def test_nothing(tmp_path: Path) -> None:
    assert rendered(empty_check(), "gitlab") == "[]\n"
    assert rendered(compared(tmp_path, SAME, SAME), "gitlab") == "[]\n"


def test_problems_block(tmp_path: Path) -> None:
    first = _issues(unreadable(sample(tmp_path)))[0]
    assert (first["severity"], first["check_name"], first["description"]) == (
        "blocker",
        "could-not-read",
        "could not read bad.yaml: not YAML",
    )
    assert first["location"] == {"path": "bad.yaml", "lines": {"begin": 7}}


def test_a_simulation(tmp_path: Path) -> None:
    (issue,) = _issues(replayed(tmp_path))
    assert (issue["severity"], issue["check_name"]) == ("critical", "rejected")
    assert 'status.p holds "B", and r1 rejects it' in issue["description"]
    assert issue["location"] == {"path": "w.json", "lines": {"begin": 1}}
    again = _issues(replayed(tmp_path, value="C"))
    assert again[0]["fingerprint"] == issue["fingerprint"], "the values may change"


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_inert(tmp_path: Path, text: str) -> None:
    issues = _issues(hostile_check(tmp_path, text))
    assert len(issues) >= 5
    for issue in issues:
        assert not re.search("[\x00-\x1f\x7f\u202e\u2066]", issue["description"])


def test_an_issue_of_one_cause_has_the_ids_of_all_its_findings(tmp_path: Path) -> None:
    """As SARIF has them: a kind with a shared type has one issue for all of its places."""
    kinds = [f"Kind{number}" for number in range(12)]
    for side, fields in (("old", {}), ("new", {"b": string()})):
        for kind in kinds:
            write(tmp_path / side / f"{kind}.yaml", crd(root(spec=obj(a=string(), **fields)), kind=kind))
    out = {name: json.loads(run("diff", tmp_path / "old", tmp_path / "new", "--format", name).out) for name in _LISTING}
    ids = {each["id"] for each in out["json"]["findings"]}
    assert len(ids) == 12
    assert {each for issue in out["gitlab"] for each in issue["findings"]} == ids
    results = out["sarif"]["runs"][0]["results"]
    assert {each for result in results for each in result["properties"]["findings"]} == ids


_LISTING = ("json", "gitlab", "sarif")
