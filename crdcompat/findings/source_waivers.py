"""Waivers in the Go source: ``// +crdcompat:ignore=RULE,reason=…,until=…`` above a field or a type.

A manifest is generated, so a comment in it would not last. The marker holds for its rule at the field above which it
stands: in each CRD, version and direction, unless it names ``values``, ``severity`` or ``direction``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from msgspec import Struct

from crdcompat.errors import did_you_mean
from crdcompat.findings.rules import rule_names
from crdcompat.findings.waiver_file import end_pattern, is_day, is_reason
from crdcompat.findings.waivers import Waiver, asks_for, has_ended, has_values, is_unending
from crdcompat.golang.go_fields import written
from crdcompat.golang.notes import PREFIX, Note, known_steps, notes_at, notes_of, strays_of
from crdcompat.golang.sources import NO_GO, GoSources
from crdcompat.models.finding import Finding
from crdcompat.program import typed
from crdcompat.schema.paths import SchemaPath, steps_of
from crdcompat.vocabulary import Direction, Owner, Severity

NAME = f"{PREFIX}ignore"
_HOW = f"write // +{NAME}=RULE,reason=…"


class Ignore(Struct, frozen=True):
    """A marker in a Go file: what it accepts, in its own words. ``values`` are None if it names none.

    ``fault`` says why it accepts nothing, "" if it does.
    """

    file: str
    line: int
    rule: str = ""
    values: tuple[str, ...] | None = None
    severity: str = ""
    direction: str = ""
    reason: str = ""
    owner: str = ""
    until: str = ""
    fault: str = ""

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}"

    @property
    def label(self) -> str:
        """The marker without its reason, for messages."""
        return f"+{NAME}={self.rule}"

    @property
    def content(self) -> tuple[Any, ...]:
        """What the marker accepts, and why: equal for equal markers at other places."""
        return (self.rule, self.values, self.severity, self.direction, self.reason, self.owner, self.until)

    def ended(self, today: date, release: str) -> bool:
        """Whether the marker has ended: see ``has_ended``."""
        return has_ended(self.until, today, release)

    def is_unending(self, release: str) -> bool:
        """Whether the end of the marker cannot be compared with the name of the release."""
        return is_unending(self.until, release)

    def waiver(self, finding: Finding, path: str, *, of_change: bool) -> Waiver:
        """The marker as a waiver of a finding at one of its places."""
        found = finding.added or finding.removed
        values = found if self.values is None else tuple(each for each in found if written(each) in self.values)
        return Waiver(
            finding.crd,
            finding.version,
            path,
            self.rule,
            Direction(self.direction) if self.direction else finding.direction,
            self.reason,
            values=values,
            severity=Severity(self.severity) if self.severity else None,
            owner=self.owner,
            until=self.until,
            line=self.line,
            file=self.file,
            of_change=of_change,
            in_source=True,
        )


def marker_for(finding: Finding, reason: str) -> str:
    """The marker that accepts a finding: its values, if its rule has some, at its severity, in its direction."""
    values = ";".join(map(_quoted, finding.added or finding.removed)) if has_values(finding) else ""
    narrow = (("values", values and f"{{{values}}}"), ("severity", finding.severity), ("direction", finding.direction))
    said = "".join(f",{key}={text}" for key, text in narrow if text)
    return f"+{NAME}={finding.rule}{said},reason={_quoted(reason)}"


def _quoted(value: Any) -> str:
    text = written(value)
    return text if text.isidentifier() else json.dumps(text, ensure_ascii=False)


class SourceWaivers(Struct, frozen=True, eq=False):
    """The waivers in the Go source ``go`` of the newer release.

    ``before`` is that of the base, if the release is the head of a change: markers that it does not have are those of
    the change. ``trusts_change``: these count; else those of ``before`` alone.
    """

    go: GoSources = NO_GO
    before: GoSources | None = None
    trusts_change: bool = True

    def waivers(self, findings: Iterable[Finding]) -> Iterator[Waiver]:
        """The waivers that name a rule of the findings at one of their places. Raises SourceError."""
        for finding in findings:
            for path in (finding.path, *finding.places):
                steps = () if finding.owner is Owner.CRD else steps_of(path)
                for each, of_change in self._at(finding, steps):
                    if each.rule == finding.rule and not each.fault:
                        yield each.waiver(finding, path, of_change=of_change)

    def _at(self, finding: Finding, path: SchemaPath) -> Iterator[tuple[Ignore, bool]]:
        """The markers that count at a path, each with whether it is one of the change."""
        if self.before is None:
            yield from ((each, False) for each in _at(self.go, finding, path))
        elif not self.trusts_change:
            yield from ((each, False) for each in self._of_base(finding, path))
        elif found := _at(self.go, finding, path):
            known = {each.content for each in self._of_base(finding, path)}
            yield from ((each, each.content not in known) for each in found)

    def _of_base(self, finding: Finding, path: SchemaPath) -> tuple[Ignore, ...]:
        """The markers of the base at a path; none at a field that is new: those above it are about other fields."""
        assert self.before is not None
        is_new = _known_steps(self.before, finding, path) < _known_steps(self.go, finding, path)
        return () if is_new else _at(self.before, finding, path)


def _known_steps(go: GoSources, finding: Finding, path: SchemaPath) -> int:
    if go.types is None:
        return 0
    return known_steps(go.types, finding.crd.partition(".")[2], finding.version, finding.kind, path)


def _at(go: GoSources, finding: Finding, path: SchemaPath) -> tuple[Ignore, ...]:
    if go.types is None:
        return ()
    group = finding.crd.partition(".")[2]
    return tuple(map(ignore, notes_at(go.types, group, finding.version, finding.kind, path)))


def ignore(note: Note) -> Ignore:
    """What a marker accepts, or its fault."""
    if note.marker.head != NAME:
        fault = f"there is no marker +{note.marker.head}: {_HOW}"
        return Ignore(note.file, note.line, fault=fault)
    arguments = list(note.marker.arguments())
    rule = arguments.pop(0)[1] if arguments and not arguments[0][0] else ""
    said: dict[str, Any] = {}
    fault = "" if rule in rule_names() else _no_rule(rule)
    for key, text, values in arguments:
        if key in said:
            fault = fault or f"{key} is named twice"
        elif key == "values":
            said[key] = values
        elif key in _WORDS:
            said[key] = text
        else:
            fault = fault or _unknown(key, text)
    fault = fault or next(_faults(rule, said), "")
    return Ignore(note.file, note.line, rule, fault=fault, **said)


#: Keys with one word or sentence.
_WORDS = ("severity", "direction", "reason", "owner", "until")


def _no_rule(rule: str) -> str:
    if not rule:
        return f"it names no rule: {_HOW}"
    return f"there is no rule {rule!r}{did_you_mean(rule, rule_names())} ({typed()} rules lists them)"


def _unknown(key: str, text: str) -> str:
    if not key:
        return f'{text!r} is no KEY=VALUE: a text with a comma stands in quotes, reason="…"'
    keys = ("values", *_WORDS)
    return f"there is no key {key!r}{did_you_mean(key, keys)} (there are {', '.join(keys)})"


def _faults(rule: str, said: dict[str, Any]) -> Iterator[str]:
    if "reason" not in said:
        yield 'the reason is missing: add ,reason="…"'
    elif not is_reason(said["reason"]):
        yield f"reason: {said['reason']!r} is not a reason in words"
    for key, words in (("severity", list(Severity)), ("direction", list(Direction))):
        if said.get(key, words[0]) not in words:
            yield f"{key}: {said[key]!r} is none of {', '.join(words)}"
    if "values" in said and (asks_for(rule) != ("values",) or not said["values"]):
        yield "values: name those that are accepted" if not said["values"] else f"values: {rule} has none"
    until = said.get("until")
    if until is not None and not re.fullmatch(end_pattern(), until):
        yield f"until: {until!r} is neither a day (2027-01-31) nor a release (4.17)"
    elif until is not None and not is_day(until):
        yield f"until: there is no day {until}"


def ignores_of(go: GoSources, group: str, version: str, kind: str) -> Iterator[Ignore]:
    """The markers of a kind, and those of its package that stand above no field or type. Raises SourceError."""
    if go.types is None:
        return
    yield from map(ignore, notes_of(go.types, group, version, kind))
    for file, line, is_well_written in strays_of(go.types, group, version, kind):
        fault = "it stands directly above no field and no type" if is_well_written else f"it is no marker: {_HOW}"
        yield Ignore(file, line, fault=fault)
