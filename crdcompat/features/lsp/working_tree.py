"""What ``check`` says of a working tree as it is saved, by file and line.

There is no second engine: each analysis is one run of ``check`` with ``--head worktree:``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from crdcompat.config.configuration import Config
from crdcompat.features.check.check_options import CheckOptions
from crdcompat.features.check.check_workflow import run_check
from crdcompat.features.check.rules_of_the_base import find_rules
from crdcompat.findings.entries import Entry, entries
from crdcompat.findings.source_waivers import ignore
from crdcompat.golang.notes import has_notes, notes_in
from crdcompat.models.check import CheckReport
from crdcompat.models.finding import Location
from crdcompat.render.wording.findings import crd_name, undecided_line
from crdcompat.sources.plain_file import top_of
from crdcompat.vocabulary import Severity, Side


class Asked(Struct, frozen=True):
    """What a person names beside the configuration: its file, the base, the targets."""

    config: str | None = None
    base: str | None = None
    targets: tuple[str, ...] = ()


class Mark(Struct, frozen=True, eq=False):
    """A diagnostic at a place of a file; line and column count from 1. ``entry`` is None if it is about no finding."""

    line: int
    column: int
    severity: Severity
    code: str
    message: str
    entry: Entry | None = None


class Analysis(Struct, frozen=True, eq=False):
    """The report on the working tree at ``root``, and its marks by file (from the root)."""

    root: Path
    config: Config
    report: CheckReport
    marks: dict[str, tuple[Mark, ...]]


def root_of(file: Path) -> Path | None:
    """The top of the working tree that has a file; None outside of any."""
    found = top_of(file.parent)
    return found.resolve() if found is not None else None


def is_judged(file: Path) -> bool:
    """Whether a save of this file can change an analysis: a manifest, Go types, the configuration or the waivers."""
    return file.suffix in (".yaml", ".yml", ".json", ".go") or file.name == "pyproject.toml"


def analyse(root: Path, asked: Asked) -> Analysis:
    """Judge the working tree. Raises as ``run_check`` and ``find_rules``."""
    # The configuration and the waivers are looked for from the current folder, as for a command.
    with contextlib.chdir(root):
        options = CheckOptions(
            base=asked.base, head="worktree:", repo=str(root), targets=asked.targets or None, formats=("json",)
        )
        rules = find_rules(asked.config, options)
        report = run_check(rules.config, options)
    found: dict[str, list[Mark]] = {}
    for file, mark in (*_of_findings(report), *_of_undecided(report), *_of_problems(report)):
        found.setdefault(file, []).append(mark)
    return Analysis(root, rules.config, report, {file: tuple(marks) for file, marks in sorted(found.items())})


def marks_of_source(data: bytes, file: str) -> Iterator[Mark]:
    """Marks on the waivers of a Go file that accept nothing."""
    for each in map(ignore, notes_in(file, data)) if has_notes(data) else ():
        if each.fault:
            yield Mark(each.line, 1, Severity.WARNING, "waiver", f"{each.fault}; it accepts nothing")


def _of_findings(report: CheckReport) -> Iterator[tuple[str, Mark]]:
    for entry in entries(report):
        if not entry.finding.counts:
            continue
        for finding in entry.findings:
            for place in _here(finding.locations):
                path = "" if finding.message.startswith(finding.path) else finding.path
                what = f"{crd_name(finding.crd, finding.version)} {path}".strip()
                message = f"{what}: {finding.message}"
                yield (
                    place.file,
                    Mark(place.line or 1, place.column or 1, finding.severity, finding.rule, message, entry),
                )


def _of_undecided(report: CheckReport) -> Iterator[tuple[str, Mark]]:
    for section in report.sections:
        for each in section.report.undecided:
            for place in _here(each.locations):
                message = f"undecided: {undecided_line(each)}"
                yield place.file, Mark(place.line or 1, place.column or 1, Severity.WARNING, "undecided", message)


def _of_problems(report: CheckReport) -> Iterator[tuple[str, Mark]]:
    for each in report.problems:
        if each.side is not Side.OLD:
            yield each.file, Mark(each.line or 1, 1, Severity.ERROR, "unreadable", each.message)


def _here(locations: Sequence[Location]) -> Iterator[Location]:
    """The places in files of the working tree."""
    return (place for place in locations if place.side is Side.NEW)
