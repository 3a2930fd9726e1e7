"""simulate --fleet: the recordings of many clusters replayed against several releases, optionally in parallel."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from crdcompat.apiserver.versions import Server
from crdcompat.config.applied import read_source, reader_for
from crdcompat.config.configuration import Config
from crdcompat.config.releases import version_of
from crdcompat.crds.pairing import usual_context
from crdcompat.crds.reader import CrdSet
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.outcome import Outcome, decode, encode
from crdcompat.features.fleet.recordings import Fleet, signature
from crdcompat.features.fleet.rollback_depth import judge_recording
from crdcompat.features.fleet.summary import summarize
from crdcompat.features.fleet.tally import FleetTally
from crdcompat.features.fleet.workers import Died, done_by
from crdcompat.features.simulate.judges import replayers
from crdcompat.features.simulate.unrecorded import unrecorded_kinds
from crdcompat.models.fleet import FleetReport
from crdcompat.models.simulation import Unrecorded
from crdcompat.render.wording.findings import plural
from crdcompat.sources.naming import display_path
from crdcompat.vocabulary import Direction, Side

#: Called for each finished recording with ``read``, ``failed``, or ``known`` (from a journal).
OnDone = Callable[[str], object]


class Plan(Struct, frozen=True):
    """The request of a run: the releases, and how they judge. ``targets`` are rollback targets besides OLD."""

    old: str
    new: str
    targets: tuple[str, ...]
    config: Config
    repo: str | None = None
    server: Server | None = None
    upgrade: bool = False
    context: str | None = None
    crds: tuple[str, ...] = ()


class FleetJudge:
    """The loaded releases of a plan, which judge any number of recordings.

    Pickling passes only the plan: a process that is not forked reads the releases again. Raises SourceError and
    RefNotFoundError.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        reader = reader_for(plan.config)
        names = dict.fromkeys((plan.old, *plan.targets))
        read = [read_source(name, Side.OLD, reader, plan.config, plan.repo) for name in names]
        self.old = read[0]
        self.new = read_source(plan.new, Side.NEW, reader, plan.config, plan.repo)
        self.targets, self.is_ordered = _nearest_first(read)
        self._replayers = replayers(self.targets, self.new, plan.server, plan.context, upgrade=plan.upgrade)

    @property
    def readers(self) -> tuple[CrdSet, ...]:
        """The releases whose CRDs judge, in the order of an outcome's targets."""
        return (self.new,) if self.plan.upgrade else self.targets

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on assumptions about the releases."""
        notes = dict.fromkeys(note for replayer in self._replayers for note in replayer.notes)
        order = () if self.is_ordered else ("the names of the targets do not tell their order: they stand as given",)
        return (*order, *notes)

    def __call__(self, path: str) -> bytes:
        """The encoded outcome of one recording."""
        return judge_recording(path, self._replayers, self.plan.crds)

    def __reduce__(self) -> tuple[type[FleetJudge], tuple[Plan]]:
        return FleetJudge, (self.plan,)

    def fingerprint(self) -> dict[str, Any]:
        """Everything besides the recordings that outcomes depend on, for a journal."""
        plan = self.plan
        releases = {crds.name: f"{crds.commit or ''} {_content_id(crds)}" for crds in (*self.targets, self.new)}
        asked = {"server": str(plan.server or ""), "context": plan.context or "", "crds": " ".join(sorted(plan.crds))}
        order = " ".join(crds.name for crds in self.targets)
        return {"targets": order, "new": plan.new, "upgrade": plan.upgrade, **asked, **releases}


def simulate_fleet(
    judge: FleetJudge, fleet: Fleet, *, jobs: int = 1, journal: Journal | None = None, on_done: OnDone | None = None
) -> FleetReport:
    """The report on all recordings of a fleet; the same for any number of ``jobs``, with or without a ``journal``.

    The report lists recordings that could not be read, and notes the number of ignored lines of the journal.
    ``on_done`` is called for each finished recording.
    """
    tally = FleetTally(len(judge.readers), Direction.UPGRADE if judge.plan.upgrade else Direction.ROLLBACK)
    for path, outcome in _in_order(judge, fleet.recordings, jobs, journal, on_done or (lambda _: None)):
        tally.add(display_path(path), outcome)
    for path, reason in fleet.unread:
        tally.add(display_path(path), Outcome(failure=reason))
    notes = (*judge.notes, *_refused(journal))
    return summarize(
        tally,
        judge.readers,
        (judge.old, judge.new),
        judge.plan.server,
        notes,
        fleet.left_out,
        tuple(_unrecorded(judge, tally)),
    )


def _unrecorded(judge: FleetJudge, tally: FleetTally) -> Iterator[tuple[Unrecorded, ...]]:
    """For each release that judges, the kinds with findings that not every cluster has recorded."""
    plan = judge.plan
    by_cluster = [cluster.recorded for cluster in tally.clusters]
    for crds in judge.readers:
        writer = judge.old if plan.upgrade else judge.new
        sides = (writer, crds) if plan.upgrade else (crds, writer)
        context = plan.context or usual_context(crds, writer)
        names = plan.crds or [document.crd.name for document in crds.documents]
        missed = [name for name in names if not all(name in recorded for recorded in by_cluster)]
        yield unrecorded_kinds(sides, tally.direction, (), context=context, crds=missed) if missed else ()


def _in_order(
    judge: FleetJudge, recordings: Sequence[str], jobs: int, journal: Journal | None, on_done: OnDone
) -> Iterator[tuple[str, Outcome]]:
    """The outcomes in the order of the recordings; early ones wait in encoded form."""
    signatures: dict[str, str] = {}
    known: set[str] = set()
    early: dict[str, bytes] = {}

    def fresh() -> Iterator[str]:
        for path in recordings:
            if journal is not None:
                signatures[path] = signature(path)
                if journal.get(_absolute(path), signatures[path]) is not None:
                    known.add(path)
                    on_done("known")
                    continue
            yield path

    with closing(done_by(judge, fresh(), jobs)) as answers:
        for path in recordings:
            while path not in early and path not in known and (answered := next(answers, None)) is not None:
                done, answer = answered
                early[done] = encode(Outcome(failure=str(answer))) if isinstance(answer, Died) else answer
                failed = bool(decode(early[done]).failure)
                if journal is not None and not failed:
                    journal.add(_absolute(done), signatures[done], early[done])
                on_done("failed" if failed else "read")
            outcome = decode(early.pop(path)) if path in early else None
            if outcome is None and journal is not None:
                outcome = journal.get(_absolute(path), signatures[path])
            assert outcome is not None
            yield path, outcome


def _refused(journal: Journal | None) -> Iterator[str]:
    if journal is not None and journal.refused:
        yield f"{plural(journal.refused, 'line')} of the journal held no outcome of this run: read again"


def _content_id(crds: CrdSet) -> str:
    """A digest of a release's CRD files, of the annotations that select variants, and of its server version."""
    annotations = sorted((item.file, sorted(item.crd.annotations.items())) for item in crds.documents)
    digest = hashlib.blake2b(orjson.dumps([crds.runs, annotations]), digest_size=8)
    for file, data in crds.read(sorted({item.file for item in crds.documents})):
        digest.update(orjson.dumps([file, len(data)]) + data)
    return digest.hexdigest()


def _absolute(path: str) -> str:
    return display_path(str(Path(path).absolute()))


def _nearest_first(targets: Sequence[CrdSet]) -> tuple[tuple[CrdSet, ...], bool]:
    """The targets, newest first, if all names contain a version; else in the given order. The flag: is it sorted?"""
    versions = {crds.name: version for crds in targets if (version := version_of(crds.name)) is not None}
    if len(versions) < len(targets):
        return tuple(targets), len(targets) == 1
    return tuple(sorted(targets, key=lambda crds: versions[crds.name], reverse=True)), True
