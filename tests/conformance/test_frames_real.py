"""The code frame of each finding between real releases: it holds a line of what changed, of the side that has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from helpers import PAIRS

import crdcompat
from crdcompat.compare.registry import facet_of
from crdcompat.crds.reader import CrdReader
from crdcompat.findings.excerpts import with_excerpts
from crdcompat.models.finding import Finding
from crdcompat.render.pages.short import frame
from crdcompat.render.text.text_page import plain_text
from crdcompat.vocabulary import Severity

_READER = CrdReader()
#: What shows changes that no facet of a schema has: of whole CRDs and versions their name, advice by its keyword.
_SHOWN_BY = {
    "crd": {"name"},
    "version": {"name"},
    "subresource": {"status"},
    "cel": {"rule", "x-kubernetes-validations"},
    "junctor": {"allOf", "anyOf", "oneOf", "not", "pattern", "format", "type", "enum"},
    "status.enum-born-closed": {"enum"},
    "status.required-born": {"required"},
    "subresource.status-added": {"status"},
}


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_the_frame_shows_the_change(old: str, new: str, openshift_api: Path) -> None:
    sides = [crdcompat.load(f"release-{name}", repo=str(openshift_api), reader=_READER) for name in (old, new)]
    report = with_excerpts(crdcompat.diff(*sides), *sides, Severity.INFO)
    wrong = [
        (finding.rule, finding.crd, finding.path, shown)
        for finding in report.findings
        if finding.excerpts
        and not _shows(finding, shown := [line.strip() for line in plain_text((frame(finding),)).splitlines()])
    ]
    assert wrong == []
    assert sum(bool(finding.excerpts) for finding in report.findings) > len(report.findings) * 0.9


def _shows(finding: Finding, frame: list[str]) -> bool:
    sign = "-" if finding.new in (None, False) else "+"
    lines = [re.match(r"\d+ ([+-]) (?:- )?(.*)", line) for line in frame]
    if not lines or any(line is None or line[1] != sign for line in lines):
        # A loosened list or a removed member is shown where it stood.
        return False
    texts = [line[2].strip() for line in lines if line is not None]
    values = [str(value) for value in (*finding.added, *finding.removed)]
    return any(_names(finding, text) or any(value in text for value in values if value) for text in texts)


def _names(finding: Finding, text: str) -> bool:
    """Whether a line has a keyword of the change, or the name of the field that came or went."""
    named = next((found for kind, found in _SHOWN_BY.items() if finding.change.startswith(kind)), None)
    if named is None:
        named = set(facet_of(finding.change).keywords) if not finding.change.startswith("status.") else set()
    field = finding.path.rpartition(".")[2].removesuffix("[*]")
    return text.partition(":")[0].strip("\"' ") in {*named, field}
