"""JUnit: read back with junitparser, as CI systems read it."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from helpers import crd, root, string
from junitparser import Error, Failure, JUnitXml, Skipped, TestCase, TestSuite
from msgspec.structs import replace
from report_samples import (
    HOSTILE,
    NEW,
    OLD,
    check,
    compared,
    empty_check,
    hostile,
    hostile_check,
    rendered,
    replayed,
    sample,
    unreadable,
    widget,
)

from crdcompat.models.finding import Acceptance
from crdcompat.models.report import Report


def _suites(report: Report) -> dict[str, TestSuite]:
    """The suites by name; their counts are those of their cases."""
    text = rendered(report, "junit")
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="crdcompat"')
    parsed = JUnitXml.fromstring(text.encode())
    found = {suite.name: suite for suite in parsed}
    cases = [case for suite in parsed for case in suite]
    assert cases, "a job without cases is no job that passed"
    for holder, held in ((parsed, cases), *((suite, list(suite)) for suite in parsed)):
        kinds = [type(result) for case in held for result in case.result]
        assert (holder.tests, holder.failures, holder.errors, holder.skipped) == (
            len(held),
            kinds.count(Failure),
            kinds.count(Error),
            kinds.count(Skipped),
        )
    return found


def _cases(suite: TestSuite) -> dict[str, TestCase]:
    return {case.name: case for case in suite}


def test_what_fails_says_so_in_its_text(tmp_path: Path) -> None:
    report = sample(tmp_path)
    (suite,) = _suites(report).values()
    (case,) = suite
    assert (suite.name, case.name, case.classname) == ("diff", "diff: widgets.example.com/v1", "crdcompat")
    (failure,) = case.result
    assert isinstance(failure, Failure)
    error, warning, info = report.findings
    assert failure.message == f"1 error: {error.message}"
    lines = failure.text.split("\n")
    assert lines[:3] == [
        "Rolling back r2 -> r1",
        "",
        f"error[enum-value-added] widgets.example.com/v1 status.p  {error.id}",
    ]
    assert f"  {error.message}." in lines
    assert '  API server: status.p: Unsupported value: "B": supported values: "A"' in lines
    assert warning.id not in failure.text
    assert warning.id in case.system_out
    assert info.id in case.system_out
    said = ET.fromstring(rendered(report, "junit")).findtext("testsuite/system-out")
    assert said is not None
    assert said.startswith("Compared 1 CRD in 1 context: 1 changed, ")


def test_everything_compared_has_a_case(tmp_path: Path) -> None:
    old = [crd(OLD), crd(OLD, kind="Gadget"), crd(OLD, kind="Gone")]
    new = [crd(NEW), crd(OLD, kind="Gadget"), crd(OLD, kind="Fresh")]
    cases = _cases(_suites(compared(tmp_path, old, new))["diff"])
    assert {name: len(case.result) for name, case in cases.items()} == {
        "diff: freshs.example.com": 0,
        "diff: gadgets.example.com/v1": 0,
        "diff: gones.example.com": 1,
        "diff: widgets.example.com/v1": 1,
    }
    assert cases["diff: gadgets.example.com/v1"].system_out is None


def test_warnings_pass(tmp_path: Path) -> None:
    report = sample(tmp_path)
    milder = replace(report, findings=report.findings[1:])
    (case,) = _suites(milder)["diff"]
    assert not case.result
    assert case.system_out.startswith("Rolling back r2 -> r1\n\nwarning[enum-value-added] ")


def test_both_directions_are_listed_apart(tmp_path: Path) -> None:
    old, new = (root(status={"type": "object", "properties": {"p": string(*v)}}) for v in ("AB", "AC"))
    (case,) = _suites(compared(tmp_path, old, new))["diff"]
    reported = case.result[0].text + (case.system_out or "")
    assert reported.index("Rolling back r2 -> r1\n") < reported.index("Upgrading r1 -> r2\n")


def test_a_suite_for_each_section(tmp_path: Path) -> None:
    report = check(tmp_path)
    suites = _suites(report)
    assert list(suites) == ["base", "target r0", "target r9"]
    assert [len(case.result) for suite in suites.values() for case in suite] == [1, 0, 1]
    (case,) = suites["target r0"]
    assert case.name == "target r0: widgets.example.com/v1"
    error, warning, info = (finding.id for finding in report.sections[0].report.findings)
    reported = case.system_out.split("\n")
    assert reported[-2:] == [
        f"existed before this change: error[enum-value-added] widgets.example.com/v1 status.p {error}",
        f"waived (nobody sets it): warning[enum-value-added] widgets.example.com/v1 spec.a {warning}",
    ]
    about = "widgets.example.com/v1 spec.n"
    assert reported[0] == f"same cause as base: {about}: info[property-added] {about} {info}"
    (case,) = suites["target r9"]
    assert isinstance(case.result[0], Skipped), "one cause, one failure"
    assert "same cause as base: widgets.example.com/v1 status.p: error[enum-value-added]" in case.result[0].text


def test_nothing(tmp_path: Path) -> None:
    (suite,) = _suites(empty_check()).values()
    (case,) = suite
    assert (case.name, case.result, case.system_out) == ("there was nothing to check", [], "no CRD was touched")
    (case,) = _suites(compared(tmp_path, [], [crd(OLD)]))["diff"]
    assert (case.name, case.result) == ("diff: no CRD to compare", [])
    assert "0 only in r1, 1 only in r2" in case.system_out


def test_problems_are_errors(tmp_path: Path) -> None:
    suites = _suites(unreadable(sample(tmp_path)))
    (case,) = suites["input"]
    (error,) = case.result
    assert isinstance(error, Error)
    assert case.name == "bad.yaml:7 (new) can be read"
    assert (error.message, error.text) == ("not YAML", "bad.yaml:7: not YAML")
    none = replace(unreadable(sample(tmp_path)), findings=())
    assert len(_suites(none)["input"]) == 1


def test_undecided_differences_pass(tmp_path: Path) -> None:
    fields = [{"type": "object", "properties": {"a": string(**{"x-kubernetes-new": value})}} for value in (1, 2)]
    (case,) = _suites(compared(tmp_path, *fields))["diff"]
    assert not case.result
    assert case.system_out.startswith("undecided: widgets.example.com/v1 a: x-kubernetes-new: ")


def test_a_simulation(tmp_path: Path) -> None:
    items = [widget("good"), *(widget(f"w{number:02}", "B") for number in range(25)), {**widget("x"), "kind": "Stray"}]
    suite = _suites(replayed(tmp_path, *items))["simulate rollback"]
    cases = _cases(suite)
    assert list(cases) == ["rollback: widgets.example.com/v1", "objects that could not be replayed"]
    (failure,) = cases["rollback: widgets.example.com/v1"].result
    assert isinstance(failure, Failure)
    assert failure.message == "25 of 26 objects rejected"
    assert failure.text.startswith("25 of 26 objects rejected\n\nwidgets.example.com: 25 of 26 Widget: status.p holds")
    assert "Widget/n/w19  (" in failure.text
    assert "Widget/n/w20" not in failure.text
    assert failure.text.endswith("and 5 more objects")
    (skipped,) = cases["objects that could not be replayed"].result
    assert isinstance(skipped, Skipped)
    assert skipped.text.startswith("Stray/n/x: ")
    (case,) = _suites(replayed(tmp_path, widget("good")))["simulate rollback"]
    assert (case.name, case.result) == ("rollback: widgets.example.com/v1", [])


def test_lone_surrogates_are_written_out() -> None:
    report = replace(empty_check(), notes=("a \ud800 b",))
    (case,) = _suites(report)["crdcompat"]
    assert case.system_out == "a \\ud800 b"


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_hostile_text_is_text(tmp_path: Path, text: str) -> None:
    report = hostile_check(tmp_path, text)
    out = rendered(report, "junit")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e\u2066\ufffe\uffff\ud800-\udfff]", out)
    names = set(re.findall(r"<(/?[A-Za-z!?][A-Za-z-]*)", out))
    tags = {"testsuites", "testsuite", "testcase", "failure", "error", "system-out"}
    assert names <= tags | {f"/{tag}" for tag in tags} | {"?xml"}
    suites = _suites(report)
    assert [len(case.result) for case in suites["input"]] == [1, 1]
    if text == "<script>alert(1)</script>":
        assert any(text in case.result[0].text for suite in _suites(hostile(tmp_path, text)).values() for case in suite)


def test_what_is_waived_is_counted(tmp_path: Path) -> None:
    report = sample(tmp_path)
    accepted = tuple(replace(each, waiver=Acceptance("known")) for each in report.findings)
    assert "3 waived." in rendered(replace(report, findings=accepted), "junit")
    assert "waived" not in rendered(report, "junit")
