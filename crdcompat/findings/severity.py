"""The default severity of findings (design, section 4); rules and the configuration can override it."""

from __future__ import annotations

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
