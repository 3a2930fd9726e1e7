"""Required fields: demanded by one side only (rows 32 to 36 of reference section 13).

A field that is required and has a default is never missing: the default comes first.
"""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.errors import REQUIRED
from crdcompat.compare.changes import Change
from crdcompat.compare.site import Effects, Meeting, Seen, Site, Trial, Trials
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"required"})
EFFECTS = {
    "required.added": Effects(upgrade=(Effect.WRITE_REJECTED,)),
    "required.removed": Effects(rollback=(Effect.WRITE_REJECTED,)),
}


def changes(site: Site) -> Iterator[Change]:
    if site.in_junctor:
        return  # what a branch requires decides between branches; the junctor facet looks at it
    old, new = site.old.required, site.new.required
    for kind, names in (
        ("required.added", [name for name in new if name not in old]),
        ("required.removed", [name for name in old if name not in new]),
    ):
        for name in sorted(names):
            yield Change(
                kind,
                (*site.path, name),
                name in old,
                name in new,
                old_at=(*site.old_at, "required") if site.old.required else site.old_at,
                new_at=(*site.new_at, "required") if site.new.required else site.new_at,
            )


def trials(change: Change, direction: Direction, meeting: Meeting) -> Trials:
    """The parent object without the field."""
    return Trials((Trial(ABSENT, change.path),), complete=False)


def shows(effect: Effect, seen: Seen) -> bool:
    return seen.rejects(REQUIRED)
