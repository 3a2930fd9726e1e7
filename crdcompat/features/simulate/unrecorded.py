"""What a replay lacks, and whether that matters: kinds that were not recorded, and objects that were not judged.

A kind is recorded by an object or by a list without items. A kind without either may be absent from the cluster, or
left out of the recording. It matters only if the comparison has an error or a warning on it; so does an object that was
not judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from msgspec.structs import replace

from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import as_filter
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.diff_workflow import diff
from crdcompat.models.diff import DiffReport
from crdcompat.models.simulation import NotSimulated, Unrecorded
from crdcompat.vocabulary import Direction, Severity
from crdcompat.vocabulary.filters import Filters


def unrecorded_kinds(
    sides: tuple[CrdSet, CrdSet],
    direction: Direction,
    recorded: Collection[str],
    *,
    context: str,
    crds: Collection[str] = (),
) -> tuple[Unrecorded, ...]:
    """The kinds of CRDs of both sides (OLD, NEW) that have errors or warnings and are not among the ``recorded`` ones.

    ``context`` is the one that the cluster has; ``crds`` restricts the answer, if it names any. Most findings first.
    """
    both = sides[0].names & sides[1].names
    asked = both.difference(recorded).intersection(crds or both)
    report = _compared(sides, direction, asked, as_filter(context, *sides))
    if report is None:
        return ()
    counted = Counter(
        (finding.crd, finding.kind) for finding in report.findings if finding.severity is not Severity.INFO
    )
    found = (Unrecorded(crd, kind, count) for (crd, kind), count in counted.items())
    return tuple(sorted(found, key=lambda item: (-item.findings, item.crd)))


def with_alike(
    missed: Sequence[NotSimulated], sides: tuple[CrdSet, CrdSet], direction: Direction
) -> tuple[NotSimulated, ...]:
    """The objects that were not judged; objects of kinds that both sides (OLD, NEW) judge alike are marked.

    An object of an unknown kind may be of any kind. That a side lacks the kind is a difference. All contexts count:
    that a kind is not in the context of the cluster says nothing about its objects.
    """
    both = sides[0].names & sides[1].names
    counting = [item for item in missed if not item.outside and item.problem is None]
    is_any = any(not item.crd for item in counting)
    asked = both if is_any else both.intersection(item.crd for item in counting)
    report = _compared(sides, direction, asked)
    if report is None:
        return tuple(missed)
    differing = {finding.crd for finding in report.findings if finding.severity is not Severity.INFO}
    differing |= {entry.crd for entry in report.undecided}
    alike = both - differing if differing or report.problems or report.not_compared else {*both, ""}
    return tuple(replace(item, alike=True) if item in counting and item.crd in alike else item for item in missed)


def _compared(
    sides: tuple[CrdSet, CrdSet], direction: Direction, crds: frozenset[str], contexts: tuple[str, ...] = ()
) -> DiffReport | None:
    """The comparison of some CRDs, in some contexts or in all; None without any CRD."""
    if not crds:
        return None
    wanted = Filters((direction,), touched=crds, contexts=contexts)
    return diff(*sides, DiffOptions(wanted, judge_new=False, across_servers=False, advise=False, locate=False))
