"""One line for each finding, in the order of files and lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace
from report_samples import HOSTILE, check, empty_check, hostile_check, replayed, sample, unreadable

from crdcompat.models.diff import UndecidedEntry
from crdcompat.models.finding import Location
from crdcompat.models.report import Report
from crdcompat.render.escape import Style
from crdcompat.render.formats import get_format
from crdcompat.vocabulary import Side


def _lines(report: Report, verbosity: int = 0) -> list[str]:
    return get_format("concise").render(report, Style(verbosity=verbosity)).splitlines()


def test_a_line_for_each_finding(tmp_path: Path) -> None:
    report = sample(tmp_path)
    shown = _lines(report)
    by_path = {finding.path: finding for finding in report.findings}
    assert len(shown) == 3
    for line in shown:
        match = re.fullmatch(
            r"w\.json:\d+:\d+: (error|warning|info)\[(\S+)\] widgets\.example\.com/v1 (\S+): (.*)  (\w+)", line
        )
        assert match, line
        finding = by_path[match[3]]
        assert (match[1], match[2], match[5]) == (finding.severity, finding.rule, finding.id)
        assert f"{finding.path} {match[4]}" == finding.message
    assert [line for line in _lines(report, -1) if "error[" in line] == _lines(report, -1) != []


def test_sorted_by_file_and_line(tmp_path: Path) -> None:
    report = sample(tmp_path)
    places = [Location(Side.NEW, "b", 2, 1), Location(Side.NEW, "a", 10, 1), Location(Side.OLD, "a", 9, 1)]
    moved = [replace(each, locations=(place,)) for each, place in zip(report.findings, places, strict=True)]
    shown = _lines(unreadable(replace(report, findings=tuple(moved))))
    assert [line.partition(": ")[0] for line in shown] == ["a:9:1", "a:10:1", "b:2:1", "bad.yaml:7"]
    assert shown[-1] == "bad.yaml:7: error[could-not-read] not YAML"


def test_what_does_not_count_has_no_line(tmp_path: Path) -> None:
    assert _lines(empty_check()) == []
    assert len(_lines(check(tmp_path))) == 3, "one cause, one line, in however many comparisons"


def test_a_replay_has_a_line_for_each_rejected_field(tmp_path: Path) -> None:
    report = replayed(tmp_path)
    assert [re.match(r"\S+: error\[rejected\] (\S+): ", line) is not None for line in _lines(report)] == [
        True for _ in report.causes
    ]
    assert report.causes


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_makes_no_line(tmp_path: Path, text: str) -> None:
    report = hostile_check(tmp_path, text)
    for line in _lines(report):
        assert line.isprintable()
        assert re.search(r": (error|warning|info)\[|: undecided ", line)


def test_undecided_values_of_any_type(tmp_path: Path) -> None:
    """Values of undecided differences are any JSON; the same one in two sections is one line."""
    entry = UndecidedEntry("a.example.com", "v1", ("default",), "spec", "$ref", ["a"], {"a": [1]}, "not known", ())
    report = replace(sample(tmp_path), findings=(), undecided=(entry, entry))
    (line,) = _lines(report)
    assert line.startswith("a.example.com: undecided ")
    assert _lines(report, -1) == []
