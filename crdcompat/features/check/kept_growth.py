"""Declarations of two-step growth that each change has to keep, from the release on that writes their values.

From then on a target that is declared to accept the values and rejects them is an error, whatever the change
touches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.config.configuration import Config
from crdcompat.vocabulary.growth import GrowthState

if TYPE_CHECKING:
    from crdcompat.findings.growth import Declaration, Minor
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.finding import Finding


_KEY = b"growth"


def has_written(text: bytes | None, config: Config, release: str) -> bool:
    """Whether a declaration in the waiver file with this text is to be verified in every change of a release.

    Most waiver files have no declaration: these are not parsed. Raises ConfigError.
    """
    if text is None or not may_declare(text):
        return False
    from crdcompat.config.releases import openshift_minor
    from crdcompat.findings.waiver_file import parse_accepted

    return bool(written_crds(parse_accepted(config.waiver_file, text).growth, openshift_minor(release, config)))


def may_declare(text: bytes) -> bool:
    """Whether a waiver file may have declarations, in any spelling of its key."""
    return _KEY in text or b"\\" in text


def written_crds(declarations: Iterable[Declaration], release: Minor | None) -> frozenset[str]:
    """The CRDs of the declarations whose values the release writes; none for an unknown release."""
    return frozenset(each.crd for each in declarations if each.is_written_in(release))


def only_broken(report: DiffReport, untouched: Collection[str]) -> DiffReport:
    """The report without what it says of CRDs that the change does not touch, except for broken declarations."""
    if not untouched:
        return report

    def stays(finding: Finding) -> bool:
        is_broken = finding.growth is not None and finding.growth.state is GrowthState.BROKEN
        return is_broken or finding.crd not in untouched

    return replace(
        report,
        findings=tuple(filter(stays, report.findings)),
        undecided=tuple(each for each in report.undecided if each.crd not in untouched),
    )
