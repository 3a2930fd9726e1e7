"""A diff or a check as parts of a page: one part a comparison, in it the directions, in them groups of findings."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crdcompat.policy.findings import listed
from crdcompat.policy.rules import catalogue
from crdcompat.policy.severity import SEVERITIES
from crdcompat.report.common import section_key
from crdcompat.report.html.facets import Facet, Facets
from crdcompat.report.model import CheckReport, DiffReport, Section, UndecidedEntry, sections
from crdcompat.report.rules_page import EFFECTS
from crdcompat.report.text_check import section_title
from crdcompat.report.text_diff import came_with, compared_line, crd_name, direction_title, many, place, way_out

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crdcompat.policy.findings import Excerpt, Finding, Location
    from crdcompat.policy.rules import Rule
    from crdcompat.report.model import Release

FACETS = (
    Facet("severity", "Severity", (*SEVERITIES, "undecided")),
    Facet("direction", "Direction", ("rollback", "upgrade")),
    Facet("owner", "Owner", ("status", "spec", "metadata", "other", "crd")),
    Facet("status", "Status", ("new", "existing", "waived")),
    Facet("section", "Compared with"),
    Facet("crd", "CRD"),
    Facet("context", "Context"),
    Facet("rule", "Rule"),
)
_MOST_VALUES = 50
_WINDOWS = {
    "old_crd_new_writer": "OLD's CRD, NEW's writers",
    "new_crd_old_writer": "NEW's CRD, OLD's writers",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """A line in the table of a finding."""

    name: str
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """A finding, or what is undecided, as the page shows it; of a ``brief`` one the message is told when it is open."""

    anchor: str
    name: str
    severity: str
    path: str
    about: tuple[str, ...]
    message: str
    brief: bool
    rule: str
    errors: tuple[str, ...]
    way_out: str
    excerpts: tuple[Excerpt, ...]
    witness: Any
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Items under one heading; ``aside``: they do not count, and are folded."""

    title: str
    items: tuple[Any, ...]
    aside: bool = False


@dataclass(frozen=True, slots=True)
class Direction:
    """One way that objects travel; without a title what belongs to both."""

    title: str
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """One comparison: its counts, its directions, and what was looked at."""

    key: str
    title: str
    report: DiffReport
    compared: str
    counts: dict[str, int]
    directions: tuple[Direction, ...]
    scope: tuple[tuple[str, tuple[str, ...]], ...]


def parts(report: DiffReport | CheckReport) -> tuple[tuple[Part, ...], Facets]:
    """The comparisons of a report, and what can be filtered by."""
    facets, anchors = Facets(FACETS), Counter[str]()
    whole = isinstance(report, CheckReport)
    made = [_part(section, facets, anchors, whole=whole) for section in sections(report)]
    return tuple(made), facets


def rules_of(report: DiffReport | CheckReport) -> tuple[Rule, ...]:
    """The rules of all findings, by id."""
    used = {finding.rule for section in sections(report) for finding in section.report.findings}
    return tuple(rule for name, rule in catalogue().items() if name in used)


def _part(section: Section, facets: Facets, anchors: Counter[str], *, whole: bool) -> Part:
    report = section.report
    key = section_key(section)
    made = [_direction(report, direction, key, facets, anchors) for direction in ("rollback", "upgrade")]
    undecided = tuple(_open(entry, report, key, facets, anchors) for entry in report.undecided)
    if undecided:
        heading = "Differences that this version does not judge"
        made.append(Direction(heading, (Group(f"{len(undecided)} undecided", undecided),)))
    return Part(
        key=key,
        title=section_title(section) if whole else "",
        report=report,
        compared=compared_line(report),
        counts=counts(report),
        directions=tuple(each for each in made if each.groups),
        scope=tuple((name, lines) for name, lines in _scope(report) if lines),
    )


def counts(report: DiffReport) -> dict[str, int]:
    """What was found, by word; the severities first."""
    return {
        **report.by_severity(),
        "undecided": len(report.undecided),
        "existing": sum(finding.status == "existing" for finding in report.findings),
        "waived": sum(finding.waiver is not None for finding in report.findings),
    }


def without_excerpts(report: DiffReport | CheckReport) -> int:
    """How many findings have a line in a file, but no excerpt of it, where others have one: a page holds no more."""
    findings = [finding for section in sections(report) for finding in section.report.findings]
    located = (any(place.line is not None and place.kind == "yaml" for place in f.locations) for f in findings)
    without = sum(known and not finding.excerpts for finding, known in zip(findings, located, strict=True))
    return without if any(finding.excerpts for finding in findings) else 0


def tally_of(report: DiffReport | CheckReport) -> list[tuple[str, int]]:
    """The counts of the whole report: a finding that stands in several comparisons of a check counts once."""
    if isinstance(report, CheckReport):
        return list(report.by_severity().items())
    return [(name, count) for name, count in counts(report).items() if name != "existing"]


def _direction(report: DiffReport, direction: str, key: str, facets: Facets, anchors: Counter[str]) -> Direction:
    findings = [finding for finding in report.findings if finding.direction == direction]
    counting = [finding for finding in findings if finding.counts]
    wanted: list[tuple[str, list[Finding], bool]] = [
        (severity, [finding for finding in counting if finding.severity == severity], False) for severity in SEVERITIES
    ]
    wanted.append(("existing", [f for f in findings if f.status == "existing" and f.waiver is None], True))
    wanted.append(("waived", [finding for finding in findings if finding.waiver is not None], True))
    groups = [
        Group(_group_title(name, len(found)), tuple(_item(f, report, key, facets, anchors) for f in found), aside)
        for name, found, aside in wanted
        if found
    ]
    return Direction(direction_title(report, direction).replace(" -> ", " → "), tuple(groups))


def _group_title(name: str, count: int) -> str:
    if name == "existing":
        return f"{many(count, 'finding')} that stood there before"
    if name in ("waived", "info"):
        return f"{count} {name}"
    return many(count, name)


def _item(finding: Finding, report: DiffReport, key: str, facets: Facets, anchors: Counter[str]) -> Item:
    facets.add(
        severity=finding.severity,
        direction=finding.direction,
        owner=finding.owner,
        status="waived" if finding.waiver is not None else finding.status,
        section=key,
        crd=finding.crd,
        context=finding.contexts,
        rule=finding.rule,
    )
    return Item(
        anchor=_anchor(f"f-{finding.id}", anchors),
        name=finding.id,
        severity=finding.severity,
        path=finding.path or "the CRD itself",
        about=(finding.kind, crd_name(finding.crd, finding.version)),
        message=f"{finding.message}.",
        brief=finding.severity == "info",
        rule=finding.rule,
        errors=finding.witness.errors,
        way_out=way_out(finding).rpartition(" (")[0],
        excerpts=finding.excerpts,
        witness=finding.witness.object,
        facts=tuple(Fact(name, tuple(texts)) for name, *texts in _facts(finding, report) if any(texts)),
    )


def _facts(finding: Finding, report: DiffReport) -> Iterator[tuple[str, ...]]:
    witness, evidence = finding.witness, finding.evidence
    yield "Effect", f"{finding.effect}: {EFFECTS.get(finding.effect, 'nothing happens')}"
    yield "Written by", finding.owner
    yield "Added", listed(finding.added, _MOST_VALUES)
    yield "Removed", listed(finding.removed, _MOST_VALUES)
    yield "Lost", ", ".join(witness.pruned)
    yield "Set by default", ", ".join(witness.defaulted)
    yield "No witness", str(witness.reason or "") if witness.object is None else ""
    if evidence["recorded_objects"]:
        yield "Met by", f"{many(evidence['recorded_objects'], 'recorded object')}: {', '.join(evidence['examples'])}"
    if finding.introduced_by is not None:
        yield "Introduced by", came_with(finding.introduced_by)
    yield "Also at", *finding.places
    yield "Contexts", *_contexts(finding.contexts, report)
    yield "Mixed versions", *(f"{name}: {finding.windows[key]}" for key, name in _WINDOWS.items())
    yield "Places", *_lines_of(finding.locations)
    if finding.waiver is not None:
        yield "Waived", *(f"{name}: {value}" for name, value in finding.waiver.items() if value is not None)
    if finding.status == "existing":
        yield "Existing", "it stood there before this change"


def _contexts(names: Sequence[str], report: DiffReport) -> tuple[str, ...]:
    known = report.counts.contexts
    return (f"all {len(known)}",) if len(known) > 1 and set(names) == set(known) else tuple(names)


def _lines_of(locations: Sequence[Location]) -> Iterator[str]:
    return (f"{location.side}: {place(location)}" for location in locations)


def _open(entry: UndecidedEntry, report: DiffReport, key: str, facets: Facets, anchors: Counter[str]) -> Item:
    facets.add(
        severity="undecided",
        direction=("rollback", "upgrade"),
        owner=owner if (owner := re.split(r"[.\[]", entry.path)[0]) in ("status", "spec", "metadata") else "other",
        status="new",
        section=key,
        crd=entry.crd,
        context=entry.contexts,
    )
    facts = (
        ("OLD", listed((entry.old,))),
        ("NEW", listed((entry.new,))),
        ("Contexts", *_contexts(entry.contexts, report)),
        ("Places", *_lines_of(entry.locations)),
    )
    return Item(
        anchor=_anchor("undecided", anchors),
        name="",
        severity="undecided",
        path=entry.path or "the CRD itself",
        about=(entry.keyword, crd_name(entry.crd, entry.version)),
        message=f"{entry.keyword}: {entry.reason}.",
        brief=False,
        rule="",
        errors=(),
        way_out="",
        excerpts=entry.excerpts,
        witness=None,
        facts=tuple(Fact(name, tuple(texts)) for name, *texts in facts if any(texts)),
    )


def _anchor(name: str, anchors: Counter[str]) -> str:
    """The id of an element: the name, with a number from the second of that name on."""
    anchors[name] += 1
    return name if anchors[name] == 1 else f"{name}-{anchors[name]}"


def _scope(report: DiffReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What was looked at, and what was not: a heading and its lines."""
    told = report.counts
    yield f"Contexts compared: {len(told.contexts)}", told.contexts
    for name, lines in (
        (f"CRDs only in {report.old.name}, not judged", told.only_old),
        (f"CRDs only in {report.new.name}, not judged", told.only_new),
        (f"Contexts only in {report.old.name}, not compared", told.contexts_only_old),
        (f"Contexts only in {report.new.name}, not compared", told.contexts_only_new),
    ):
        yield f"{name}: {len(lines)}", lines
    yield f"Text-only changes: {len(told.text_changes)}", tuple(dict.fromkeys(told.text_changes))
    yield (
        f"Documents that give way to another: {len(told.superseded)}",
        tuple(f"{crd}: {file} gives way to {by}" for crd, file, by in told.superseded),
    )
    yield f"Files skipped: {len(report.skipped)}", tuple(skipped_lines(report.skipped))
    yield f"Remarks: {len(report.remarks)}", tuple(f"{r.file}:{r.line}: {r.message}" for r in report.remarks)


def skipped_lines(skipped: Iterable[Any]) -> Iterator[str]:
    """Skipped files, those of one reason together, the most frequent reason first."""
    by_reason: dict[str, list[str]] = {}
    for item in skipped:
        by_reason.setdefault(item.reason, []).append(f"{item.file}{f' ({item.side})' if item.side else ''}")
    for reason, files in sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0])):
        yield f"{reason}: {len(files)}"
        yield from (f"  {file}" for file in files)


def side_line(release: Release) -> str:
    """What is known of a side beside its name."""
    told = [f"commit {release.commit[:12]}"] if release.commit else []
    return ", ".join([*told, *([f"Kubernetes {release.kubernetes}"] if release.kubernetes else [])])
