"""Evidence for findings from recorded objects (diff --objects), and rejections that no finding explains.

An object counts in a direction only if the schema of the writing release accepts it: an object that is invalid there
proves nothing about the reading release. It counts for findings of its cluster's context alone (`RecordedContexts`).
The writes of an object are those that ``simulate`` replays, so both say the same about an object.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from crdcompat.apiserver.field_errors import DUPLICATE, REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.redaction import redacted_error
from crdcompat.apiserver.strategy import Resource
from crdcompat.cel.uses import uses_old
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
from crdcompat.models.release import sorted_skips
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import EmptyList, ObjectItem, Recorded
from crdcompat.replay.replayed_writes import Written, writes_of
from crdcompat.schema.paths import pointer_of, render, schema_path_of
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect, Severity
from crdcompat.vocabulary.writes import COUNTED_WRITES, WriteResult

_EXAMPLES = 3
#: The least severity of an effect with evidence: recorded objects use what changed. The objects of a rejection or a
#: failed request that blocks no write that counts use it as well, and can be updated.
_RAISED = {
    Effect.WRITE_REJECTED: Severity.WARNING,
    Effect.REQUEST_FAILED: Severity.WARNING,
    Effect.VALUE_PRUNED: Severity.WARNING,
    Effect.VALUE_DEFAULTED: Severity.INFO,
}
#: The changes that requests fail by, by what the reader lacks.
_VERSION, _ENDPOINT = "version.", "subresource.status-"

#: Keywords whose errors may be about a missing member.
_MAY_BE_MISSING = (Keyword.REQUIRED, Keyword.EMBEDDED)


class _Fact(Struct, frozen=True):
    """The reader's effect on one object at one path, with the error if it is a rejection.

    ``blocks``: it fails a write that counts (`COUNTED_WRITES`). ``by``: how the change begins that fails requests.
    """

    effect: Effect
    path: str
    error: FieldError | None = None
    blocks: bool = False
    by: str = ""


class _Effects(Struct, frozen=True):
    """The effects on one object: those under each pair of schemas by which it can have been written."""

    label: str
    source: str
    direction: Direction
    type: Type
    facts: tuple[tuple[Schemas, tuple[_Fact, ...]], ...]


class _Met(Struct):
    """The objects that a finding affects, by label, each with whether its context is assumed; and ``contexts`` of all.

    ``blocks``: the server rejects a write of one of them because of the finding.
    """

    objects: dict[str, bool] = field(default_factory=dict)
    contexts: set[str] = field(default_factory=set)
    blocks: bool = False


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
            elif isinstance(item, Skipped):
                skipped.append(item)
            elif not isinstance(item, EmptyList):
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
        self._directions = tuple(dict.fromkeys((*report.directions, *(each.judged_as for each in report.findings))))
        # A finding that was filtered out may explain a rejection.
        is_part = report.is_filtered or len(self._directions) > len(report.directions)
        self._explained = frozenset() if is_part else frozenset(report.counts.versions)
        self._contexts = RecordedContexts(old, new, report.counts.contexts)
        self._by_place: dict[tuple[str, str, str], list[tuple[Finding, _Met]]] = {}
        for finding, met in zip(report.findings, self.met, strict=True):
            self._by_place.setdefault((finding.judged_as, finding.crd, finding.version), []).append((finding, met))

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
            schemas = self._contexts.of(type_, direction)
            judged = ((each, _facts(item.data, each.sides, is_known=each.is_known)) for each in schemas)
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
                    met.blocks |= fact.blocks
                if not explaining and fact.error is not None and place[1:] in self._explained:
                    self.unexplained.append(_unexplained(effects, fact.error, schemas.sides))


def _unexplained(effects: _Effects, error: FieldError, sides: WriterReader) -> Unexplained:
    redacted = redacted_error(error, sides.reader.node, sides.writer.node)
    texts = (f"{effects.direction}: {each.text()}" for each in (error, redacted))
    return Unexplained(effects.label, effects.source, *texts)


def _facts(data: dict[str, Any], sides: WriterReader, *, is_known: bool) -> tuple[_Fact, ...] | None:
    """The effects of the reader on an object; None if the writer cannot have written it.

    ``is_known``: something names the reader's server. If not, no update counts as tolerated.
    """
    reader, writer = sides.reader, sides.writer
    stored = writer.create(data, keep_status=True)
    if stored.accepted is not True or stored.object is None or stored.pruned:
        return None  # another release than the writer has written this object, or another context
    if not reader.version.served:
        return (_Fact(Effect.REQUEST_FAILED, "", blocks=True, by=_VERSION),) if writer.version.served else None
    obj = {**stored.object, "apiVersion": reader.api_version}
    written = writes_of(reader, obj, had_status=writer.version.has_status)
    places = [(_general(cause.error, reader.node), cause.error) for cause in written.causes]
    blocking = _blocking(reader, written) if is_known else None
    rejected = (
        _Fact(Effect.WRITE_REJECTED, at, error, blocks=blocking is None or (at, error.keyword) in blocking)
        for at, error in places
        if not _is_about_updates(error)
    )
    lost = writer.version.has_status and not reader.version.has_status
    failed = (_Fact(Effect.REQUEST_FAILED, "status", blocks=True, by=_ENDPOINT),) if lost else ()
    pruned, read = written.read.pruned, written.read.object
    erased = (_Fact(Effect.VALUE_PRUNED, _general_path(path, obj, writer.node)) for path in pruned)
    set_ = (_Fact(Effect.VALUE_DEFAULTED, _general_path(path, read, reader.node)) for path in written.read.defaulted)
    return (*rejected, *failed, *erased, *set_)


def _blocking(reader: Resource, written: Written) -> frozenset[tuple[str, Keyword]] | None:
    """The places and keywords of the errors that reject a write that counts; None if a write fails without an error."""
    answers = [written.writes[kind] for kind in COUNTED_WRITES]
    rejected = [answer for answer in answers if answer.verdict is WriteResult.REJECTED]
    if not all(answer.errors for answer in rejected):
        return None
    return frozenset((_general(error, reader.node), error.keyword) for answer in rejected for error in answer.errors)


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
    if finding.effect != fact.effect or not finding.change.startswith(fact.by):
        return False
    if fact.by:
        return True
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
    raised = Severity.ERROR if met.blocks else _RAISED.get(finding.effect, finding.severity)
    if all(map(is_terminal, finding.contexts)):
        raised = raised.lowered  # the clusters of the recorded objects can be neither upgraded nor rolled back
    severity = finding.severity if finding.severity.at_least(raised) else raised
    labels = list(met.objects)
    is_assumed = all(met.objects.values())
    evidence = Evidence(len(labels), tuple(labels[:_EXAMPLES]), tuple(sorted(met.contexts)), is_assumed)
    because = finding.because if severity == finding.severity else (*finding.because, "recorded objects hold it")
    return replace(finding, severity=severity, evidence=evidence, because=because)
