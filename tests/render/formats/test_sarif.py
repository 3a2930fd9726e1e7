"""SARIF: held to its schema, and to what code scanning does with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from helpers import string
from msgspec.structs import replace
from report_samples import (
    HOSTILE,
    check,
    compared,
    empty_check,
    hostile,
    hostile_check,
    named,
    replayed,
    sample,
    unreadable,
    widget,
    with_findings,
)
from report_samples import OLD as SAME
from sarif import KEY, Run, one_run

from crdcompat import __version__
from crdcompat.findings.rules import catalogue
from crdcompat.models.finding import Location
from crdcompat.models.report import Report

Read = Callable[[Report], Run]


@pytest.fixture
def read() -> Read:
    """Render a report; its one run, if the document keeps to the schema."""
    return one_run


def test_results(read: Read, tmp_path: Path) -> None:
    report = sample(tmp_path)
    only = read(report)
    driver = only["tool"]["driver"]
    assert (driver["name"], driver["version"], "informationUri" in driver) == ("crdcompat", __version__, False)
    assert [(result["ruleId"], result["level"]) for result in only["results"]] == [
        ("enum-value-added", "error"),
        ("enum-value-added", "warning"),
        ("property-added", "note"),
    ]
    first = only["results"][0]
    lines = first["message"]["text"].split("\n")
    assert lines[0] == (
        'widgets.example.com/v1: status.p gained "B": '
        "after a rollback, r1 rejects writes of a Widget that holds it; Kubernetes 1.32 and older reject all of them, "
        "later ones those that change the value."
    )
    assert lines[1] == 'API server: status.p: Unsupported value: "B": supported values: "A"'
    assert first["partialFingerprints"] == {KEY: f"{report.findings[0].id} base"}
    assert first["properties"] == {
        "findings": [report.findings[0].id],
        "direction": "rollback",
        "effect": "write-rejected",
        "crd": "widgets.example.com",
        "version": "v1",
        "path": "status.p",
        "old": "r1",
        "new": "r2",
    }
    assert "baselineState" not in first
    assert "suppressions" not in first
    assert only["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_rules_say_what_the_catalogue_says(read: Read, tmp_path: Path) -> None:
    enum, added = read(sample(tmp_path))["tool"]["driver"]["rules"]
    rule = catalogue()["enum-value-added"]
    assert (enum["id"], enum["name"]) == ("enum-value-added", "EnumValueAdded")
    assert enum["shortDescription"]["text"] == f"{rule.title}."
    assert enum["fullDescription"]["text"] == rule.summary
    for part in (rule.why.strip(), rule.fix.strip(), *rule.references):
        assert part in enum["help"]["text"]
        assert part in enum["help"]["markdown"]
    assert enum["help"]["markdown"].startswith("**Why it matters**\n\n")
    assert enum["defaultConfiguration"] == {"level": "error"}, "the worst that occurs"
    assert added["defaultConfiguration"] == {"level": "note"}


def test_where_it_points_to(read: Read, tmp_path: Path) -> None:
    report = sample(tmp_path)

    def shown(*locations: Location) -> Run:
        changed = replace(report, findings=(replace(report.findings[0], locations=locations),))
        return dict(read(changed)["results"][0])

    old, new, go = Location("old", "o", 1, 2), Location("new", "d/n", 3, 4), Location("new", "t.go", 5, None, "go")
    result = shown(old, new)
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "d/n"}, "region": {"startLine": 3, "startColumn": 4}}}
    ]
    assert result["relatedLocations"] == [
        {
            "id": 0,
            "physicalLocation": {"artifactLocation": {"uri": "o"}, "region": {"startLine": 1, "startColumn": 2}},
            "message": {"text": "the older side"},
        }
    ]
    result = shown(old, new, go)
    assert result["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "t.go"},
        "region": {"startLine": 5},
    }
    assert [(each["id"], each["message"]["text"]) for each in result["relatedLocations"]] == [
        (0, "the older side"),
        (1, "the newer side"),
    ]
    assert shown(old)["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "o"}
    assert shown(Location("new", "n"))["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "n"}}}]
    assert shown()["locations"] == []


@pytest.mark.parametrize("name", ["a b/c%d.yaml", "a:b.yaml", "a\nb\x1b.yaml", "ä\u202e?#.yaml", "[x](y).yaml"])
def test_names_of_files_are_percent_encoded(read: Read, tmp_path: Path, name: str) -> None:
    report = sample(tmp_path)
    moved = replace(report, findings=(replace(report.findings[0], locations=(Location("new", name, 1, 1),)),))
    uri = read(moved)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", uri)
    assert urlsplit(uri).path == uri
    assert unquote(uri) == name


def test_sections_of_a_check(read: Read, tmp_path: Path) -> None:
    report = check(tmp_path)
    only = read(report)
    first, second, third = (finding.id for finding in report.sections[0].report.findings)
    assert [
        (result["partialFingerprints"][KEY], result["baselineState"], "suppressions" in result)
        for result in only["results"]
    ] == [
        (f"{first} base", "new", False),
        (f"{second} base", "new", False),
        (f"{third} base", "new", False),
        (f"{second} target r0", "new", True),
    ]
    assert [result["message"]["text"].split("\n")[-2] for result in only["results"][:3]] == [
        "against: base, target r9",
        "against: base, target r9",
        "against: base, target r0, target r9",
    ]
    assert only["results"][3]["suppressions"] == [{"kind": "external", "justification": "nobody sets it"}]
    assert only["results"][3]["properties"]["old"] == "r0"
    reported = only["invocations"][0]["toolExecutionNotifications"]
    assert [(each["level"], each["message"]["text"]) for each in reported] == [
        ("note", "the base is r1"),
        ("note", "waiver w1 has expired"),
    ]


def test_a_base_of_another_name_is_the_same_alert(read: Read, tmp_path: Path) -> None:
    report = check(tmp_path)
    base = replace(report.sections[0], report=named(report.sections[0].report, "0a1b2c"))
    moved = replace(report, sections=(base, *report.sections[1:]))
    before, after = ([r["partialFingerprints"] for r in read(each)["results"]] for each in (report, moved))
    assert before == after


def test_nothing(read: Read, tmp_path: Path) -> None:
    only = read(empty_check())
    assert (only["results"], only["tool"]["driver"]["rules"]) == ([], [])
    assert only["invocations"] == [
        {
            "executionSuccessful": True,
            "toolExecutionNotifications": [{"level": "note", "message": {"text": "no CRD was touched"}}],
        }
    ]
    assert read(compared(tmp_path, SAME, SAME))["results"] == []


def test_problems_are_notifications(read: Read, tmp_path: Path) -> None:
    (invocation,) = read(unreadable(sample(tmp_path)))["invocations"]
    assert invocation["executionSuccessful"] is False
    assert invocation["toolExecutionNotifications"] == [
        {
            "level": "error",
            "message": {"text": "could not read: bad.yaml (new): not YAML"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "bad.yaml"}, "region": {"startLine": 7}}}],
        }
    ]


def test_undecided_differences_are_notes(read: Read, tmp_path: Path) -> None:
    fields = [{"type": "object", "properties": {"a": string(**{"x-kubernetes-new": value})}} for value in (1, 2)]
    report = compared(tmp_path, *fields)
    (entry,) = report.undecided
    only = read(report)
    (result,) = only["results"]
    assert (result["ruleId"], result["level"]) == ("undecided", "note")
    assert result["message"]["text"] == (f"Not judged: widgets.example.com/v1 a: x-kubernetes-new: {entry.reason}")
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "w.json"}
    assert re.fullmatch("[0-9a-f]{12} base", result["partialFingerprints"][KEY])
    assert only["tool"]["driver"]["rules"][0]["name"] == "Undecided"


def test_braces_and_links_of_messages_are_escaped(read: Read, tmp_path: Path) -> None:
    report = with_findings(sample(tmp_path), error={"message": "{0} is [a](1) and {}"})
    text = read(report)["results"][0]["message"]["text"].split("\n")[0]
    assert text == "widgets.example.com/v1: {{0}} is [a] (1) and {{}}."


def test_a_simulation(read: Read, tmp_path: Path) -> None:
    only = read(replayed(tmp_path, widget("good"), widget("one", "B"), widget("two", "B")))
    cause, first, second = only["results"]
    assert (cause["ruleId"], cause["level"]) == ("rejected-value", "error")
    assert cause["message"]["text"].startswith('widgets.example.com: 2 of 3 Widget: status.p holds "B", and r1 rejects')
    assert cause["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "w.json"}
    assert cause["locations"][0]["physicalLocation"]["region"]["startLine"] == 1
    for result, name in ((first, "one"), (second, "two")):
        assert (result["ruleId"], result["level"]) == ("rejected-object", "error")
        assert result["locations"] == [
            {"logicalLocations": [{"fullyQualifiedName": f"widgets.example.com/Widget/n/{name}", "kind": "object"}]}
        ]
        assert f"Widget/n/{name}  (widgets.example.com/v1, objects.json" in result["message"]["text"]
        assert "repair: this write to /status is accepted" in result["message"]["text"]
    prints = [result["partialFingerprints"][KEY] for result in only["results"]]
    assert len(set(prints)) == 3
    assert all(re.fullmatch("[0-9a-f]{12} rollback", each) for each in prints)
    assert read(replayed(tmp_path, widget("good")))["results"] == []


def test_what_was_not_simulated_is_reported(read: Read, tmp_path: Path) -> None:
    stray = {**widget("x"), "kind": "Stray"}
    reported, unrecorded = read(replayed(tmp_path, stray))["invocations"][0]["toolExecutionNotifications"]
    assert reported["level"] == unrecorded["level"] == "note"
    assert reported["message"]["text"].startswith("not simulated: Stray/n/x: ")
    assert unrecorded["message"]["text"] == "unknown: nothing was recorded of 1 kind with findings: Widget"


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_inert(read: Read, tmp_path: Path, text: str) -> None:
    for report in (hostile(tmp_path, text), hostile_check(tmp_path, text)):
        only = read(report)
        notifications = only["invocations"][0]["toolExecutionNotifications"]
        assert only["results"]
        for each in (*only["results"], *notifications):
            message = each["message"]["text"]
            assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2066]", message)
            assert "](" not in message
            assert not re.search(r"(?<!\{)(?:\{\{)*\{(?!\{)", message), "a brace that is not doubled"
            for place in each.get("locations", ()):
                uri = place["physicalLocation"]["artifactLocation"]["uri"]
                assert re.fullmatch(r"[A-Za-z0-9._~/%-]+", uri)
