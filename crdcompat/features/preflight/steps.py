"""The plan of a preflight: the steps that follow from its answer, in the order in which the user does them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crdcompat.crds.model import Crd
from crdcompat.features.preflight.scope import Scope, stored_versions
from crdcompat.models.preflight import GoBack, Missing, PreflightReport, Step, StepKind


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
