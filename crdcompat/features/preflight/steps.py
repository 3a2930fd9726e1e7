"""The steps of a rollback, in the order in which the user does them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crdcompat.features.preflight.scope import Scope, stored_versions
from crdcompat.models.losses import Loss
from crdcompat.models.preflight import RefusedCrd, Step, StepKind


def ordered_steps(
    scope: Scope, repaired: Iterable[Step], refused: Sequence[RefusedCrd], losses: Sequence[Loss]
) -> tuple[Step, ...]:
    """All steps; none if there is nothing to repair and nothing to save.

    The operator is scaled down before the first repair, because it would write the values again. A repair comes before
    the rollback if the installed CRD accepts it, else after.
    """
    repairs = [*repaired]
    found = [Step(StepKind.SAVE, crd) for crd in dict.fromkeys(loss.crd for loss in losses)]
    moves = [step for item in refused for step in _storage_moves(scope, item.crd)]
    if repairs or refused:
        found.append(Step(StepKind.SCALE_DOWN))
        found += [step for step in repairs if step.kind is StepKind.PATCH]
        found += [step for step in (*repairs, *moves) if step.kind is StepKind.WIDEN]
        found += [step for step in moves if step.kind is not StepKind.WIDEN]
        found.append(Step(StepKind.CHECK))
    if found:
        found.append(Step(StepKind.ROLL_BACK))
        found += [step for step in repairs if step.kind is StepKind.PATCH_AFTER]
    return tuple(found)


def _storage_moves(scope: Scope, name: str) -> Iterator[Step]:
    """The steps that move stored objects to OLD's storage version, so that the server accepts OLD's CRD."""
    current, target = scope.news[name].crd, scope.olds[name].crd
    gone = tuple(version for version in stored_versions(scope.news[name]) if target.version(version) is None)
    to = target.storage_version
    after = current.version(to.name) if to is not None else None
    if not gone or to is None or after is None or not after.served:
        yield Step(StepKind.WIDEN, name)
        return
    flags = [
        {"op": "replace", "path": f"/spec/versions/{index}/storage", "value": version.name == to.name}
        for index, version in enumerate(current.versions)
        if version.storage != (version.name == to.name)
    ]
    versions = (to.name, *gone)
    if flags:
        yield Step(StepKind.MOVE_STORAGE, name, patch=flags, redacted=flags, versions=versions)
    yield Step(StepKind.REWRITE, name, versions=versions)
    forget = {"status": {"storedVersions": [to.name]}}
    yield Step(StepKind.FORGET_VERSION, name, status=True, patch=forget, redacted=forget, versions=versions)
