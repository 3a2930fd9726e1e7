"""Kinds with findings of which a recording holds nothing: no verdict on the recording is about them.

A kind is recorded by an object or by a list without items. A kind without either may be absent from the cluster, or
left out of the recording.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.options import DiffOptions
from crdcompat.features.diff.workflow import diff
from crdcompat.models.simulation import Unrecorded
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
    old, new = sides
    both = {item.crd.name for item in old.documents} & {item.crd.name for item in new.documents}
    asked = frozenset(both.difference(recorded).intersection(crds or both))
    if not asked:
        return ()
    wanted = Filters((direction,), touched=asked)
    options = DiffOptions(wanted, judge_new=False, across_servers=False, advise=False, locate=False)
    report = diff(old, new, options)
    is_known = context in report.counts.contexts
    counted = Counter(
        (finding.crd, finding.kind)
        for finding in report.findings
        if finding.severity is not Severity.INFO and (context in finding.contexts or not is_known)
    )
    found = (Unrecorded(crd, kind, count) for (crd, kind), count in counted.items())
    return tuple(sorted(found, key=lambda item: (-item.findings, item.crd)))
