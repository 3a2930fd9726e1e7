"""Evidence for findings from recorded objects (diff --objects), and rejections that no finding explains.

An object counts in a direction only if the schema of the writing release accepts it: an object that is invalid there
proves nothing about the reading release.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.errors import DUPLICATE, REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.redaction import redacted_error
from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.versions import server_of
from crdcompat.compare.facet import Reaction
from crdcompat.compare.registry import declared_by
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import resolve_all
from crdcompat.errors import Problem, Skipped, problem_order
from crdcompat.findings.finding import order
from crdcompat.models.diff import DiffReport, Unexplained
from crdcompat.models.finding import Evidence, Finding
from crdcompat.models.report import sorted_skips
from crdcompat.recordings.objects import EmptyList, ObjectItem, Recorded
from crdcompat.schema.paths import pointer_of, render, schema_path_of
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect, Severity
from crdcompat.vocabulary.writes import Spared

_EXAMPLES = 3
#: The least severity of an effect with evidence: recorded objects use the changed field.
_RAISED = {
    Effect.WRITE_REJECTED: Severity.ERROR,
    Effect.VALUE_PRUNED: Severity.WARNING,
    Effect.VALUE_DEFAULTED: Severity.INFO,
}


#: Keywords whose errors may be about a missing member.
_MAY_BE_MISSING = (Keyword.REQUIRED, Keyword.EMBEDDED)


class _Fact(Struct, frozen=True):
    """The reader's effect on one object at one path, with the error if it is a rejection."""

    effect: Effect
    path: str
    error: FieldError | None = None


def with_evidence(report: DiffReport, old: CrdSet, new: CrdSet, objects: Iterable[ObjectItem]) -> DiffReport:
    """The report with evidence on its findings, raised severities, and unexplained rejections."""
    gathered = _Evidence(report.findings, old, new)
    problems, skipped = list(report.problems), list(report.skipped)
    for item in objects:
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, EmptyList):
            continue
        elif isinstance(item, Skipped):
            skipped.append(item)
        else:
            gathered.add(item)
    findings = (_with(finding, list(gathered.labels.get(finding.id, ()))) for finding in report.findings)
    return replace(
        report,
        findings=tuple(sorted(findings, key=order)),
        unexplained=tuple(gathered.unexplained),
        problems=tuple(sorted(set(problems), key=problem_order)),
        skipped=sorted_skips(skipped),
    )


class _Evidence:
    """Matches recorded objects with findings: ``labels`` maps a finding's id to the labels of affected objects."""

    def __init__(self, findings: Iterable[Finding], old: CrdSet, new: CrdSet) -> None:
        self.labels: dict[str, dict[str, None]] = {}
        self.unexplained: list[Unexplained] = []
        self._seen: set[tuple[str, ...]] = set()
        self._sides = tuple((resolve_all(a, b)[1], server_of(a)) for a, b in ((old, new), (new, old)))
        self._resources: dict[tuple[int, int], Resource] = {}
        self._by_place: dict[tuple[str, str, str], list[Finding]] = {}
        for finding in findings:
            self._by_place.setdefault((finding.direction, finding.crd, finding.version), []).append(finding)

    def add(self, item: Recorded) -> None:
        """Match one object with the findings of both directions; an object of an unknown kind is ignored."""
        identity = item.identity
        if identity is None or identity in self._seen:
            return
        self._seen.add(identity)
        group, _, version = identity[0].rpartition("/")
        sides = [self._resource(side, group, identity[1], version) for side in (0, 1)]
        if sides[0] is None or sides[1] is None:
            return
        label = "/".join(part for part in identity[1:4] if part)
        for direction, reader, writer in (
            (Direction.ROLLBACK, sides[0], sides[1]),
            (Direction.UPGRADE, sides[1], sides[0]),
        ):
            findings = self._by_place.get((direction, reader.crd.name, version), [])
            for fact in _facts(item.data, reader, writer):
                explaining = [finding for finding in findings if _explains(finding, fact)]
                for finding in explaining:
                    self.labels.setdefault(finding.id, {})[f"{label} in {item.source}"] = None
                if not explaining and fact.error is not None:
                    said, redacted = fact.error, redacted_error(fact.error, reader.node, writer.node)
                    texts = (f"{direction}: {error.text()}" for error in (said, redacted))
                    self.unexplained.append(Unexplained(label, item.source, *texts))

    def _resource(self, side: int, group: str, kind: str, version: str) -> Resource | None:
        resolved, server = self._sides[side]
        found = resolved.get((group, kind))
        chosen = found.versions.get(version) if found is not None else None
        if chosen is None:
            return None
        key = (side, id(chosen.version))
        if key not in self._resources:
            self._resources[key] = Resource(chosen.document.crd, chosen.version, server)
        return self._resources[key]


def _facts(data: dict[str, Any], reader: Resource, writer: Resource) -> Iterator[_Fact]:
    """The effects of the reader's schema on an object that the writer's schema accepts."""
    stored = writer.create(data, keep_status=True)
    if stored.accepted is not True or stored.object is None or stored.pruned:
        return  # another release than the writer has written this object
    verdict = reader.create(stored.object, keep_status=True)
    obj = verdict.object or reader.read(stored.object).object
    for error in verdict.errors:
        if not error.is_marker:
            yield _Fact(Effect.WRITE_REJECTED, _general(error, reader.node), error)
    for path in verdict.pruned:
        yield _Fact(Effect.VALUE_PRUNED, _general_path(path, stored.object, writer.node))
    for path in verdict.defaulted:
        yield _Fact(Effect.VALUE_DEFAULTED, _general_path(path, obj, reader.node))


def _general(error: FieldError, root: Node) -> str:
    if error.keyword in _MAY_BE_MISSING and error.type == REQUIRED:
        # A missing member has a name, even if no schema describes it.
        return render((*schema_path_of(root, error.pointer[:-1]), str(error.pointer[-1])))
    # A duplicate item is an error of the list.
    doubled = error.type == DUPLICATE and isinstance(next(reversed(error.pointer), None), int)
    return render(schema_path_of(root, error.pointer[:-1] if doubled else error.pointer))


def _general_path(path: str, obj: dict[str, Any], root: Node) -> str:
    pointer = pointer_of(obj, path)
    return path if pointer is None else render(schema_path_of(root, pointer))


def _explains(finding: Finding, fact: _Fact) -> bool:
    if finding.effect != fact.effect:
        return False
    paths = (finding.path, *finding.places)
    below = any(_is_below(fact.path, path) for path in paths)
    if fact.effect == Effect.VALUE_PRUNED:
        return below
    return declared_by(finding.change).explains(finding, Reaction(fact.path in paths, below, fact.error))


def _is_below(path: str, above: str) -> bool:
    return not above or path == above or path.startswith((f"{above}.", f"{above}["))


def _with(finding: Finding, labels: list[str]) -> Finding:
    if not labels:
        return finding
    raised = _RAISED.get(finding.effect, finding.severity)
    if finding.spared is Spared.VALUE:
        raised = Severity.WARNING  # the recorded objects can be updated
    severity = finding.severity if finding.severity.at_least(raised) else raised
    evidence = Evidence(len(labels), tuple(labels[:_EXAMPLES]))
    return replace(finding, severity=severity, evidence=evidence)
