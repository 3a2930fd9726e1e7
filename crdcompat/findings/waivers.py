"""Waivers: a person's recorded acceptance of one finding, with a reason, an owner and an end.

A waiver names what it accepts by value: the values of an enum, or what another keyword was and became. What is added
or changed later is not covered. After its end (a day, or the release that is compared) a waiver stops working and is
reported; so is one that nothing matches any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from hashlib import blake2b
from typing import Any

from crdcompat.compare.changes import canonical
from crdcompat.compare.facet import WaivedBy
from crdcompat.compare.registry import waived_by
from crdcompat.models.finding import Acceptance, Finding
from crdcompat.schema.enums import member_key
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Severity

_RELEASE = re.compile(r"(?<![\d.])(\d+)\.(\d+)")
#: What is longer as JSON is held by a digest: a waiver is read by people.
_LONGEST_SHOWN = 200
#: The keys of a waiver by what it names beside the place.
_KEYS = {WaivedBy.OLD_AND_NEW: ("old", "new"), WaivedBy.VALUES: ("values",), WaivedBy.PLACE: ()}


@dataclass(frozen=True, eq=False)
class Waiver:
    """One waiver as it stands in the file; ``line`` counts from 1. ``values`` is None where the rule has none.

    ``old`` and ``new`` are the keyword's values as the report has them (long ones as ``brief`` has them), ABSENT
    where the file does not say. ``severity`` is the worst that is accepted, None any.
    """

    crd: str
    version: str
    path: str
    rule: str
    direction: Direction
    reason: str
    values: tuple[Any, ...] | None = None
    old: Any = ABSENT
    new: Any = ABSENT
    severity: Severity | None = None
    owner: str = ""
    until: str = ""
    baseline: bool = False
    line: int = 0

    @property
    def label(self) -> str:
        """What it is about, for messages."""
        return f"{self.rule} {self.crd}/{self.version} {self.path} ({self.direction})"

    def is_about(self, finding: Finding) -> bool:
        """Whether it names the finding; which of its values, is another question."""
        mine = (self.crd, self.version, self.rule, self.direction)
        theirs = (finding.crd, finding.version, finding.rule, finding.direction)
        here = mine == theirs and self.path in (finding.path, *finding.places)
        return here and self._accepts_of(finding) and not self._is_exceeded(finding)

    def _is_exceeded(self, finding: Finding) -> bool:
        """Whether the finding is worse than what was accepted: it came to a feature set that everybody has."""
        return self.severity is not None and finding.severity.rank < self.severity.rank

    def _accepts_of(self, finding: Finding) -> bool:
        if has_values(finding):
            mine = {member_key(value) for value in self.values or ()}
            return any(member_key(value) in mine for value in finding.added or finding.removed)
        sides = ((self.old, finding.old), (self.new, finding.new))
        return all(said is ABSENT or canonical(said) == canonical(brief(value)) for said, value in sides)

    def expired(self, today: date, release: str) -> bool:
        """Whether its end has come: the day after ``until``, or from that release on (by its name's numbers)."""
        if not self.until:
            return False
        if self.until.count("-") == 2:
            return today > date.fromisoformat(self.until)
        ends, now = _numbers(self.until), _numbers(release)
        return ends is not None and now is not None and now >= ends

    def end_is_unknown(self, release: str) -> bool:
        """Whether it ends with a release, and the name of this one does not tell which it is."""
        return bool(self.until) and self.until.count("-") != 2 and _numbers(release) is None

    @property
    def acceptance(self) -> Acceptance:
        """What a report shows of it with its finding."""
        return Acceptance(self.reason, self.owner, self.until, self.baseline)


#: A finding and some of its values -> the finding for those, and for the others; None where there are none.
Split = Callable[[Finding, Sequence[Any]], tuple[Finding | None, Finding | None]]


@dataclass(frozen=True, slots=True)
class Applied:
    """Findings with their waivers, and the waivers that were used (by identity)."""

    findings: tuple[Finding, ...]
    used: frozenset[int]


def apply_waivers(findings: Iterable[Finding], waivers: Sequence[Waiver], split: Split) -> Applied:
    """Mark what is waived. A finding whose values are waived only in part becomes two: that part, and the rest.

    ``split`` makes two findings of one: for the values given, and for the others.
    """
    made: list[Finding] = []
    used: set[int] = set()
    for finding in findings:
        about = _naming(finding, waivers)
        used.update(map(id, about))
        accepted, rest = _accepted(finding, about, split) if about else (None, finding)
        if accepted is not None:
            made.append(replace(accepted, waiver=about[0].acceptance))
        if rest is not None:
            made.append(rest)
    return Applied(tuple(made), frozenset(used))


def with_ended(findings: Iterable[Finding], expired: Sequence[Waiver], file: str) -> Iterator[Finding]:
    """The findings, those that count again with the waiver of ``file`` whose end has come."""
    for finding in findings:
        ended = next((waiver for waiver in expired if waiver.is_about(finding)), None) if finding.counts else None
        yield replace(finding, ended=f"{file}:{ended.line}: until {ended.until}") if ended is not None else finding


def has_values(finding: Finding) -> bool:
    """Whether it is about values that are accepted one by one."""
    return bool(finding.added or finding.removed) and waived_by(finding.rule) is WaivedBy.VALUES


def asks_for(rule: str) -> tuple[str, ...]:
    """The keys that a waiver of this rule has to have beside the place."""
    return _KEYS[waived_by(rule)]


def brief(value: Any) -> Any:
    """A keyword's value as a waiver holds it: a long one as a digest."""
    text = canonical(value)
    return value if len(text) <= _LONGEST_SHOWN else f"digest:{blake2b(text, digest_size=12).hexdigest()}"


def _naming(finding: Finding, waivers: Sequence[Waiver]) -> list[Waiver]:
    """The waivers about a finding: of one that stands for several places, only if each of them is named."""
    about = [waiver for waiver in waivers if waiver.is_about(finding)]
    named = {waiver.path for waiver in about}
    return about if named >= {finding.path, *finding.places} else []


def _accepted(finding: Finding, waivers: Sequence[Waiver], split: Split) -> tuple[Finding | None, Finding | None]:
    if not has_values(finding):
        return finding, None
    paths = {finding.path, *finding.places}
    named = [{member_key(v) for w in waivers if w.path == path for v in w.values or ()} for path in paths]
    values = finding.added or finding.removed
    return split(finding, [value for value in values if all(member_key(value) in each for each in named)])


def _numbers(name: str) -> tuple[int, int] | None:
    found = _RELEASE.findall(name)
    return (int(found[-1][0]), int(found[-1][1])) if found else None
