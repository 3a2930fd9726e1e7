"""The default severity of findings (design, section 4); rules and the configuration can override it."""

from __future__ import annotations

from crdcompat.crds.context import is_default
from crdcompat.models.finding import Finding
from crdcompat.vocabulary import Direction, Effect, Owner, Severity

#: (direction, effect) -> severity; ``_STATUS`` overrides it for status fields.
_DEFAULT = {
    (Direction.ROLLBACK, Effect.CRD_REJECTED): Severity.ERROR,
    (Direction.ROLLBACK, Effect.WRITE_REJECTED): Severity.WARNING,  # only if someone uses the new thing
    (Direction.ROLLBACK, Effect.REQUEST_FAILED): Severity.WARNING,
    (Direction.UPGRADE, Effect.CRD_REJECTED): Severity.ERROR,
    (Direction.UPGRADE, Effect.WRITE_REJECTED): Severity.WARNING,
    (Direction.UPGRADE, Effect.REQUEST_FAILED): Severity.WARNING,
}
#: Controllers write status without users: after a rollback the API server rejects all their writes.
_STATUS = {(Direction.ROLLBACK, Effect.WRITE_REJECTED): Severity.ERROR}


def default_severity(direction: Direction, effect: Effect, owner: Owner) -> Severity:
    """The severity unless the rule or the configuration overrides it."""
    if owner == Owner.STATUS and (direction, effect) in _STATUS:
        return _STATUS[direction, effect]
    return _DEFAULT.get((direction, effect), Severity.INFO)


_REJECTIONS = frozenset({Effect.CRD_REJECTED, Effect.WRITE_REJECTED, Effect.REQUEST_FAILED})
#: Changes after which an upgraded cluster lacks something that users had.
_REMOVALS = frozenset(
    {
        "crd.removed", "crd.renamed", "property.removed", "subresource-scale.removed", "subresource-status.removed",
        "version.removed",
    }
)  # fmt: skip


def is_strict_error(finding: Finding) -> bool:
    """Whether the strict profile makes an error of a finding: a rejection or a removal on upgrade.

    An effect that no object proves is no error, nor is one that only other feature sets than Default have.
    """
    if finding.direction != Direction.UPGRADE or not any(map(is_default, finding.contexts)):
        return False
    is_proven = finding.owner == Owner.CRD or finding.witness.object is not None
    return is_proven and (finding.effect in _REJECTIONS or finding.change in _REMOVALS)
