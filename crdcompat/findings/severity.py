"""How much a finding matters by default (design, section 4); rules and configuration may say otherwise."""

from __future__ import annotations

from crdcompat.vocabulary import Direction, Effect, Owner, Severity

#: (direction, effect) -> severity; status has its own line where it differs.
_DEFAULT = {
    (Direction.ROLLBACK, Effect.CRD_REJECTED): Severity.ERROR,
    (Direction.ROLLBACK, Effect.WRITE_REJECTED): Severity.WARNING,  # only if someone uses the new thing
    (Direction.ROLLBACK, Effect.REQUEST_FAILED): Severity.WARNING,
    (Direction.UPGRADE, Effect.CRD_REJECTED): Severity.ERROR,
    (Direction.UPGRADE, Effect.WRITE_REJECTED): Severity.WARNING,
    (Direction.UPGRADE, Effect.REQUEST_FAILED): Severity.WARNING,
}
#: Controllers write status by themselves: after a rollback their writes are rejected for ever.
_STATUS = {(Direction.ROLLBACK, Effect.WRITE_REJECTED): Severity.ERROR}


def default_severity(direction: Direction, effect: Effect, owner: Owner) -> Severity:
    """The severity where neither the rule nor the configuration says another one."""
    if owner == Owner.STATUS and (direction, effect) in _STATUS:
        return _STATUS[direction, effect]
    return _DEFAULT.get((direction, effect), Severity.INFO)
