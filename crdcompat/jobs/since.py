"""What blocks a way between two releases, and since which release it does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from crdcompat.policy.findings import Finding
from crdcompat.policy.waivers import has_values
from crdcompat.report.matrix_model import Blocker, Since
from crdcompat.schema.enums import member_key
from crdcompat.vocabulary import Severity

#: The findings against one older release, each set with the newer release's name, back in time: the first is that of
#: the pair itself.
Chain = Sequence[tuple[str, Sequence[Finding]]]
#: What blocks: CRD, versions, rule and place, and the value of the enum (None: whatever the values are).
_Key = tuple[str, str, str, str, Any]


def blockers(chain: Chain) -> tuple[Blocker, ...]:
    """The errors that count among the findings of a chain's first pair, and since when each of their values blocks.

    A value that was added, taken out and added again blocks since the last time: the releases in between could go
    back. A waiver does not end the chain: the value is there all the same.
    """
    errors = [finding for finding in chain[0][1] if finding.counts and finding.severity == Severity.ERROR]
    if not errors:
        return ()
    known = [{key for finding in met for key in _keys(finding)} for _, met in chain]
    return tuple(_blocker(finding, known, [name for name, _ in chain]) for finding in errors)


def _blocker(finding: Finding, known: Sequence[set[_Key]], names: Sequence[str]) -> Blocker:
    values = (*finding.added, *finding.removed) if has_values(finding) else ()
    runs = [_run(finding, member_key(value), known) for value in values] or [_run(finding, None, known)]
    told = tuple(Since(value, names[run - 1]) for value, run in zip(values, runs, strict=False))
    return Blocker(finding, names[max(runs) - 1], told)


def _run(finding: Finding, value: Any, known: Sequence[set[_Key]]) -> int:
    """How many releases in a row block so, at the place where they are most."""
    keys = (_key(finding, path, value) for path in (finding.path, *finding.places))
    return max(next((run for run, met in enumerate(known) if key not in met), len(known)) for key in keys)


def _keys(finding: Finding) -> Iterator[_Key]:
    if finding.severity == Severity.ERROR:
        values = map(member_key, (*finding.added, *finding.removed)) if has_values(finding) else ()
        for value in (None, *values):
            yield from (_key(finding, path, value) for path in (finding.path, *finding.places))


def _key(finding: Finding, path: str, value: Any) -> _Key:
    return finding.crd, finding.versions, finding.rule, path, value
