"""One cause, one finding: the same change in many copies of one Go type is grouped, with all its places.

A pod template or metav1.Condition stands in a CRD many times; a change of the type changes every copy alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdcompat.policy.findings import Finding


def group_copies(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that say the same of the same field at several paths become one; ``places`` are the others.

    The first in order stands for all; its id is that of its own path, so it stays the same while it is there.
    """
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_sameness(finding), []).append(finding)
    return [_merged(members) for members in groups.values()]


def _sameness(finding: Finding) -> tuple[Any, ...]:
    facts = orjson.dumps([finding.old, finding.new, finding.added, finding.removed], option=orjson.OPT_SORT_KEYS)
    opinion = (finding.direction, finding.rule, finding.effect, finding.severity, finding.owner)
    # Of a root or CRD-level change there are no copies.
    return (*opinion, finding.crd, finding.version, finding.contexts, facts, _field(finding.path) or finding.id)


def _field(path: str) -> str:
    """The last named field of a path, with what is below it: ``conditions[*].type`` of any list of conditions."""
    *parents, last = path.split(".")
    holder = parents[-1] if parents else ""
    return f"{holder}.{last}" if holder.endswith("[*]") else last


def _merged(members: list[Finding]) -> Finding:
    first, *others = members
    if not others:
        return first
    places = tuple(finding.path for finding in others)
    more = f" (and at {len(places)} more {'place' if len(places) == 1 else 'places'} like it)"
    return replace(first, places=places, message=first.message + more)
