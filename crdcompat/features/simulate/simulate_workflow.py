"""simulate: the CRDs and the server of one or several releases judge recorded objects, in a single pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from msgspec.structs import replace

from crdcompat.apiserver.admission import metadata_of
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.gotext import GoValue
from crdcompat.apiserver.redaction import redacted_error, redacted_value
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.wording import aggregate
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import usual_context
from crdcompat.errors import Problem, Skipped, problem_order, skipped_order
from crdcompat.features.diff.diff_report import release
from crdcompat.features.simulate.early import NOTHING_GROWS, EarlyValues, Growing, after_move
from crdcompat.features.simulate.recording_notes import (
    apart_notes,
    cluster_notes,
    hidden_findings,
    hidden_note,
    is_of,
    older_than,
    other_feature_set,
    restore_notes,
)
from crdcompat.features.simulate.unrecorded import unrecorded_kinds, with_alike
from crdcompat.findings.growth import Declaration
from crdcompat.models.release import Release
from crdcompat.models.simulation import NotSimulated, Repair, Said, SimulatedObject, SimulationReport, WriteVerdict
from crdcompat.recordings.capture import CaptureFacts
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import EmptyList, ObjectItem
from crdcompat.replay.judges import Replayer, server_note
from crdcompat.replay.rejected_values import CauseCounter
from crdcompat.replay.replayed import ASK, Replayed
from crdcompat.replay.write_answer import Answer
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Side
from crdcompat.vocabulary.writes import RepairVerdict, WriteKind, WriteResult


def simulate(
    old: CrdSet,
    new: CrdSet,
    objects: Iterable[ObjectItem],
    *,
    server: Server | None = None,
    upgrade: bool = False,
    context: str | None = None,
    crds: Sequence[str] = (),
    growth: Growing = NOTHING_GROWS,
) -> SimulationReport:
    """Replay the rollback NEW -> OLD (with ``upgrade`` OLD -> NEW) on every object.

    ``server`` judges; None: the server of the judging release by its name, or, if the name has no version, one server
    per range of equal behaviour: a write on which these differ is unknown. ``context`` selects variants of CRDs,
    ``crds`` restricts the report to these CRDs. An object that holds a value of ``growth`` before its release writes it
    is an error. Notes give the versions of the recorded clusters.
    """
    facts = ClusterFacts()
    watched = facts.observe(objects)
    reader, writer = (new, old) if upgrade else (old, new)
    reader = after_move(reader, writer)
    old, new = (writer, reader) if upgrade else (reader, writer)
    (report,) = simulate_each(
        [old], new, watched, server=server, upgrade=upgrade, context=context, crds=crds, growth=growth, facts=facts
    )
    older = older_than(facts.versions, writer.name)
    judged = {item.crd for item in report.objects}
    of_clusters = context or usual_context(reader, writer)
    hidden = hidden_findings((old, new), report.direction, of_clusters, judged) if older else ()
    note = hidden_note(hidden, older, reader.name)
    moved = server_note(reader, writer, server)
    sets = list(dict.fromkeys(feature_set for feature_set, _ in facts.feature_sets))
    other = other_feature_set(sets, of_clusters) if context is None else ()
    recorded = (*cluster_notes(facts.versions, writer.name), *other)
    notes = (*filter(None, [moved]), *report.notes, *recorded, *filter(None, [note]))
    is_writer = is_of(facts.versions, writer.name)
    return with_unrecorded(replace(report, notes=notes, hidden=hidden), (old, new), context, crds, is_writer=is_writer)


def with_unrecorded(
    report: SimulationReport,
    sides: tuple[CrdSet, CrdSet],
    context: str | None,
    crds: Sequence[str],
    *,
    is_writer: bool,
) -> SimulationReport:
    """The report with the kinds that have findings and were not recorded; ``context`` and ``crds`` as in `simulate`.

    Objects that were not judged, of kinds without findings, are marked as such, if the writing release ``is_writer``:
    of a cluster of another release the comparison tells nothing.
    """
    old, new = sides
    reader, writer = (new, old) if report.direction is Direction.UPGRADE else (old, new)
    context = context or usual_context(reader, writer)
    missed = report.not_simulated
    return replace(
        report,
        unrecorded=unrecorded_kinds(sides, report.direction, report.recorded, context=context, crds=crds),
        not_simulated=with_alike(missed, sides, report.direction) if is_writer else missed,
    )


def simulate_each(
    targets: Sequence[CrdSet],
    new: CrdSet,
    objects: Iterable[ObjectItem],
    *,
    server: Server | None = None,
    upgrade: bool = False,
    context: str | None = None,
    crds: Sequence[str] = (),
    growth: Growing = NOTHING_GROWS,
    facts: ClusterFacts | None = None,
) -> tuple[SimulationReport, ...]:
    """The report of ``simulate`` for each target, from a single pass over the objects, which keeps none of them.

    ``facts`` describe the clusters of the objects, once all objects were passed.
    """
    runs = [_Run(target, new, server, context, crds, growth, upgrade=upgrade) for target in targets]
    for item in objects:
        for run in runs:
            run.add(item)
    early = growth.early(facts.versions if facts is not None else ())
    return tuple(run.report(early) for run in runs)


class _Run:
    """Collects the report of one target."""

    def __init__(
        self,
        target: CrdSet,
        new: CrdSet,
        server: Server | None,
        context: str | None,
        crds: Sequence[str],
        growth: Growing,
        *,
        upgrade: bool,
    ) -> None:
        self._replayer = Replayer(target, new, server, context, crds, upgrade=upgrade)
        self._target, self._new, self._server, self._upgrade = target, new, server, upgrade
        self._writer = (target if upgrade else new).name
        self._seen: set[tuple[str, ...]] = set()
        self._simulated: list[SimulatedObject] = []
        self._missed: list[NotSimulated] = []
        self._recorded: set[str] = set()
        self._problems = [*target.problems, *new.problems]
        self._skipped = {*target.skipped, *new.skipped}
        self._causes, self._already = CauseCounter(), CauseCounter(attrgetter("last.already"))
        self._early = EarlyValues(growth.declarations)
        self._errors: dict[tuple[Any, ...], dict[str, Any]] = {}

    def add(self, item: ObjectItem) -> None:
        """Replay one more object, or record a problem or a skipped file."""
        if isinstance(item, EmptyList):
            self._recorded.add(self._replayer.crd_of(item))
        elif isinstance(item, Problem):
            self._problems.append(item)
        elif isinstance(item, CaptureFacts):
            self._problems += [Problem(item.file, None, why, Side.OBJECTS) for why in self._replayer.doubts(item)]
        elif isinstance(item, Skipped):
            self._skipped.add(item)
        else:
            outcome = self._replayer.replay_once(item, self._seen)
            self._recorded.add(outcome.crd if outcome is not None else "")
            if isinstance(outcome, NotSimulated):
                self._missed.append(outcome)
            elif isinstance(outcome, Replayed):
                self._causes.add(outcome)
                self._already.add(outcome)
                self._early.add(outcome)
                self._simulated.append(self._simulated_object(outcome))

    def report(self, early: Sequence[Declaration]) -> SimulationReport:
        """The report on all added items; ``early`` are the declarations whose values they may not hold yet."""
        target, new, upgrade = self._target, self._new, self._upgrade
        reader, side = (new, Side.NEW) if upgrade else (target, Side.OLD)
        refused = [item.problem for item in self._missed if item.problem is not None]
        report = SimulationReport(
            old=_release(target, self._server if not upgrade else None),
            new=_release(new, self._server if upgrade else None),
            direction=Direction.UPGRADE if upgrade else Direction.ROLLBACK,
            objects=tuple(sorted(self._simulated, key=lambda item: (item.crd, item.namespace, item.name, item.source))),
            not_simulated=tuple(sorted(self._missed, key=lambda item: (item.reason, item.object, item.source))),
            skipped=tuple(sorted(self._skipped, key=skipped_order)),
            problems=tuple(sorted({*self._problems, *refused}, key=problem_order)),
            notes=self._replayer.notes,
            causes=(*self._causes.summary(reader, side), *self._early.causes(early)),
            already=self._already.summary(reader, side),
            recorded=frozenset(self._recorded - {""}),
        )
        return replace(report, notes=(*report.notes, *apart_notes(report), *restore_notes(report)))

    def _simulated_object(self, replayed: Replayed) -> SimulatedObject:
        last = replayed.last
        meta = replayed.item.data.get("metadata", {})
        repairs = {result.repair.verdict for _, result in replayed.by_server}
        return SimulatedObject(
            api_version=replayed.api_version,
            kind=replayed.kind,
            namespace=meta.get("namespace", "") or "",
            name=meta["name"],
            source=replayed.item.source,
            crd=replayed.crd,
            version=replayed.chosen.version.name,
            writes={name: self._agreed(replayed, name) for name in last.writes},
            repair=_repair(replayed) if len(repairs) == 1 else Repair(RepairVerdict.UNKNOWN, note=ASK),
            pruned=last.pruned,
            defaulted=last.defaulted,
            not_stored=last.not_stored,
        )

    def _agreed(self, replayed: Replayed, write: WriteKind) -> WriteVerdict:
        """The verdict that all servers agree on; where they differ, unknown, with the option that decides it."""
        answers = replayed.answers(write)
        verdicts = {answer.counts for _, answer in answers}
        if len(verdicts) == 1:
            return self._verdict(answers[-1][1], replayed)
        differences = ", ".join(f"{answer.verdict} on {server.kubernetes}" for server, answer in answers)
        manager = answers[-1][1].manager
        return WriteVerdict(WriteResult.UNKNOWN, note=f"{ASK} ({differences})", manager=manager)

    def _verdict(self, answer: Answer, replayed: Replayed) -> WriteVerdict:
        return WriteVerdict(
            verdict=answer.verdict,
            errors=tuple(self._error(error) for error in answer.errors),
            message=answer.message if answer.verdict not in (WriteResult.ACCEPTED, WriteResult.LOSES_DATA) else "",
            note="; ".join(filter(None, (answer.note, f"already so under {self._writer}" if answer.already else ""))),
            already=answer.already,
            redacted=self._redacted(answer, replayed) if answer.verdict is WriteResult.REJECTED else None,
            manager=answer.manager,
            accepted_without=answer.accepted_without,
        )

    def _redacted(self, answer: Answer, replayed: Replayed) -> Said | None:
        if not answer.errors:
            return Said((), answer.redacted_failure) if answer.redacted_failure else None
        errors = tuple(redacted_error(error, *replayed.schemas) for error in answer.errors)
        if errors == answer.errors:
            return None
        crd, name = replayed.chosen.document.crd, metadata_of(replayed.item.data).get("name", "")
        return Said(tuple(map(self._error, errors)), aggregate(crd.kind, crd.group, name, errors))

    def _error(self, error: FieldError) -> dict[str, Any]:
        """The error as data; equal errors of many writes and objects share one value."""
        key = (error.type, error.field, error.detail, repr(error.value), error.server)
        if key not in self._errors:
            self._errors[key] = error_data(error)
        return self._errors[key]


def _repair(replayed: Replayed) -> Repair:
    found = replayed.last.repair
    return replace(found, redacted=redacted_value(found.patch, (), *replayed.schemas))


def error_data(error: FieldError) -> dict[str, Any]:
    """A field error for JSON; ``value`` is present only if the server names one."""
    shown = error.value.data() if isinstance(error.value, GoValue) else error.value
    return {
        "type": error.type,
        "field": error.field,
        **({} if shown is ABSENT else {"value": shown}),
        "detail": error.detail,
        "text": error.text(),
    }


def _release(crds: CrdSet, server: Server | None) -> Release:
    described = release(crds)
    return described if server is None else replace(described, kubernetes=server.kubernetes)
