"""Evidence for findings from recorded objects (diff --objects), and rejections that no finding explains.

An object counts in a direction only if the schema of the writing release accepts it: an object that is invalid there
proves nothing about the reading release. It counts for findings of its cluster's context alone (`RecordedContexts`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.apiserver.errors import DUPLICATE, REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.redaction import redacted_error
from crdcompat.cel.rule import uses_old
from crdcompat.compare.facet import Facet, Reaction
from crdcompat.compare.registry import declared_by
from crdcompat.compare.site import WriterReader
from crdcompat.crds.context import is_terminal
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem, Skipped, problem_order
from crdcompat.findings.finding import order
from crdcompat.findings.recorded_contexts import RecordedContexts, Schemas, Type, most_likely
from crdcompat.models.diff import DiffReport, Unexplained
from crdcompat.models.finding import Evidence, Finding
from crdcompat.models.report import sorted_skips
from crdcompat.recordings.clusters import ClusterFacts
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


class _Effects(Struct, frozen=True):
    """The effects on one object, for each schemas in which it can have been written."""

    label: str
    source: str
    direction: Direction
    type: Type
    facts: tuple[tuple[Schemas, tuple[_Fact, ...]], ...]


class _Met(Struct):
    """The objects that a finding affects, by label: whether their context is assumed. ``contexts`` are theirs."""

    objects: dict[str, bool] = field(default_factory=dict)
    contexts: set[str] = field(default_factory=set)


def with_evidence(
    report: DiffReport, old: CrdSet, new: CrdSet, recordings: Iterable[Iterable[ObjectItem]]
) -> DiffReport:
    """The report with evidence on its findings, raised severities, and unexplained rejections.

    The objects of one recording are of one cluster, as a rule, and its FeatureGate tells their context.
    """
    gathered = _Evidence(report, old, new)
    problems, skipped = list(report.problems), list(report.skipped)
    for recording in recordings:
        facts = ClusterFacts()
        effects: list[_Effects] = []
        for item in facts.observe(recording):
            if isinstance(item, Problem):
                problems.append(item)
            elif isinstance(item, EmptyList):
                continue
            elif isinstance(item, Skipped):
                skipped.append(item)
            else:
                effects += gathered.effects_on(item)
        for each in effects:
            gathered.add(each, facts)
    findings = (_with(finding, met) for finding, met in zip(report.findings, gathered.met, strict=True))
    return replace(
        report,
        findings=tuple(sorted(findings, key=order)),
        unexplained=tuple(dict.fromkeys(gathered.unexplained)),
        problems=tuple(sorted(set(problems), key=problem_order)),
        skipped=sorted_skips(skipped),
    )


class _Evidence:
    """Matches recorded objects with findings: ``met`` has the affected objects of each finding of the report."""

    def __init__(self, report: DiffReport, old: CrdSet, new: CrdSet) -> None:
        self.met = [_Met() for _ in report.findings]
        self.unexplained: list[Unexplained] = []
        self._seen: set[tuple[str, ...]] = set()
        self._directions = report.directions
        # A finding that was filtered out may explain a rejection.
        self._explained = frozenset() if report.is_filtered else frozenset(report.counts.versions)
        self._contexts = RecordedContexts(old, new, report.counts.contexts)
        self._by_place: dict[tuple[str, str, str], list[tuple[Finding, _Met]]] = {}
        for finding, met in zip(report.findings, self.met, strict=True):
            self._by_place.setdefault((finding.direction, finding.crd, finding.version), []).append((finding, met))

    def effects_on(self, item: Recorded) -> Iterator[_Effects]:
        """The effects on an object in each direction; none for one that was seen before, or of an unknown kind."""
        item = self._contexts.completed(item)
        identity = item.identity
        if identity is None or identity in self._seen:
            return
        self._seen.add(identity)
        group, _, version = identity[0].rpartition("/")
        type_ = group, identity[1], version
        label = "/".join(part for part in identity[1:4] if part)
        for direction in self._directions:
            judged = ((each, _facts(item.data, each.sides)) for each in self._contexts.of(type_, direction))
            facts = tuple((each, found) for each, found in judged if found is not None)
            if any(found for _, found in facts):
                yield _Effects(label, item.source, direction, type_, facts)

    def add(self, effects: _Effects, facts: ClusterFacts) -> None:
        """Add one object to the findings that its effects match, in the contexts that its cluster may have."""
        label, direction = f"{effects.label} in {effects.source}", effects.direction
        found = {id(schemas): (schemas, each) for schemas, each in effects.facts}
        origins = [
            origin for origin in self._contexts.origins(facts, effects.type, direction) if id(origin.schemas) in found
        ]
        for origin in most_likely(origins):
            schemas, mine = found[id(origin.schemas)]
            place = direction, schemas.sides.reader.crd.name, effects.type[2]
            findings = [each for each in self._by_place.get(place, ()) if schemas.labels.intersection(each[0].contexts)]
            for fact in mine:
                explaining = _nearest([each for each in findings if _explains(each[0], fact)], fact.error)
                for finding, met in explaining:
                    is_assumed = any(other.schemas.labels.isdisjoint(finding.contexts) for other in origins)
                    met.objects[label] = is_assumed
                    met.contexts.add(origin.context)
                if not explaining and fact.error is not None and place[1:] in self._explained:
                    self.unexplained.append(_unexplained(effects, fact.error, schemas.sides))


def _unexplained(effects: _Effects, error: FieldError, sides: WriterReader) -> Unexplained:
    redacted = redacted_error(error, sides.reader.node, sides.writer.node)
    texts = (f"{effects.direction}: {each.text()}" for each in (error, redacted))
    return Unexplained(effects.label, effects.source, *texts)


def _facts(data: dict[str, Any], sides: WriterReader) -> tuple[_Fact, ...] | None:
    """The effects of the reader's schema on an object; None if the writer cannot have written it."""
    reader, writer = sides.reader, sides.writer
    stored = writer.create(data, keep_status=True)
    if stored.accepted is not True or stored.object is None or stored.pruned:
        return None  # another release than the writer has written this object, or another context
    verdict = reader.create(stored.object, keep_status=True)
    obj = verdict.object or reader.read(stored.object).object
    rejected = (
        _Fact(Effect.WRITE_REJECTED, _general(error, reader.node), error)
        for error in verdict.errors
        if not (error.is_marker or _is_about_updates(error))
    )
    pruned = (_Fact(Effect.VALUE_PRUNED, _general_path(path, stored.object, writer.node)) for path in verdict.pruned)
    defaulted = (_Fact(Effect.VALUE_DEFAULTED, _general_path(path, obj, reader.node)) for path in verdict.defaulted)
    return (*rejected, *pruned, *defaulted)


def _is_about_updates(error: FieldError) -> bool:
    """Whether a rule that compares with the stored value refuses the object: it does so only for a new one."""
    return error.keyword is Keyword.RULE and uses_old(error.demand)


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


def _nearest(explaining: list[tuple[Finding, _Met]], error: FieldError | None) -> list[tuple[Finding, _Met]]:
    """The findings about the violated keyword, if there are some: others at its place are not the cause."""
    if error is None:
        return explaining
    facets = (declared_by(finding.change) for finding, _ in explaining)
    about = [isinstance(facet, Facet) and error.keyword in facet.keywords for facet in facets]
    return [each for each, is_about in zip(explaining, about, strict=True) if is_about] or explaining


def _is_below(path: str, above: str) -> bool:
    return not above or path == above or path.startswith((f"{above}.", f"{above}["))


def _with(finding: Finding, met: _Met) -> Finding:
    if not met.objects:
        return finding
    raised = _RAISED.get(finding.effect, finding.severity)
    if finding.spared is Spared.VALUE:
        raised = Severity.WARNING  # the recorded objects can be updated
    if all(map(is_terminal, finding.contexts)):
        raised = raised.lowered  # the clusters of the recorded objects can be neither upgraded nor rolled back
    severity = finding.severity if finding.severity.at_least(raised) else raised
    labels = list(met.objects)
    is_assumed = all(met.objects.values())
    evidence = Evidence(len(labels), tuple(labels[:_EXAMPLES]), tuple(sorted(met.contexts)), is_assumed)
    because = finding.because if severity == finding.severity else (*finding.because, "recorded objects hold it")
    return replace(finding, severity=severity, evidence=evidence, because=because)
