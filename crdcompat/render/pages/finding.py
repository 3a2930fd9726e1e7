"""A finding or an undecided difference as an entry of a page: what is beside its name, its details, its facets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.findings.contrast import listed
from crdcompat.findings.entries import Entry as FoundEntry
from crdcompat.render.data.parts import acceptance_data, growth_data
from crdcompat.render.pages.blocks import Code, Entry, Example, Facet, Facts, Fold, Frame, Line, Said
from crdcompat.render.pages.short import frame
from crdcompat.render.rules import EFFECTS
from crdcompat.render.wording.check import unreleased_reason, waive_command
from crdcompat.render.wording.entry_sentences import (
    and_in_more,
    detail_lines,
    met_line,
    mirror_line,
    more_places,
    otherwise_lines,
    section_key,
)
from crdcompat.render.wording.findings import (
    commit_line,
    crd_name,
    expired_waiver_sentence,
    fix_line,
    in_contexts,
    place,
    recorded,
    shown_places,
    undecided_line,
)
from crdcompat.render.wording.joined_entries import predicate
from crdcompat.render.wording.summaries import subject, title
from crdcompat.vocabulary import Direction, FindingStatus, Owner, Severity
from crdcompat.vocabulary.writes import Operation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from crdcompat.models.diff import DiffReport, UndecidedEntry
    from crdcompat.models.finding import Location

SEVERITY = Facet("severity", "Severity", (*Severity, "undecided"))
OWNER = Facet("owner", "Owner", tuple(Owner))
STATUS = Facet("status", "Status", (*FindingStatus, "waived"))
CRD, CONTEXT, RULE = Facet("crd", "CRD"), Facet("context", "Context"), Facet("rule", "Rule")
DIRECTION = Facet("direction", "Direction", tuple(Direction))

_MAX_VALUES = 50
_WINDOWS = {
    "old_crd_new_writer": "OLD's CRD, NEW's writers",
    "new_crd_old_writer": "NEW's CRD, OLD's writers",
}
#: Title of an example object, by the write that shows the finding.
_EXAMPLES: Mapping[Operation | None, str] = {
    None: "Example object: the smallest one found that shows it",
    Operation.STATUS: "Example object that replaces the status of the stored one",
    Operation.MAIN: "Example object that replaces the stored one",
}


class Setting(Struct, frozen=True):
    """The comparison that entries belong to, with the values of facets that all its entries have.

    ``report_file``: the JSON report that a waiver command reads, if it needs one. ``since``: id of a finding -> lines
    on since when it blocks. ``elsewhere``: ids of findings that have their details in another part of the page.
    """

    report: DiffReport
    facets: Mapping[str, str]
    report_file: str = ""
    since: Mapping[str, Sequence[str]] = {}
    elsewhere: Set[str] = frozenset()


class Placed(Struct, frozen=True):
    """An entry of findings, its place on the page, and the heading of the cause that it shares with others."""

    entry: FoundEntry
    anchor: str
    cause: str = ""


def finding_entries(setting: Setting, placed: Sequence[Placed]) -> Iterator[Entry]:
    """Findings as entries of a page."""
    return (_finding_entry(setting, each) for each in placed)


def _finding_entry(setting: Setting, placed: Placed) -> Entry:
    entry, finding = placed.entry, placed.entry.finding
    known = entry.home.report.counts.contexts
    size, is_info = len(entry.findings), finding.severity == Severity.INFO
    met = {"section": tuple(map(section_key, entry.met)) * size} if len(entry.met) > 1 else {}
    crd = f"{crd_name(finding.crd, finding.version)}{in_contexts(finding, known)}"
    is_link = finding.id in setting.elsewhere
    return Entry(
        name=finding.path or "the CRD itself",
        tone=finding.severity,
        beside=(crd, finding.rule, *((f"same change in {more_places((entry,))}",) if entry.mirrors else ())),
        said="" if is_info else f"{predicate(finding)}.",
        blocks=() if is_link else tuple(_details(setting, placed)),
        anchor=placed.anchor,
        facets={
            "severity": tuple(each.severity for each in entry.findings),
            "direction": finding.direction,
            "owner": finding.owner,
            "status": "waived" if finding.waiver is not None else finding.status,
            "crd": tuple(each.crd for each in entry.findings),
            "context": tuple(context for each in entry.findings for context in each.contexts),
            "rule": finding.rule,
            **setting.facets,
            **met,
        },
        kind=finding.kind,
        size=size,
        cause=placed.cause,
        is_link=is_link,
        title=title(finding),
        subject=subject(finding),
        line=f"{subject(finding)}: {finding.effect} [{title(finding)}]{and_in_more(entry)}",
        lines=tuple(detail_lines(entry, known)),
        places=tuple(map(mirror_line, entry.mirrors)),
        after=tuple(Line(line, hang=2) for line in met_line(entry)),
    )


def _details(setting: Setting, placed: Placed) -> Iterator[Line | Said | Frame | Example | Code | Facts]:
    entry, finding = placed.entry, placed.entry.finding
    witness, is_info = finding.witness, finding.severity == Severity.INFO
    if is_info:
        yield Line(f"{predicate(finding)}.")
    if witness.errors:
        yield Said(tuple(witness.errors))
    fix = fix_line(finding).rpartition(" (")[0]
    yield Line(fix, "Fix:", links=((f"rule-{finding.rule}", "Why, and all fixes"),))
    yield frame(finding)
    if witness.stored is not None:
        yield Example("Stored object", witness.stored)
    if witness.object is not None:
        yield Example(_EXAMPLES[witness.operation], witness.object)
    if finding.counts and not is_info:
        command = waive_command(entry.ids, setting.report_file)
        yield Code("Accept it instead, with a reason", (command,), "command")
    rows = (("Blocks", *setting.since.get(finding.id, ())), *_fact_rows(entry, setting.report), ("Id", finding.id))
    yield _facts(*rows)


def undecided_entries(setting: Setting, anchors: Sequence[str]) -> Iterator[Entry]:
    """The undecided differences of a comparison as entries of a page, each at its place."""
    return (_undecided_entry(setting, *each) for each in zip(setting.report.undecided, anchors, strict=True))


def _undecided_entry(setting: Setting, item: UndecidedEntry, anchor: str) -> Entry:
    head = re.split(r"[.\[]", item.path)[0]
    facts = _facts(
        ("OLD", listed((item.old,))),
        ("NEW", listed((item.new,))),
        ("Contexts", *_contexts(item.contexts, setting.report)),
        ("Places", *_places(item.locations)),
    )
    return Entry(
        name=item.path or "the CRD itself",
        tone="undecided",
        beside=(item.keyword, crd_name(item.crd, item.version)),
        said=f"{item.keyword}: {item.reason}.",
        blocks=(Frame(item.excerpts), facts),
        anchor=anchor,
        facets={
            "severity": "undecided",
            "direction": tuple(Direction),
            "owner": head if head in (Owner.STATUS, Owner.SPEC, Owner.METADATA) else Owner.OTHER,
            "status": FindingStatus.NEW,
            "crd": item.crd,
            "context": item.contexts,
            **setting.facets,
        },
        lines=(Line(undecided_line(item), fold=Fold.NEVER),),
    )


def _facts(*rows: tuple[str, ...]) -> Facts:
    """The rows that have text."""
    return Facts(tuple((name, tuple(texts)) for name, *texts in rows if any(texts)))


def _fact_rows(entry: FoundEntry, report: DiffReport) -> Iterator[tuple[str, ...]]:
    finding = entry.finding
    witness, evidence = finding.witness, finding.evidence
    yield "Effect", f"{finding.effect}: {EFFECTS.get(finding.effect, 'nothing happens')}"
    yield "Written by", finding.owner
    yield "Added", listed(finding.added, _MAX_VALUES)
    yield "Removed", listed(finding.removed, _MAX_VALUES)
    yield "Lost", ", ".join(witness.pruned)
    yield "Set by default", ", ".join(witness.defaulted)
    yield "Severity because", ", ".join(finding.because)
    yield "Rejected writes", ", ".join(finding.writes or ())
    yield "No example object", str(witness.reason or "") if witness.object is None else ""
    if evidence.recorded_objects:
        yield "Met by", recorded(evidence)
    if finding.introduced_by is not None:
        yield "Introduced by", commit_line(finding.introduced_by)
    yield "Also at", *finding.places
    yield "Same change", *map(mirror_line, entry.mirrors)
    if len(entry.met) > 1:
        yield "Met against", *map(section_key, entry.met)
    yield "Contexts", *_contexts(finding.contexts, report)
    yield "Other contexts", *otherwise_lines(entry, report.counts.contexts)
    yield "Mixed versions", *(f"{name}: {getattr(finding.windows, key)}" for key, name in _WINDOWS.items())
    yield "Places", *_places(finding.locations)
    if finding.waiver is not None:
        yield (
            "Waived",
            *(f"{name}: {value}" for name, value in acceptance_data(finding.waiver).items() if value is not None),
        )
    if finding.growth is not None:
        data = growth_data(finding.growth)
        yield "Two-step growth", *(f"{name.replace('_', ' ')}: {value}" for name, value in data.items() if value)
    if finding.ended:
        yield "Waiver", f"{expired_waiver_sentence(finding)}."
    if finding.status == FindingStatus.EXISTING:
        yield "Existing", "the finding is older than this change"
    if finding.status == FindingStatus.UNRELEASED:
        yield "Unreleased", unreleased_reason()


def _contexts(names: Sequence[str], report: DiffReport) -> tuple[str, ...]:
    known = report.counts.contexts
    return (f"all {len(known)}",) if len(known) > 1 and set(names) == set(known) else tuple(names)


def _places(locations: Sequence[Location]) -> Iterator[str]:
    return (f"{location.side}: {place(location)}" for location in shown_places(locations))
