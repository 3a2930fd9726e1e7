"""Findings and undecided differences as entries of a page, in groups by severity, groups in directions."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct, field

from crdcompat.render.pages.blocks import Brief, Entries, Section
from crdcompat.render.pages.finding import Placed, Setting, finding_entries, undecided_entries
from crdcompat.render.wording.entry_sentences import findings_of
from crdcompat.render.wording.findings import direction_title, plural
from crdcompat.render.wording.joined_entries import causes
from crdcompat.vocabulary import Direction, FindingStatus, Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crdcompat.findings.entries import Entry
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding

#: Most items on a page; a larger report omits items of severity info.
_MAX_ITEMS = 10_000


class Findings(Struct):
    """Gives the findings of a page their places, in its order; ``placed`` are those that count, by direction.

    ``existing``: findings that existed before a change are neither folded nor hidden. ``is_large``: the page has no
    room for items of severity info.
    """

    existing: bool = False
    is_large: bool = False
    placed: dict[Direction, list[Placed]] = field(default_factory=dict)
    _anchors: Counter[str] = field(default_factory=Counter)

    def direction(
        self, setting: Setting, listed: Iterable[Entry], direction: Direction, role: str = "direction"
    ) -> Iterator[Section]:
        """The ``listed`` entries of one direction in groups, if there are any."""
        found = [entry for entry in listed if entry.finding.direction == direction]
        if not found:
            return
        anchor = self.anchor(direction)
        counting = [entry for entry in found if entry.finding.counts]
        by_name: dict[str, list[Entry]] = {
            **{severity: [each for each in counting if each.finding.severity == severity] for severity in Severity},
            "existing": [
                each for each in found if each.finding.waiver is None and each.finding.status != FindingStatus.NEW
            ],
            "waived": [entry for entry in found if entry.finding.waiver is not None],
        }
        headings = {each: cause.heading for cause in causes(counting) if cause.is_shared for each in cause.entries}
        groups = tuple(
            self._group(setting, f"{direction}-{name}", name, alike, counting, headings)
            for name, alike in by_name.items()
            if alike
        )
        said = direction_title(setting.report, direction)
        yield Section(said, groups, anchor=anchor, short=direction.capitalize(), role=role)

    def undecided(self, setting: Setting, said: Section | Brief) -> Iterator[Entries]:
        """Differences that no facet judges, if there are any; ``said`` is how text shows them."""
        if found := setting.report.undecided:
            anchors = [self.anchor("undecided") for _ in found]
            make = partial(undecided_entries, setting, anchors)
            yield Entries(f"{len(found)} undecided", len(found), make, (said,), self.anchor("not-judged"))

    def anchor(self, name: str) -> str:
        """A unique id of an element: the name, with a number from its second use on."""
        self._anchors[name] += 1
        return name if self._anchors[name] == 1 else f"{name}-{self._anchors[name]}"

    def _group(
        self,
        setting: Setting,
        anchor: str,
        name: str,
        alike: Sequence[Entry],
        counting: Sequence[Entry],
        headings: Mapping[Entry, str],
    ) -> Entries:
        """Entries of one severity, or that do not count; a mirror of another group counts by its own severity."""
        counts = name in frozenset(Severity)
        count = len(findings_of(counting, Severity(name))) if counts else sum(len(each.findings) for each in alike)
        said = f"{count} {name}" if name in ("waived", "info") else plural(count, name)
        if name == "existing":
            said = f"{plural(count, 'finding')} from before this change"
        shown = [each for each in alike if not (self.is_large and each.finding.severity == Severity.INFO)]
        ordered = [each for cause in causes(shown) for each in cause.entries]
        placed = tuple(Placed(each, self._place(each, setting), headings.get(each, "")) for each in ordered)
        if counts:
            self.placed.setdefault(alike[0].finding.direction, []).extend(placed)
        hidden = name == "existing" and not self.existing
        return Entries(
            said,
            count,
            partial(finding_entries, setting, placed),
            anchor=self.anchor(anchor),
            left_out=sum(len(each.findings) for each in alike) - sum(len(each.findings) for each in shown),
            tone=name if counts else "",
            folded=hidden or name == "waived",
            hidden=hidden,
        )

    def _place(self, entry: Entry, setting: Setting) -> str:
        name = f"f-{entry.finding.id}"
        return name if entry.finding.id in setting.elsewhere else self.anchor(name)


def is_large(reports: Iterable[DiffReport], most: int | None = None) -> bool:
    """Whether the reports have more items than ``most``, by default than fit on a page."""
    count = sum(len(report.findings) + len(report.undecided) for report in reports)
    return count > (_MAX_ITEMS if most is None else most)


def without_excerpts(findings: Iterable[Finding]) -> str:
    """The number of findings with a line but without an excerpt because the page is full; "" if none has one."""
    located = [f for f in findings if any(place.line is not None and place.kind == "yaml" for place in f.locations)]
    without = sum(not finding.excerpts for finding in located)
    if not 0 < without < len(located):
        return ""
    are = "finding is" if without == 1 else "findings are"
    return f"{without} {are} shown without lines of the files. This page has no room for more."
