"""The plan of a preflight: the steps that follow from its answer, in the order in which the user does them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from crdcompat.apiserver.admission import metadata_of
from crdcompat.apiserver.redaction import redacted_value
from crdcompat.apiserver.server_versions import DEFAULT_SERVER, Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.model import Crd, CrdVersion
from crdcompat.crds.resolving import Resolved
from crdcompat.features.preflight.affected_kinds import Scope, stored_versions
from crdcompat.models.preflight import GoBack, Missing, PreflightReport, Step, StepKind
from crdcompat.replay.judges import Replayer
from crdcompat.replay.repair import patches_without
from crdcompat.replay.replayed import Replayed
from crdcompat.replay.replayed_writes import replay
from crdcompat.schema.paths import Object, Pointer
from crdcompat.vocabulary.writes import NOT_FOUND, RepairVerdict


def ordered_steps(
    report: PreflightReport, scope: Scope, repaired: Iterable[Step], stuck: Iterable[str] = ()
) -> tuple[Step, ...]:
    """The steps for each reason of the answer; none if there is nothing to do.

    First the gaps are closed. ``repaired`` are the repairs of rejected objects; ``stuck`` are the CRDs with rejected
    objects that no repair helps. The operator is scaled down before the first repair, because it would write the values
    again. The rollback is a step only where the answer is yes; else the last step is to run preflight again.
    """
    repairs = [*repaired]
    refused = [item.crd for item in report.refused]
    found = [*_closing(report.missing)]
    found += [Step(StepKind.KEEP, each.crd) for each in report.deleted]
    found += [Step(StepKind.SAVE, crd) for crd in dict.fromkeys(loss.crd for loss in report.losses)]
    found += [Step(StepKind.HOLD_BACK, crd) for crd in dict.fromkeys(cause.crd for cause in report.early)]
    if report.is_rejected:
        moves = [step for crd in refused for step in _storage_moves(scope, crd)]
        moves += [Step(StepKind.WIDEN, crd) for crd in dict.fromkeys(stuck) if crd not in refused]
        found.append(Step(StepKind.SCALE_DOWN))
        found += _of(repairs, StepKind.PATCH)
        found += _of((*repairs, *moves), StepKind.WIDEN)
        found += [step for step in moves if step.kind is not StepKind.WIDEN]
        found += _of(repairs, StepKind.PATCH_AFTER)
    if report.answer in (GoBack.UNKNOWN, GoBack.NO):
        found.append(Step(StepKind.CHECK))
    elif found:
        found.append(Step(StepKind.ROLL_BACK))
    return tuple(found)


def _of(steps: Sequence[Step], kind: StepKind) -> list[Step]:
    return [step for step in steps if step.kind is kind]


def _closing(missing: Sequence[Missing]) -> Iterator[Step]:
    """The steps that close the gaps, each kind of step together. Some gaps need no other step than a second run."""
    for kind in StepKind:
        names = dict.fromkeys((item.what, item.api) for item in missing if item.step is kind)
        if kind is not StepKind.CHECK:
            yield from (Step(kind, what, api=api) for what, api in names)


def _storage_moves(scope: Scope, name: str) -> Iterator[Step]:
    """The steps that move stored objects to OLD's storage version, so that the server accepts OLD's CRD."""
    current, target = scope.news[name].crd, scope.olds[name].crd
    gone = tuple(version for version in stored_versions(scope.news[name]) if target.version(version) is None)
    to = target.storage_version
    moves = storage_moves(current, to.name, gone) if gone and to is not None else ()
    yield from moves or (Step(StepKind.WIDEN, name),)


def storage_moves(current: Crd, to: str, gone: tuple[str, ...]) -> tuple[Step, ...]:
    """The steps under the CRD ``current`` after which nothing is stored in the versions ``gone``, but all in ``to``.

    None if the CRD does not serve ``to``.
    """
    after = current.version(to)
    if after is None or not after.served:
        return ()
    flags = [
        {"op": "replace", "path": f"/spec/versions/{index}/storage", "value": version.name == to}
        for index, version in enumerate(current.versions)
        if version.storage != (version.name == to)
    ]
    name, versions = current.name, (to, *gone)
    moved = (Step(StepKind.MOVE_STORAGE, name, patch=flags, redacted=flags, versions=versions),) if flags else ()
    forget = {"status": {"storedVersions": [to]}}
    return (
        *moved,
        Step(StepKind.REWRITE, name, versions=versions),
        Step(StepKind.FORGET_VERSION, name, status=True, patch=forget, redacted=forget, versions=versions),
    )


# The patches that repair an object before the rollback, while the installed CRD is still in place.
#
# Under the installed CRD, one patch repairs the spec and another patch, to /status, repairs the status. After the
# rollback, the server may judge the whole object on every write: then neither patch is accepted, because each leaves
# the other half broken (docs/semantics.md#after-a-rollback).


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


# The rollback of single objects: its replay, and the steps that repair a rejected one.


class Rollback:
    """Replays objects, and finds their repairs.

    ``runs`` is the cluster's server, ``judge`` the server after the rollback.
    """

    def __init__(self, scope: Scope, runs: Server | None, judge: Server | None) -> None:
        self.replayer = Replayer(scope.old, scope.installed, judge, scope.context, notes=False)
        self.repairs = Repairs(scope.news, runs, judge)
        self._crds = {**_by_kind(scope.olds), **_by_kind(scope.news)}

    def crd_of(self, data: object) -> str:
        """The CRD of an object by its apiVersion and kind; "" if neither release has it."""
        if not isinstance(data, dict):
            return ""
        api_version, kind = data.get("apiVersion"), data.get("kind")
        group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
        return self._crds.get((group, kind), "") if isinstance(kind, str) else ""


def _by_kind(crds: Mapping[str, Resolved]) -> dict[tuple[str, str], str]:
    return {(each.crd.group, each.crd.kind): name for name, each in crds.items()}
