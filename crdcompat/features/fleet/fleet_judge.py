"""The plan of a fleet run, and the judge that is made from it: the loaded releases."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct

from crdcompat.apiserver.server_versions import Server
from crdcompat.config.applied import read_source, reader_for, shipped_alone, shipped_of
from crdcompat.config.configuration import Config
from crdcompat.config.releases import version_of
from crdcompat.crds.reader import CrdSet
from crdcompat.features.fleet.rollback_depth import judge_recording
from crdcompat.features.simulate.early import after_move, growing
from crdcompat.findings.growth import Declaration
from crdcompat.replay.judges import Replayer
from crdcompat.vocabulary import Side


class Plan(Struct, frozen=True):
    """The releases of a run, and the options for judging. ``targets`` are rollback targets besides OLD.

    ``growth`` are declarations of values that objects may not hold before the release that writes them.
    """

    old: str
    new: str
    targets: tuple[str, ...]
    config: Config
    repo: str | None = None
    server: Server | None = None
    upgrade: bool = False
    context: str | None = None
    crds: tuple[str, ...] = ()
    growth: tuple[Declaration, ...] = ()


class FleetJudge:
    """The loaded releases of a plan, which judge any number of recordings.

    It is never sent to a worker: a worker gets the plan and reads the releases itself. The constructor raises
    SourceError and RefNotFoundError.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        reader = reader_for(plan.config)
        names = dict.fromkeys((plan.old, *plan.targets))
        first, *others = (read_source(name, Side.OLD, reader, plan.config, plan.repo) for name in names)
        new = read_source(plan.new, Side.NEW, reader, plan.config, plan.repo)
        self.old, self.new = shipped_of(first, new, plan.config)
        further = [shipped_alone(crds, plan.config, Side.OLD) for crds in others]
        if plan.upgrade:
            self.new = after_move(self.new, self.old)
        else:
            self.old, *further = (after_move(crds, self.new) for crds in (self.old, *further))
        self.targets, self.is_ordered = _nearest_first([self.old, *further])
        self._replayers = [
            Replayer(target, self.new, plan.server, plan.context, plan.crds, upgrade=plan.upgrade)
            for target in self.targets
        ]
        self._growth = growing(plan.growth, plan.new, plan.config)
        self._kinds = frozenset().union(*(crds.kinds(plan.crds) for crds in (self.new, *self.targets)))

    @property
    def readers(self) -> tuple[CrdSet, ...]:
        """The releases whose CRDs judge the objects, in the order of an outcome's targets."""
        return (self.new,) if self.plan.upgrade else self.targets

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on assumptions about the releases."""
        notes = dict.fromkeys(note for replayer in self._replayers for note in replayer.notes)
        order = () if self.is_ordered else ("not all targets have a version in their names: they keep the given order",)
        return (*order, *notes)

    def __call__(self, path: str) -> bytes:
        """The encoded outcome of one recording."""
        return judge_recording(path, self._replayers, self._kinds, self._growth)

    def fingerprint(self) -> dict[str, Any]:
        """All inputs of a run besides the recordings. A journal is valid for a run with the same fingerprint."""
        plan = self.plan
        releases = {crds.name: f"{crds.commit or ''} {_content_id(crds)}" for crds in (*self.targets, self.new)}
        asked = {"server": str(plan.server or ""), "context": plan.context or "", "crds": " ".join(sorted(plan.crds))}
        if plan.growth:
            asked["growth"] = repr((plan.growth, self._growth.writer))
        order = " ".join(crds.name for crds in self.targets)
        return {"targets": order, "new": plan.new, "upgrade": plan.upgrade, **asked, **releases}


def _content_id(crds: CrdSet) -> str:
    """A digest of a release's CRD files, of the annotations that select variants, its server, what is gone."""
    annotations = sorted((item.file, sorted(item.crd.annotations.items())) for item in crds.documents)
    digest = hashlib.blake2b(orjson.dumps([crds.runs, annotations, sorted(crds.deleted)]), digest_size=8)
    for file, data in crds.read(sorted({item.file for item in crds.documents})):
        digest.update(orjson.dumps([file, len(data)]) + data)
    return digest.hexdigest()


def _nearest_first(targets: Sequence[CrdSet]) -> tuple[tuple[CrdSet, ...], bool]:
    """The targets, newest first if all names contain a version, else in the given order; whether they are sorted."""
    versions = {crds.name: version for crds in targets if (version := version_of(crds.name)) is not None}
    if len(versions) < len(targets):
        return tuple(targets), len(targets) == 1
    return tuple(sorted(targets, key=lambda crds: versions[crds.name], reverse=True)), True
