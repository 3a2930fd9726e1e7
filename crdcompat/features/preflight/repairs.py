"""The patches that repair an object before the rollback, while the installed CRD is still in place.

Under the installed CRD, one patch repairs the spec and another patch, to /status, repairs the status. After the
rollback, the server may judge the whole object on every write: then neither patch is accepted, because each leaves the
other half broken (docs/semantics.md#after-a-rollback).
"""

from __future__ import annotations

from collections.abc import Mapping

from crdcompat.apiserver.admission import metadata_of
from crdcompat.apiserver.redaction import redacted_value
from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.versions import DEFAULT_SERVER, Server
from crdcompat.crds.model import Crd, CrdVersion
from crdcompat.crds.resolving import Resolved
from crdcompat.models.preflight import Step, StepKind
from crdcompat.replay.repair import patches_without
from crdcompat.replay.replayed import Replayed
from crdcompat.replay.writes import replay
from crdcompat.schema.paths import Object, Pointer
from crdcompat.vocabulary.writes import NOT_FOUND, RepairVerdict


class Repairs:
    """Finds the steps that repair rejected objects.

    ``news`` are the installed CRDs by name, ``runs`` is the cluster's server, ``judge`` that after the rollback.
    """

    def __init__(self, news: Mapping[str, Resolved], runs: Server | None, judge: Server | None) -> None:
        self._news = news
        self._judge = judge or DEFAULT_SERVER
        self._runs = runs or self._judge
        self._resources: dict[tuple[int, Server], Resource] = {}

    def steps(self, replayed: Replayed) -> tuple[Step, ...]:
        """The steps for one rejected object; none if its CRD or its stored version has to change."""
        causes = [cause for cause in replayed.last.causes if cause.error.type != NOT_FOUND]
        if not causes:
            return ()
        patches = self._patches(replayed, [cause.pointer for cause in causes if cause.pointer])
        kind = StepKind.PATCH
        if patches is None:
            repair = replayed.last.repair
            if repair.verdict not in (RepairVerdict.MAIN, RepairVerdict.STATUS):
                return (self._step(StepKind.WIDEN, replayed, {}, status=False),)
            kind, patches = StepKind.PATCH_AFTER, {repair.verdict is RepairVerdict.STATUS: repair.patch}
        return tuple(
            self._step(kind, replayed, patch, status=status) for status, patch in sorted(patches.items()) if patch
        )

    def _patches(self, replayed: Replayed, bad: list[Pointer]) -> dict[bool, Object] | None:
        """Patches by endpoint (True: /status) after which OLD rejects nothing; None if no such patches work now."""
        installed = self._news[replayed.crd].versions.get(replayed.api_version.rpartition("/")[2])
        if installed is None:
            return None
        reader = self._resource(replayed.chosen.document.crd, replayed.chosen.version, self._judge)
        writer = self._resource(installed.document.crd, installed.version, self._runs)
        stored, repair = replayed.item.data, replayed.last.repair
        if bad:
            main, status = patches_without(reader.read(stored).object, bad, reader)
            by_endpoint = {False: main, True: status} if writer.version.has_status else {False: {**main, **status}}
        else:  # the error of a rule on the whole object has no pointer
            by_endpoint = {repair.verdict is RepairVerdict.STATUS: repair.patch}
        for is_status, patch in by_endpoint.items():
            if patch:
                answer = writer.merge_patch(patch, stored, status=is_status)
                if not answer.accepted or answer.object is None:
                    return None
                stored = answer.object
        left = replay(reader, stored, had_status=writer.version.has_status)
        return None if left.causes else by_endpoint

    def _resource(self, crd: Crd, version: CrdVersion, server: Server) -> Resource:
        key = id(version), server
        if key not in self._resources:
            self._resources[key] = Resource(crd, version, server)
        return self._resources[key]

    def _step(self, kind: StepKind, replayed: Replayed, patch: Object, *, status: bool) -> Step:
        meta = metadata_of(replayed.item.data)
        return Step(
            kind,
            replayed.crd,
            str(meta.get("namespace") or ""),
            str(meta["name"]),
            status,
            patch,
            redacted_value(patch, (), *replayed.schemas),
        )
