"""Waivers: a person's recorded acceptance of one finding, with a reason, an owner and an end.

A waiver names what it accepts by value: a value that is added later to the same enum is not covered. After its end (a
day, or the release that is compared) it stops working and is reported; so is one that nothing matches any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from crdcompat.policy.config import ConfigError, check_schema, read_mapping
from crdcompat.policy.findings import Finding
from crdcompat.policy.rules import rule_names
from crdcompat.schema.sample import member_key

_RELEASE = re.compile(r"(?<![\d.])(\d+)\.(\d+)")


@dataclass(frozen=True, eq=False)
class Waiver:
    """One waiver as it stands in the file; ``line`` counts from 1. ``values`` is None where the rule has none."""

    crd: str
    version: str
    path: str
    rule: str
    direction: str
    reason: str
    values: tuple[Any, ...] | None = None
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
        return mine == theirs and self.path in (finding.path, *finding.places) and self._names_values_of(finding)

    def _names_values_of(self, finding: Finding) -> bool:
        if not has_values(finding):
            return True
        mine = {member_key(value) for value in self.values or ()}
        return any(member_key(value) in mine for value in finding.added or finding.removed)

    def expired(self, today: date, release: str) -> bool:
        """Whether its end has come: the day after ``until``, or from that release on (by its name's numbers)."""
        if not self.until:
            return False
        if self.until.count("-") == 2:
            return today > date.fromisoformat(self.until)
        ends, now = _numbers(self.until), _numbers(release)
        return ends is not None and now is not None and now >= ends

    def shown(self) -> dict[str, Any]:
        """The waiver as a report shows it with its finding."""
        return {"reason": self.reason, "owner": self.owner, "until": self.until or None, "baseline": self.baseline}


#: A finding and some of its values -> the finding for those, and for the others; None where there are none.
Split = Callable[[Finding, Sequence[Any]], tuple[Finding | None, Finding | None]]


@dataclass(frozen=True, slots=True)
class Applied:
    """Findings with their waivers, and the waivers that were used (by identity)."""

    findings: tuple[Finding, ...]
    used: frozenset[int]


def read_waivers(path: Path) -> tuple[Waiver, ...]:
    """The waivers of a file, none where there is no such file. Raises ConfigError."""
    if not path.exists():
        return ()
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    data = read_mapping(path, text)
    check_schema(path, data, text, waivers_schema())
    lines = _lines(text, len(data.get("waivers", ())))
    found = []
    for entry, line in zip(data.get("waivers", ()), lines, strict=True):
        if entry["rule"] not in rule_names():
            raise ConfigError(f"{path}:{line}: there is no rule {entry['rule']!r} (crdcompat rules lists them)")
        last_day(entry.get("until", ""), f"{path}:{line}: until")
        if entry["rule"].startswith("enum-value-") and not entry.get("values"):
            raise ConfigError(f"{path}:{line}: values: name those that are accepted; a waiver covers no later ones")
        values = tuple(entry["values"]) if "values" in entry else None
        found.append(Waiver(**{**entry, "values": values, "line": line}))
    return tuple(found)


def last_day(until: str, where: str) -> date | None:
    """The day on which a waiver ends; None for a release or nothing. Raises ConfigError."""
    if until.count("-") != 2:
        return None
    try:
        return date.fromisoformat(until)
    except ValueError:
        raise ConfigError(f"{where}: there is no day {until}") from None


@cache
def waivers_schema() -> dict[str, Any]:
    """The JSON Schema of the waiver file."""
    loaded: dict[str, Any] = orjson.loads((Path(__file__).parent / "waivers.schema.json").read_bytes())
    return loaded


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
            made.append(replace(accepted, waiver=about[0].shown()))
        if rest is not None:
            made.append(rest)
    return Applied(tuple(made), frozenset(used))


def has_values(finding: Finding) -> bool:
    """Whether it is about values of an enum, which are accepted one by one."""
    return bool(finding.added or finding.removed) and finding.rule.startswith("enum-")


def _naming(finding: Finding, waivers: Sequence[Waiver]) -> list[Waiver]:
    """The waivers about a finding: of one that stands for several places, only if each of them is named."""
    about = [waiver for waiver in waivers if waiver.is_about(finding)]
    named = {waiver.path for waiver in about}
    return about if named >= {finding.path, *finding.places} else []


def _accepted(finding: Finding, waivers: Sequence[Waiver], split: Split) -> tuple[Finding | None, Finding | None]:
    if not has_values(finding):
        return finding, None
    return split(finding, [value for waiver in waivers for value in waiver.values or ()])


def _numbers(name: str) -> tuple[int, int] | None:
    found = _RELEASE.findall(name)
    return (int(found[-1][0]), int(found[-1][1])) if found else None


def _lines(text: bytes, count: int) -> list[int]:
    from crdcompat.manifests.locate import locate

    wanted = [(0, ("waivers", index)) for index in range(count)]
    places = locate(text, wanted)
    return [places[item][0] if item in places else 1 for item in wanted]
