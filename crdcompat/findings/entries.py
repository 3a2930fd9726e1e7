"""Entries: findings with one cause become one entry of a report, with all its places and comparisons.

One change of a type changes every CRD that has it: its other versions, CRDs that embed it (ControllerConfig holds an
Infrastructure), CRDs that use the same type. A check compares the head with the base and with each rollback target,
and most findings are met in each comparison.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from crdcompat.crds.context import is_default
from crdcompat.findings.finding import field_of, order
from crdcompat.models.check import CheckReport, Section, sections
from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding
from crdcompat.vocabulary import Against, Owner, Side

_HALVES = frozenset({"spec", "status", "metadata"})
_Key = tuple[Any, ...]
#: The id of the finding that represents another one, by the ``group_key`` of the latter.
GroupIds = dict[_Key, str]


class Entry(Struct, frozen=True, eq=False):
    """Findings with one cause: ``finding`` represents all, ``mirrors`` are those in other places, each id once.

    ``home`` is the comparison that has ``finding``, ``met`` are all comparisons that have one of the findings.
    ``otherwise`` are findings of its id in that comparison whose contexts have another effect, or no example object.
    ``ids`` are the ids of all of them. All have the same status, and all or none are waived.
    """

    finding: Finding
    mirrors: tuple[Finding, ...]
    home: Section
    met: tuple[Section, ...]
    otherwise: tuple[Finding, ...] = ()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings of the entry, the representing one first. Reports count these."""
        return (self.finding, *self.mirrors)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(finding.id for finding in self.findings)

    def stands_in(self, section: Section) -> bool:
        """Whether the entry is shown in this comparison."""
        return self.home.report is section.report

    def is_met_in(self, section: Section) -> bool:
        """Whether this comparison has one of the findings."""
        return any(each.report is section.report for each in self.met)


class _Member(Struct, frozen=True, eq=False):
    finding: Finding
    number: int  # of the comparison


def entries(report: DiffReport | CheckReport) -> tuple[Entry, ...]:
    """All findings of a report as entries, rollback first, most severe first."""
    compared = sections(report)
    members = (_Member(finding, number) for number, each in enumerate(compared) for finding in each.report.findings)
    made = (_entry(group, compared) for group in _groups(members))
    return tuple(sorted(made, key=lambda entry: order(entry.finding)))


def alone(report: DiffReport) -> tuple[Entry, ...]:
    """Each finding of a comparison as an entry of its own, for reports that count places."""
    home = Section(Against.BASE, report)
    return tuple(Entry(finding, (), home, (home,)) for finding in report.findings)


def group_ids(report: DiffReport | CheckReport) -> GroupIds:
    """For each finding, by ``group_key``, the id of the finding that represents it."""
    return {(*_state(entry.finding), name): entry.finding.id for entry in entries(report) for name in entry.ids}


def group_key(finding: Finding) -> _Key:
    """The key of a finding in a report: a waiver or a status may split the findings of one id."""
    return (*_state(finding), finding.id)


def _groups(members: Iterable[_Member]) -> Iterable[list[_Member]]:
    """Members that share an id or a cause, directly or through others."""
    above: dict[_Key, _Key] = {}

    def top(key: _Key) -> _Key:
        while (up := above.setdefault(key, key)) != key:
            above[key] = key = above[up]
        return key

    listed = [(member, ("id", *group_key(member.finding))) for member in members]
    for member, key in listed:
        for cause in _causes(member.finding):
            above[top(cause)] = top(key)
    groups: dict[_Key, list[_Member]] = {}
    for member, key in listed:
        groups.setdefault(top(key), []).append(member)
    return groups.values()


def _causes(finding: Finding) -> Iterator[_Key]:
    """The keys that findings with one cause share: the field, and its values before and after.

    A change outside the schema, such as a version that several CRDs lose, is the same in each of them. A field at the
    top of objects has copies in the versions of its CRD alone: ``spec`` of another CRD is another type. CRDs that leave
    a folder, as with a chart, leave for one reason.
    """
    if finding.change == "crd.removed" and finding.locations:
        folder = finding.locations[0].file.rpartition("/")[0]
        yield (*_state(finding), finding.direction, finding.rule, finding.effect, finding.contexts, folder)
        return
    if not (finding.added or finding.removed or finding.old is not None or finding.new is not None):
        return
    facts = orjson.dumps([finding.old, finding.new, finding.added, finding.removed], option=orjson.OPT_SORT_KEYS)
    judgement = (*_state(finding), finding.direction, finding.rule, finding.effect, facts)
    half = next((step for step in reversed(finding.path.split(".")) if step in _HALVES), "")
    if finding.owner == Owner.CRD:
        yield (*judgement, finding.path)
    elif half in ("", finding.path):
        yield (*judgement, finding.crd, finding.path)
    else:
        yield (*judgement, half, field_of(finding.path))


def _state(finding: Finding) -> _Key:
    return (finding.waiver is not None, finding.status)


def _entry(group: list[_Member], compared: Sequence[Section]) -> Entry:
    first, *others = sorted(group, key=_rank)
    mirrors = {member.finding.id: member.finding for member in reversed(others)}
    mirrors.pop(first.finding.id, None)
    same = [each.finding for each in group if (each.number, each.finding.id) == (first.number, first.finding.id)]
    alike = [each for each in same if _outcome(each) == _outcome(first.finding)]
    contexts = dict.fromkeys(context for each in (first.finding, *alike) for context in each.contexts)
    numbers = sorted({member.number for member in group})
    return Entry(
        replace(first.finding, contexts=tuple(contexts)),
        tuple(sorted(mirrors.values(), key=order)),
        compared[first.number],
        tuple(compared[number] for number in numbers),
        tuple(each for each in same if _outcome(each) != _outcome(first.finding)),
    )


def _outcome(finding: Finding) -> _Key:
    """What a finding claims of its contexts: the effect, and whether an example object proves it."""
    return (finding.effect, finding.witness.object is None)


def _rank(member: _Member) -> _Key:
    """The worst first; then the base before targets, touched files, Default, and the shortest path."""
    finding = member.finding
    is_touched = any(place.touched and place.side == Side.NEW for place in finding.locations)
    is_in_default = any(map(is_default, finding.contexts))
    return (
        finding.severity.rank,
        member.number,
        not is_touched,
        not is_in_default,
        finding.path.count("."),
        order(finding),
    )
