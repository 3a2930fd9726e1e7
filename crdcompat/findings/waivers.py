"""Waivers: a person's recorded acceptance of one finding, with a reason, an owner and an end.

A waiver names the accepted values: members of an enum, or the old and new value of another keyword. It does not cover
later additions or changes. After its end (a day, or a release) a waiver has no effect, and is reported; so is a waiver
that matches no finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from hashlib import blake2b
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.compare.facet import WaivedBy
from crdcompat.compare.registry import waived_by
from crdcompat.models.finding import Acceptance, Finding
from crdcompat.schema.equality import canonical
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Severity

_RELEASE = re.compile(r"(?<![\d.])(\d+)\.(\d+)")
#: A value with longer JSON is written as a digest, because people read waivers.
_MAX_VALUE_LENGTH = 200
#: The keys of a waiver besides the place, by the kind of values that it names.
_KEYS = {WaivedBy.OLD_AND_NEW: ("old", "new"), WaivedBy.VALUES: ("values",), WaivedBy.PLACE: ()}


class Waiver(Struct, frozen=True, eq=False):
    """One waiver of the file; ``line`` counts from 1. ``values`` is None if the rule has none.

    ``old`` and ``new`` are the keyword's values as in the report (long ones as from ``brief``), ABSENT if the file has
    none. ``severity`` is the worst accepted severity, None for any. ``of_change``: the change that is checked adds it.
    ``in_source``: it is a marker in the Go source.
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
    file: str = ""
    line: int = 0
    of_change: bool = False
    in_source: bool = False

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}"

    @property
    def label(self) -> str:
        """The rule and what it covers, for messages."""
        return f"{self.rule} {self.crd}/{self.version} {self.path} ({self.direction})"

    def is_about(self, finding: Finding) -> bool:
        """Whether the waiver names the finding, and at least one of its values."""
        mine = (self.crd, self.version, self.rule, self.direction)
        theirs = (finding.crd, finding.version, finding.rule, finding.direction)
        here = mine == theirs and self.path in (finding.path, *finding.places)
        return here and self._accepts_of(finding) and not self._is_exceeded(finding)

    def _is_exceeded(self, finding: Finding) -> bool:
        """Whether the finding is worse than accepted, for example since it has reached the default feature set."""
        return self.severity is not None and finding.severity.rank < self.severity.rank

    def _accepts_of(self, finding: Finding) -> bool:
        if has_values(finding):
            mine = {member_key(value) for value in self.values or ()}
            return any(member_key(value) in mine for value in finding.added or finding.removed)
        sides = ((self.old, finding.old), (self.new, finding.new))
        return all(named is ABSENT or canonical(named) == canonical(brief(value)) for named, value in sides)

    def expired(self, today: date, release: str) -> bool:
        """Whether the waiver has ended: see ``has_ended``."""
        return has_ended(self.until, today, release)

    def end_is_unknown(self, release: str) -> bool:
        """Whether the waiver ends with a release, but the name of the given release contains no version."""
        return is_unending(self.until, release)

    @property
    def acceptance(self) -> Acceptance:
        """The acceptance that a report shows with the finding."""
        marker = self.place if self.in_source else ""
        return Acceptance(self.reason, self.owner, self.until, self.baseline, self.of_change, marker)


#: (Finding, values) -> the finding for these values, and for its others; None for an empty part.
Split = Callable[[Finding, Sequence[Any]], tuple[Finding | None, Finding | None]]


class Applied(Struct, frozen=True):
    """Findings with their waivers, and the waivers that were used (by identity)."""

    findings: tuple[Finding, ...]
    used: frozenset[int]


def apply_waivers(findings: Iterable[Finding], waivers: Sequence[Waiver], split: Split) -> Applied:
    """Mark waived findings. A finding with only some waived values becomes two: the waived part, and the rest.

    ``split`` makes the two findings: for the given values, and for the others. A finding that is accepted stays as it
    is.
    """
    made: list[Finding] = []
    used: set[int] = set()
    for finding in findings:
        about = _naming(finding, waivers) if finding.waiver is None else []
        used.update(map(id, about))
        accepted, rest = _accepted(finding, about, split) if about else (None, finding)
        if accepted is not None:
            # An entry that the change adds is shown before an older one that covers another part.
            first = next((waiver for waiver in about if waiver.of_change), about[0])
            made.append(replace(accepted, waiver=first.acceptance))
        if rest is not None:
            made.append(rest)
    return Applied(tuple(made), frozenset(used))


def with_ended(findings: Iterable[Finding], expired: Sequence[Waiver]) -> Iterator[Finding]:
    """The findings; those that count again carry a note on the expired waiver."""
    for finding in findings:
        ended = next((waiver for waiver in expired if waiver.is_about(finding)), None) if finding.counts else None
        yield replace(finding, ended=f"{ended.place}: until {ended.until}") if ended is not None else finding


def has_values(finding: Finding) -> bool:
    """Whether waivers accept the values of this finding one by one."""
    return bool(finding.added or finding.removed) and waived_by(finding.rule) is WaivedBy.VALUES


def asks_for(rule: str) -> tuple[str, ...]:
    """The keys that a waiver of this rule requires besides the place."""
    return _KEYS[waived_by(rule)]


def brief(value: Any) -> Any:
    """A keyword's value as written in a waiver: a long one as a digest."""
    text = canonical(value)
    return value if len(text) <= _MAX_VALUE_LENGTH else f"digest:{blake2b(text, digest_size=12).hexdigest()}"


def _naming(finding: Finding, waivers: Sequence[Waiver]) -> list[Waiver]:
    """The waivers that name a finding; none unless they cover each of its places."""
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


def has_ended(until: str, today: date, release: str) -> bool:
    """Whether a waiver has ended: after the day ``until``, or from that release on (by version)."""
    if not until:
        return False
    if until.count("-") == 2:
        return today > date.fromisoformat(until)
    ends, now = release_numbers(until), release_numbers(release)
    return ends is not None and now is not None and now >= ends


def is_unending(until: str, release: str) -> bool:
    """Whether a waiver ends with a release, and the name of the given release contains no version."""
    return bool(until) and until.count("-") != 2 and release_numbers(release) is None


def release_numbers(name: str) -> tuple[int, int] | None:
    """Major and minor of the last version in the name of a release; None without a version."""
    found = _RELEASE.findall(name)
    return (int(found[-1][0]), int(found[-1][1])) if found else None
