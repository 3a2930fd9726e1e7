"""Areas that keep unknown fields, and embedded resources (rows 55 to 60 of reference section 13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.compare.changes import Change
from crdcompat.compare.site import VALUE_PRUNED, WRITE_REJECTED, Effects, Meeting, Seen, Site, Trial, Trials
from crdcompat.schema.paths import node_at
from crdcompat.schema.sample import sample
from crdcompat.schema.structural import Node

_PRESERVE = "x-kubernetes-preserve-unknown-fields"
_EMBEDDED = "x-kubernetes-embedded-resource"
KEYWORDS = frozenset({_PRESERVE, _EMBEDDED})
EFFECTS = {
    "preserve-unknown.added": Effects(rollback=(VALUE_PRUNED, WRITE_REJECTED)),
    "preserve-unknown.removed": Effects(upgrade=(VALUE_PRUNED, WRITE_REJECTED)),
    "embedded-resource.added": Effects(rollback=(VALUE_PRUNED,), upgrade=(WRITE_REJECTED,)),
    "embedded-resource.removed": Effects(rollback=(WRITE_REJECTED,), upgrade=(VALUE_PRUNED,)),
}

#: A member that no schema declares.
_MEMBER = "crdcompatUnknown"


def changes(site: Site) -> Iterator[Change]:
    if site.in_junctor:
        return
    for keyword, what in ((_PRESERVE, "preserve-unknown"), (_EMBEDDED, "embedded-resource")):
        old, new = (side.raw.get(keyword) is True for side in (site.old, site.new))
        if old == new:
            continue
        yield site.change(f"{what}.{'added' if new else 'removed'}", old, new, keyword)


def trials(change: Change, direction: str, meeting: Meeting) -> Trials:
    """An object with an undeclared member, or one that lacks what an embedded resource must have."""
    node = node_at(meeting.writer.node, change.path)
    if node is None:
        return Trials(())
    base = _object(node)
    if change.kind.startswith("preserve"):
        values: list[Any] = [{**base, _MEMBER: {"a": "b"}}, [{_MEMBER: "a"}], {_MEMBER: "a"}]
        return Trials(tuple(Trial(value, change.path) for value in values))
    bare = {name: value for name, value in base.items() if name not in ("apiVersion", "kind", "metadata")}
    whole = {"apiVersion": "v1", "kind": "Example", "metadata": {"name": "example"}, **bare}
    return Trials(tuple(Trial(value, change.path) for value in (bare, whole)))


def shows(effect: str, seen: Seen) -> bool:
    return seen.prunes() if effect == VALUE_PRUNED else seen.rejects_below()


def _object(node: Node) -> dict[str, Any]:
    made = sample(node)
    return made if isinstance(made, dict) else {}
