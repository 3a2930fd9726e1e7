"""Makes findings from judged changes: severity, message, id and locations; groups copies of one change.

A Go type such as a pod template or metav1.Condition occurs many times in a CRD. A change of the type changes every
copy, and is one finding with all its places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

import orjson
from msgspec.structs import replace

from crdcompat.compare.result import Judged
from crdcompat.findings.message import message
from crdcompat.findings.rules import rule_for
from crdcompat.findings.severity import decide
from crdcompat.models.finding import Finding, Location, Windows
from crdcompat.vocabulary import Direction

Locate = Callable[[Judged], tuple[Location, ...]]


def make_findings(judged: Iterable[Judged], old: str, new: str, locate: Locate) -> list[Finding]:
    """Turn judged changes into findings, most severe first; ``old`` and ``new`` are the releases' names."""
    found = [_finding(item, old, new, locate) for item in judged]
    return sorted(found, key=order)


def order(finding: Finding) -> tuple[Any, ...]:
    """The sort key: rollback before upgrade, errors first, status first, then by place."""
    return (
        finding.direction != Direction.ROLLBACK,
        finding.severity.rank,
        finding.owner.rank,
        finding.crd,
        finding.version,
        finding.path,
        finding.rule,
        finding.contexts,
        finding.id,
    )


def _finding(item: Judged, old: str, new: str, locate: Locate) -> Finding:
    change = item.change
    rule = rule_for(change.kind)
    decided = decide(item, rule.judge(item.direction, item.effect, change.owner))
    added = item.labels if change.added and item.labels else change.added
    removed = item.labels if change.removed and item.labels else change.removed
    return Finding(
        id=fingerprint(rule.id, item.move, item.crd, _versions(item), change.place, added, removed),
        rule=rule.id,
        change=change.kind,
        direction=item.move,
        effect=item.effect,
        severity=decided.severity,
        crd=item.crd,
        kind=item.kind,
        version=item.version,
        contexts=tuple(dict.fromkeys(occurrence.context for occurrence in item.occurrences)),
        path=change.place,
        owner=change.owner,
        old=change.old,
        new=change.new,
        added=added,
        removed=removed,
        message=message(rule, item, added, removed, old, new),
        witness=item.witness,
        windows=Windows(*item.windows),
        locations=locate(item),
        writes=item.writes,
        spared=item.spared,
        versions=_versions(item),
        because=decided.because,
        window=item.window,
    )


def _versions(item: Judged) -> str:
    """The version in a finding's id; both versions if objects are written as another version than they are read as."""
    return f"{item.occurrences[0].written_as} {item.version}".strip()


def fingerprint(
    rule: str, direction: str, crd: str, version: str, path: str, added: Sequence[Any] = (), removed: Sequence[Any] = ()
) -> str:
    """Twelve hex digits that are stable over commits; they do not depend on lines, files or contexts."""
    values = [sorted(orjson.dumps(value).decode() for value in side) for side in (added, removed)]
    text = orjson.dumps([rule, direction, crd, version, path, *values])
    return blake2b(text, digest_size=6).hexdigest()


def group_copies(findings: Iterable[Finding]) -> list[Finding]:
    """Merge equal findings on copies of a field at several paths into one; ``places`` are the other paths.

    The first in order represents all. Its id follows from its own path, so that other copies do not change the id.
    """
    groups: dict[tuple[Any, ...], list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_equivalence_key(finding), []).append(finding)
    return [_merged(members) for members in groups.values()]


def _equivalence_key(finding: Finding) -> tuple[Any, ...]:
    facts = orjson.dumps([finding.old, finding.new, finding.added, finding.removed], option=orjson.OPT_SORT_KEYS)
    judgement = (finding.direction, finding.rule, finding.effect, finding.severity, finding.owner, finding.spared)
    # A change of the root or outside the schema has no copies.
    return (*judgement, finding.crd, finding.version, finding.contexts, facts, field_of(finding.path) or finding.id)


def field_of(path: str) -> str:
    """The last field of a path, with its parent if that is a list item: ``conditions[*].type``."""
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
