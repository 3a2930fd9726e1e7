"""The edits that accept a finding: an entry of the waiver file, a marker in the Go source, a declaration of growth.

An editor applies them, and its user sees them before they are saved. The reason of each is ``…``: no reason, so that
nothing is accepted before a person has written one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from crdcompat.config.releases import accepting_release
from crdcompat.features.lsp.working_tree import Analysis
from crdcompat.findings.entries import Entry
from crdcompat.findings.growth import following
from crdcompat.findings.source_waivers import marker_for
from crdcompat.findings.waiver_file import entries_for, growth_for, with_more
from crdcompat.golang.sources import GoSources
from crdcompat.models.finding import Acceptance, Finding
from crdcompat.render.data.diff import finding_data
from crdcompat.render.wording.growth import is_declarable
from crdcompat.schema.paths import steps_of
from crdcompat.sources import open_source
from crdcompat.sources.plain_file import read_plain
from crdcompat.vocabulary import Against, Owner

_REASON = "…"


class Edit(Struct, frozen=True):
    """A change of a file: the characters from ``start`` to ``end`` of its ``text`` become ``new``.

    ``text`` is None if the file does not exist.
    """

    title: str
    file: Path
    text: str | None
    start: int
    end: int
    new: str


def edits_for(entry: Entry, analysis: Analysis) -> Iterator[Edit]:
    """The edits that accept a finding with all its places. Raises ConfigError, SourceError."""
    if (edit := _marker(entry, analysis)) is not None:
        yield edit
    file = analysis.config.waiver_file
    accepted = Acceptance(_REASON)
    found = [*_everywhere(entry, analysis)]
    waivers = [made for each in found for made in entries_for(each, accepted)]
    yield from _in_file(f"Waive {_what(entry.finding)} in {file.name}", analysis, "waivers", waivers)
    release = _release(analysis)
    if release is None or not any(map(is_declarable, entry.findings)):
        return
    growth = [made for each in found for made in growth_for(each, release, following(release), accepted)]
    title = f"Declare growth of {entry.finding.path}: accepted from {release}, written from {following(release)}"
    yield from _in_file(title, analysis, "growth", growth)


def _what(finding: Finding) -> str:
    """The name of the action: one line can have several findings, whose actions differ."""
    return f"{finding.rule} of {finding.path or finding.crd}"


def _everywhere(entry: Entry, analysis: Analysis) -> Iterator[dict[str, Any]]:
    """The findings of an entry as in the JSON report; against other releases they can have other old values."""
    for each in analysis.report.findings:
        if each.id in entry.ids and each.waiver is None:
            yield finding_data(each)


def _in_file(title: str, analysis: Analysis, key: str, made: list[dict[str, Any]]) -> Iterator[Edit]:
    file = analysis.root / analysis.config.waiver_file
    before = read_plain(file, analysis.root)
    # A finding against the base and a target is the same entry twice.
    after = with_more(file, before, key, [each for at, each in enumerate(made) if each not in made[:at]])
    old, new = (before or b"").decode(), after.decode()
    start = _common(old, new)
    kept = _common(old[start:][::-1], new[start:][::-1])
    yield Edit(title, file, None if before is None else old, start, len(old) - kept, new[start : len(new) - kept])


def _common(one: str, other: str) -> int:
    """The number of characters with which both begin."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _marker(entry: Entry, analysis: Analysis) -> Edit | None:
    """The marker above the Go field of a finding; None if no Go source of the tree declares it."""
    finding = entry.finding
    place = _go_field(finding, analysis)
    if place is None:
        return None
    file, line = analysis.root / place[0], place[1]
    text = file.read_bytes().decode()
    lines = text.splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1]))
    here = lines[line - 1]
    indent = here[: len(here) - len(here.lstrip())]
    end = "\r\n" if here.endswith("\r\n") else "\n"
    title = f"Waive {_what(finding)} by a marker in {file.name}"
    return Edit(title, file, text, start, start, f"{indent}// {marker_for(finding, _REASON)}{end}")


def _go_field(finding: Finding, analysis: Analysis) -> tuple[str, int] | None:
    if not any(place.kind == "go" for place in finding.locations) and finding.owner is not Owner.CRD:
        return None
    tree = open_source("worktree:", repo=str(analysis.root))
    by_path = {each.path: each for each in tree.entries()}
    go = GoSources(
        lambda: by_path, lambda paths: ((each.path, data) for each, data in tree.read([by_path[p] for p in paths]))
    )
    if go.types is None:
        return None
    path = () if finding.owner is Owner.CRD else steps_of(finding.path)
    place = go.types.place(finding.crd.partition(".")[2], finding.version, finding.kind, path, "")
    return None if place is None else (place.file, place.line)


def _release(analysis: Analysis) -> str | None:
    """The release of the change; None if unknown."""
    bases = (each.report.old.name for each in analysis.report.sections if each.against is Against.BASE)
    name = next(bases, None)
    return accepting_release(name, analysis.config) if name else None
