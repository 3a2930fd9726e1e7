"""Two-step growth: a release accepts a new value, and only a later one writes it.

A declaration beside the waivers names the values and both releases. Until they are written, the added values are no
error. From then on, a release that is declared to accept a value and rejects it is an error, and so is an object that
holds a value too early. A declaration concerns rollbacks, and its own values of its own CRD and path.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.compare.facet import WaivedBy
from crdcompat.compare.registry import waived_by
from crdcompat.crds.context import is_terminal
from crdcompat.findings.contrast import listed
from crdcompat.findings.finding import order
from crdcompat.findings.waivers import Split, release_numbers
from crdcompat.models.finding import Acceptance, Finding, Growth
from crdcompat.schema.listed_values import member_key
from crdcompat.vocabulary import Direction, FindingStatus, Severity
from crdcompat.vocabulary.growth import GrowthState

#: The states of values that count in another way than the others of a finding.
_APART = (GrowthState.ACCEPTED, GrowthState.BROKEN)
#: Major and minor of a release.
Minor = tuple[int, int]
_PATTERN = "pattern-widened"


class Declaration(Struct, frozen=True, eq=False):
    """One entry of ``growth`` in the waiver file ``file``; ``line`` counts from 1.

    Release ``accepted_from`` and later ones accept the values, ``written_from`` and later ones write them.
    ``of_change``: the change that is checked adds the entry.
    """

    crd: str
    path: str
    values: tuple[Any, ...]
    accepted_from: str
    written_from: str
    reason: str
    owner: str = ""
    file: str = ""
    line: int = 0
    of_change: bool = False

    @property
    def place(self) -> str:
        """``file:line``."""
        return f"{self.file}:{self.line}"

    @property
    def label(self) -> str:
        """The CRD and the path, for messages."""
        return f"growth of {self.crd} {self.path}"

    def names(self, value: Any) -> bool:
        """Whether this value is declared."""
        return member_key(value) in set(map(member_key, self.values))

    def is_unwritten_in(self, release: Minor | None) -> bool:
        """Whether the release accepts the values and does not write them; false for an unknown release."""
        return release is not None and _minor(self.accepted_from) <= release < _minor(self.written_from)

    def is_written_in(self, release: Minor | None) -> bool:
        """Whether the release writes the values; false for an unknown release."""
        return release is not None and release >= _minor(self.written_from)

    def precedes(self, release: Minor | None) -> bool:
        """Whether the release is before the first one that accepts the values; false for an unknown release."""
        return release is not None and release < _minor(self.accepted_from)

    def state(self, old: Minor | None, new: Minor | None) -> GrowthState | None:
        """The state for a rollback from ``new`` to ``old``, which lacks a value; None: the declaration is silent.

        A release is None if it is unknown. Before a change, the release that accepts the value does not have it.
        """
        if new is None:
            return GrowthState.UNKNOWN
        first = _minor(self.accepted_from)
        if new < first:
            return None
        if old is not None and old >= first and not old == new == first:
            return GrowthState.BROKEN
        return GrowthState.ACCEPTED if self.is_unwritten_in(new) else GrowthState.WRITTEN

    def shown(self, state: GrowthState) -> Growth:
        """The declaration as reports show it."""
        return Growth(self.accepted_from, self.written_from, self.reason, self.owner, self.file, self.line, state)


class Releases(Struct, frozen=True):
    """The releases of both sides, None if unknown; ``old_name`` and ``new_name`` are their names for people."""

    old: Minor | None
    new: Minor | None
    old_name: str
    new_name: str


class Grown(Struct, frozen=True):
    """Findings with what was declared about them, and the declarations about any of them, each with its states."""

    findings: tuple[Finding, ...]
    used: tuple[tuple[Declaration, GrowthState], ...]


def apply_growth(
    findings: Iterable[Finding], declarations: Sequence[Declaration], releases: Releases, split: Split
) -> Grown:
    """Mark the findings whose values are declared. Values that count in another way than the others are split off."""
    if not declarations:
        return Grown(tuple(findings), ())
    made: list[Finding] = []
    used: dict[tuple[int, GrowthState], tuple[Declaration, GrowthState]] = {}
    for finding in findings:
        rest: Finding | None = finding
        counting: list[_Part] = []
        for part in _by_state(finding, declarations, releases):
            used[id(part.declaration), part.state] = part.declaration, part.state
            if part.state not in _APART:
                counting.append(part)
                continue
            mine, rest = split(rest, part.values) if rest is not None else (None, None)
            if mine is not None:
                made.append(_marked(mine, part, releases))
        if rest is not None:
            made.append(_marked(rest, counting[0], releases) if counting else rest)
    return Grown(tuple(sorted(made, key=order)), tuple(used.values()))


def grows(finding: Finding) -> bool:
    """Whether the finding is about added values that a declaration can name one by one.

    Of a pattern that allows infinitely many strings, the values are only examples.
    """
    return can_grow(finding.rule, finding.judged_as, finding.added, finding.new)


def can_grow(rule: str, direction: str, added: Sequence[Any], new: Any) -> bool:
    """``grows``, for the parts of a finding."""
    if direction != Direction.ROLLBACK or not added:
        return False
    return waived_by(rule) is WaivedBy.VALUES or (rule == _PATTERN and _is_finite(new))


def is_release(name: str) -> bool:
    """Whether a name has the form of releases in declarations: ``release-4.16``, ``v1.2`` or ``1.2``."""
    return re.fullmatch(r"(release-|v)?\d+\.\d+", name) is not None


def following(release: str) -> str:
    """The release after another one, in the same form: ``release-4.17`` after ``release-4.16``."""
    return re.sub(r"\d+$", lambda minor: str(int(minor[0]) + 1), release)


def _is_finite(patterns: Any) -> bool:
    from crdcompat.schema.regex import Language, finite

    found = Language()
    for pattern in patterns if isinstance(patterns, list) else [patterns]:
        found &= Language.from_pattern(pattern)
    return finite(found) is not None


class _Part(Struct, frozen=True):
    """The values of a finding that one declaration names, with their state."""

    declaration: Declaration
    state: GrowthState
    values: list[Any]


def _by_state(finding: Finding, declarations: Sequence[Declaration], releases: Releases) -> Iterable[_Part]:
    """The declared values of a finding, by declaration and state."""
    paths = (finding.path, *finding.places)
    about = [each for each in declarations if each.crd == finding.crd and each.path in paths]
    if not about or not grows(finding):
        return ()
    parts: dict[tuple[int, GrowthState], _Part] = {}
    for value in finding.added:
        if (stated := _stated(value, paths, about, releases)) is not None:
            declaration, state = stated
            parts.setdefault((id(declaration), state), _Part(declaration, state, [])).values.append(value)
    return parts.values()


_Stated = tuple[Declaration, GrowthState]


def _stated(value: Any, paths: Sequence[str], about: Sequence[Declaration], releases: Releases) -> _Stated | None:
    """The declaration of a value with its state, the last one of any place; None unless each place has one."""
    order = list(GrowthState).index
    found: list[_Stated] = []
    for path in paths:
        declaration = next((each for each in about if each.path == path and each.names(value)), None)
        state = declaration.state(releases.old, releases.new) if declaration is not None else None
        if declaration is None or state is None:
            return None
        found.append((declaration, state))
    return max(found, key=lambda each: order(each[1]))


def _marked(finding: Finding, part: _Part, releases: Releases) -> Finding:
    """The finding as the declaration leaves it: accepted as by a waiver, or an error, or as it was."""
    declaration, state = part.declaration, part.state
    noted = replace(finding, growth=declaration.shown(state))
    match state:
        case GrowthState.ACCEPTED:
            return replace(
                noted, waiver=Acceptance(declaration.reason, declaration.owner, by_change=declaration.of_change)
            )
        case GrowthState.BROKEN:
            # The declaration is wrong, whether or not the change caused it.
            blocks = not all(map(is_terminal, finding.contexts))
            noted = replace(noted, severity=Severity.ERROR, status=FindingStatus.NEW) if blocks else noted
    named = "" if len(part.values) == len(finding.added) else f"{listed(part.values)} "
    return replace(noted, message=f"{finding.message} ({named}{_why(part, releases)})")


def _why(part: _Part, releases: Releases) -> str:
    """Why the values count although they are declared."""
    declaration = part.declaration
    match part.state:
        case GrowthState.BROKEN:
            rejects = f"{releases.old_name} rejects {listed(part.values)}"
            return f"declared to be accepted from {declaration.accepted_from}, but {rejects}: {declaration.place}"
        case GrowthState.WRITTEN:
            return f"declared to be written from {declaration.written_from}: {declaration.place}"
    return f"declared in {declaration.place}, but which release {releases.new_name} is, is not known"


def _minor(release: str) -> Minor:
    """Major and minor of a release of the file, whose form the reader has checked."""
    found = release_numbers(release)
    assert found is not None, release
    return found
