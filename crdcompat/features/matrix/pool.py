"""Equal parts of the reports of many pairs of releases, each held once.

Thirteen releases have 78 pairs, and most pairs show what others show: 25,000 findings share 1,600 examples.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from crdcompat.models.diff import DiffReport
from crdcompat.models.finding import Finding

_T = TypeVar("_T")
#: The members of a finding that other findings may have, too, and that are larger than a reference.
_OF_FINDINGS = (
    *("old", "new", "added", "removed", "message", "witness", "windows", "contexts", "places", "locations", "evidence"),
    *("excerpts", "writes", "because", "versions"),
)


class Pool:
    """The values that were seen, by type and JSON."""

    def __init__(self) -> None:
        self._known: dict[tuple[type, bytes], Any] = {}

    def report(self, report: DiffReport) -> DiffReport:
        """The report with parts of earlier reports in the place of equal ones."""
        return replace(
            report,
            findings=tuple(map(self._finding, report.findings)),
            harmless=tuple(map(self._one, report.harmless)),
            skipped=tuple(map(self._one, report.skipped)),
        )

    def _finding(self, finding: Finding) -> Finding:
        return replace(finding, **{name: self._one(getattr(finding, name)) for name in _OF_FINDINGS})

    def _one(self, value: _T) -> _T:
        """The first value that is equal to ``value``. One that has no JSON is its own."""
        try:
            key = type(value), msgspec.json.encode(value)
        except (TypeError, ValueError, msgspec.MsgspecError, RecursionError):
            return value
        known = self._known.setdefault(key, value)
        return known if known == value else value
