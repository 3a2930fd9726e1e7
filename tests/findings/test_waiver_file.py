"""The file of accepted findings: what is read of it, and from which line."""

from __future__ import annotations

from pathlib import Path

from crdcompat.findings.waiver_file import read_accepted
from crdcompat.vocabulary import Severity

_PLACE = "crd: widgets.example.com, version: v1, path: spec.a, rule: enum-value-added, direction: rollback"
_TEXT = f"""\
# Accepted.
waivers:
- {{{_PLACE}, reason: known, values: [B]}}

-
  {{{_PLACE}, reason: known, values: [C], severity: warning}}
growth:
- {{crd: widgets.example.com, path: spec.a, values: [D], accepted_from: "4.16", written_from: "4.17", reason: known}}
"""


def test_each_entry_has_its_line(tmp_path: Path) -> None:
    (tmp_path / "w.yaml").write_text(_TEXT)
    accepted = read_accepted(tmp_path / "w.yaml")
    assert [(each.values, each.severity, each.line) for each in accepted.waivers] == [
        (("B",), None, 3),
        (("C",), Severity.WARNING, 6),
    ]
    assert [(each.values, each.line) for each in accepted.growth] == [(("D",), 8)]
    assert {each.file for each in accepted.waivers} == {str(tmp_path / "w.yaml")}


def test_a_file_that_is_not_there_accepts_nothing(tmp_path: Path) -> None:
    accepted = read_accepted(tmp_path / "w.yaml")
    assert (accepted.waivers, accepted.growth) == ((), ())
