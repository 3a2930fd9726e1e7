"""Findings and undecided differences as items of a page, in groups, groups in directions."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.findings.finding import listed
from crdcompat.render.data.parts import acceptance_data, growth_data
from crdcompat.render.rules import EFFECTS
from crdcompat.render.wording.causes import causes
from crdcompat.render.wording.check import unreleased_reason, waive_command
from crdcompat.render.wording.entries import findings_of, mirror_line, otherwise_lines, section_key
from crdcompat.render.wording.findings import (
    commit_line,
    direction_title,
    expired_waiver_sentence,
    place,
    plural,
    recorded,
    shown_places,
)
from crdcompat.vocabulary import Direction, FindingStatus, Owner, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

    from crdcompat.findings.entries import Entry
    from crdcompat.models.diff import DiffReport, UndecidedEntry
    from crdcompat.models.finding import Finding, Location
    from crdcompat.render.html.facets import Facets
    from crdcompat.vocabulary import Direction

#: A name and the lines under it.
_Row = tuple[str, ...]

#: Most items on a page; a larger report omits those of severity info.
_MAX_ITEMS = 10_000
_MAX_VALUES = 50
_WINDOWS = {
    "old_crd_new_writer": "OLD's CRD, NEW's writers",
    "new_crd_old_writer": "NEW's CRD, OLD's writers",
}


class Items(Struct):
    """Makes the items of a page in its order, and adds the values of each to the filters.

    ``more``: values of facets for all items made until it changes. ``existing``: findings that existed before a change
    are neither folded nor hidden. ``report_file``: the JSON report that a waiver command reads, if it needs one.
    ``elsewhere``: ids of findings that have their details in another part of the page, until it changes.
    """

    facets: Facets
    existing: bool = False
    report_file: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    elsewhere: Set[str] = frozenset()
    _anchors: Counter[str] = field(default_factory=Counter)

    def direction(
        self,
        report: DiffReport,
        listed: Sequence[Entry],
        direction: Direction,
        since: Mapping[str, Sequence[str]] | None = None,
    ) -> DirectionPart:
        """The ``listed`` entries of one direction; ``since``: id of a finding -> lines on since when it blocks."""
        found = [entry for entry in listed if entry.finding.direction == direction]
        counting = [entry for entry in found if entry.finding.counts]
        waived = [entry for entry in found if entry.finding.waiver is not None]
        there = [each for each in found if each.finding.waiver is None and each.finding.status != FindingStatus.NEW]
        by_name: dict[str, list[Entry]] = {
            **{severity: [each for each in counting if each.finding.severity == severity] for severity in Severity},
            "existing": there,
            "waived": waived,
        }
        headings = {each: cause.heading for cause in causes(counting) if cause.is_shared for each in cause.entries}
        hidden = () if self.existing else ("existing",)
        groups = [
            Group(
                self.anchor(f"{direction}-{name}"),
                _title(name, _count(name, alike, counting)),
                tuple(
                    self._item(each, report, since or {}, headings.get(each, ""))
                    for cause in causes(alike)
                    for each in cause.entries
                ),
                folded=name in hidden or name == "waived",
                hidden=name in hidden,
                counts=name in frozenset(Severity),
            )
            for name, alike in by_name.items()
            if alike
        ]
        title = direction_title(report, direction).replace(" -> ", " → ")
        return DirectionPart(self.anchor(direction), title, tuple(groups), direction)

    def undecided(self, report: DiffReport) -> DirectionPart:
        """Differences that no facet judges."""
        items = tuple(self._open(entry, report) for entry in report.undecided)
        groups = (Group(self.anchor("not-judged-all"), f"{len(items)} undecided", items),) if items else ()
        return DirectionPart(self.anchor("not-judged"), "Differences that this version does not judge", groups)

    def anchor(self, name: str) -> str:
        """A unique id of an element: the name, with a number from its second use on."""
        self._anchors[name] += 1
        return name if self._anchors[name] == 1 else f"{name}-{self._anchors[name]}"

    def _item(self, entry: Entry, report: DiffReport, since: Mapping[str, Sequence[str]], cause: str) -> Item:
        finding = entry.finding
        size = len(entry.findings)
        met = {"section": tuple(map(section_key, entry.met)) * size} if len(entry.met) > 1 else {}
        self.facets.add(
            size,
            severity=tuple(each.severity for each in entry.findings),
            direction=finding.direction,
            owner=finding.owner,
            status="waived" if finding.waiver is not None else finding.status,
            crd=tuple(each.crd for each in entry.findings),
            context=tuple(context for each in entry.findings for context in each.contexts),
            rule=finding.rule,
            **{**self.more, **met},
        )
        if finding.id in self.elsewhere:
            return Item(f"f-{finding.id}", (), entry, is_link=True)
        return Item(
            self.anchor(f"f-{finding.id}"),
            _facts(("Blocks", *since.get(finding.id, ())), *_fact_rows(entry, report)),
            entry,
            cause=cause,
            waive=waive_command(entry.ids, self.report_file) if _can_be_waived(finding) else "",
        )

    def _open(self, entry: UndecidedEntry, report: DiffReport) -> Item:
        head = re.split(r"[.\[]", entry.path)[0]
        self.facets.add(
            severity="undecided",
            direction=tuple(Direction),
            owner=head if head in (Owner.STATUS, Owner.SPEC, Owner.METADATA) else Owner.OTHER,
            status=FindingStatus.NEW,
            crd=entry.crd,
            context=entry.contexts,
            **self.more,
        )
        facts = _facts(
            ("OLD", listed((entry.old,))),
            ("NEW", listed((entry.new,))),
            ("Contexts", *_contexts(entry.contexts, report)),
            ("Places", *_places(entry.locations)),
        )
        return Item(self.anchor("undecided"), facts, undecided=entry)


def is_large(reports: Iterable[DiffReport], most: int | None = None) -> bool:
    """Whether the reports have more items than ``most``, by default than fit on a page."""
    count = sum(len(report.findings) + len(report.undecided) for report in reports)
    return count > (_MAX_ITEMS if most is None else most)


def without_info(report: DiffReport) -> tuple[DiffReport, int]:
    """The report without findings of severity info, and their number."""
    kept = tuple(finding for finding in report.findings if finding.severity != Severity.INFO)
    return replace(report, findings=kept), len(report.findings) - len(kept)


def _can_be_waived(finding: Finding) -> bool:
    return finding.counts and finding.severity != Severity.INFO


def _facts(*rows: _Row) -> tuple[Fact, ...]:
    """The rows that have text."""
    return tuple(Fact(name, tuple(texts)) for name, *texts in rows if any(texts))


def _count(name: str, alike: Sequence[Entry], counting: Sequence[Entry]) -> int:
    """The number of findings of a group; a mirror of another group counts by its own severity."""
    if name in frozenset(Severity):
        return len(findings_of(counting, Severity(name)))
    return sum(len(entry.findings) for entry in alike)


def _title(name: str, count: int) -> str:
    if name == "existing":
        return f"{plural(count, 'finding')} from before this change"
    return f"{count} {name}" if name in ("waived", "info") else plural(count, name)


def _fact_rows(entry: Entry, report: DiffReport) -> Iterator[_Row]:
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


class Fact(Struct, frozen=True):
    """A name, and the lines below it."""

    name: str
    texts: tuple[str, ...]


class Item(Struct, frozen=True):
    """An entry of findings, or an undecided difference, with its place on the page.

    ``cause`` heads items of one cause, which follow each other. ``waive`` is the command that accepts the findings, ""
    if there are none to accept. ``is_link``: the details are at
    the anchor, elsewhere on the page.
    """

    anchor: str
    facts: tuple[Fact, ...]
    entry: Entry | None = None
    undecided: UndecidedEntry | None = None
    cause: str = ""
    waive: str = ""
    is_link: bool = False


class Group(Struct, frozen=True):
    """Items under one heading; a ``folded`` group is closed at first.

    ``hidden``: filters show its items only if their status is chosen. ``counts``: its items are part of the verdict.
    """

    anchor: str
    title: str
    items: tuple[Item, ...]
    folded: bool = False
    hidden: bool = False
    counts: bool = True


class DirectionPart(Struct, frozen=True):
    """The groups of one direction (None: of both)."""

    anchor: str
    title: str
    groups: tuple[Group, ...]
    direction: Direction | None = None
