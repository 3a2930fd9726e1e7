"""anyOf, oneOf, allOf and not: unions that gain or lose a member, conditions that tighten (row 87).

What a junctor means shows only in what it takes. Both sides are asked about many small values; one that only the
writer takes proves the change, and where all cases were tried and none is found, nothing changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.compare.changes import Change
from crdcompat.compare.equal import identical
from crdcompat.compare.exhaust import all_cases
from crdcompat.compare.local import Alone, defaulted
from crdcompat.compare.site import Effects, Meeting, Seen, Site, Trial, Trials
from crdcompat.compare.variants import every_value, variants
from crdcompat.schema.enums import member_key
from crdcompat.schema.paths import node_at
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "not"})
_REJECTED = (Effect.WRITE_REJECTED,)
EFFECTS = {"junctor.changed": Effects(rollback=_REJECTED, upgrade=_REJECTED)}

_MOST = 4


def changes(site: Site) -> Iterator[Change]:
    if site.in_junctor:
        return
    if identical(_meaning(site.old), _meaning(site.new)):
        return
    differing = [k for k in sorted(KEYWORDS) if not identical(site.old.raw.get(k), site.new.raw.get(k))]
    differing = [keyword for keyword in differing if not (by_branch(site, keyword) and _only_enums(site, keyword))]
    if differing:
        old, new = ({key: side.raw[key] for key in differing if key in side.raw} for side in (site.old, site.new))
        yield site.change("junctor.changed", old or None, new or None, *differing)


def trials(change: Change, direction: Direction, meeting: Meeting) -> Trials:
    """Values that the writer's junctors take and the reader's do not."""
    writer, reader = node_at(meeting.writer.node, change.path), node_at(meeting.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    asked = _beyond(reader, writer)
    if not _meaning(asked):
        return Trials((), complete=True)
    mine, theirs = Alone(writer, meeting.writer.server), Alone(asked, meeting.reader.server)
    exhaustive = every_value(writer) or all_cases(writer, asked)
    candidates = exhaustive if exhaustive is not None else variants(writer, asked)
    # What the reader sees of a stored value is the value with both sides' defaults.
    seen = ((value, defaulted(defaulted(value, writer), reader)) for value in candidates)
    telling = (value for value, stored in seen if not theirs.takes(stored) and mine.takes(value))
    by_enums = identical(without_enums(change.old), without_enums(change.new))
    found = islice((value for value in telling if not (by_enums and _told_by_an_enum(value, asked))), _MOST)
    made = tuple(Trial(value, change.path) for value in found)
    complete = exhaustive is not None and not made and any(mine.takes(value) for value in exhaustive)
    return Trials(made, complete=complete or (by_enums and not made))


def shows(effect: Effect, seen: Seen) -> bool:
    return seen.rejects_below()


def by_branch(site: Site, keyword: str) -> bool:
    """Whether a junctor differs in the enums of its branches alone, which are then compared branch by branch.

    oneOf takes nothing that two branches take: there a member more in one branch can be a value less. Its branches
    are compared one by one only where no value is of two.
    """
    old, new = (side.raw.get(keyword) for side in (site.old, site.new))
    if keyword == "not" or not identical(without_enums(old), without_enums(new)):
        return False
    if keyword == "allOf":
        return True
    # A branch that demands more than its enum says takes fewer values than that lists.
    branches = (*site.old.any_of, *site.new.any_of, *site.old.one_of, *site.new.one_of)
    if any(branch.enum and len(branch.raw) > 1 for branch in branches):
        return False
    return keyword == "anyOf" or (_told_apart(site.old) and _told_apart(site.new))


def _only_enums(site: Site, keyword: str) -> bool:
    """Whether the branches say nothing but enums of the value itself: then what the enums tell is all there is.

    Else the junctor is proved as a whole as well, by values that no enum inside it tells.
    """
    branches = {"allOf": "all_of", "anyOf": "any_of", "oneOf": "one_of"}[keyword]
    return keyword == "allOf" or all(
        branch.enum and len(branch.raw) == 1 for side in (site.old, site.new) for branch in getattr(side, branches)
    )


def _told_by_an_enum(value: Any, reader: Node) -> bool:
    """Whether no branch of the reader lists the value, or that of a member: then the enum inside tells it by name."""
    for branches in (reader.any_of, reader.one_of):
        lists = [_enums(branch) for branch in branches]
        for name in lists[0] if lists else ():
            held = value if name == "" else value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
            listed = all(name in found for found in lists)
            if listed and held is not ABSENT and not any(member_key(held) in found[name] for found in lists):
                return True
    return False


def _told_apart(node: Node) -> bool:
    """Whether one enum keeps all branches of a oneOf apart: of the value itself, or of a member (a discriminator)."""
    lists = [_enums(branch) for branch in node.one_of]
    return any(
        all(name in found for found in lists) and _disjoint([found[name] for found in lists])
        for name in (lists[0] if lists else ())
    )


def _enums(branch: Node) -> dict[str, set[tuple[str, str]]]:
    """The enum of a branch ("") and those of its members, by name."""
    found = {"": branch.enum, **{name: member.enum for name, member in branch.properties.items()}}
    return {name: set(map(member_key, members)) for name, members in found.items() if members}


def _disjoint(sets: list[set[tuple[str, str]]]) -> bool:
    return len(set().union(*sets)) == sum(map(len, sets))


def without_enums(value: Any) -> Any:
    """A junctor with its enums' members taken out; below ``not`` an enum means the opposite and stays."""
    if isinstance(value, list):
        return [without_enums(item) for item in value]
    if isinstance(value, dict):
        return {
            key: item if key == "not" else (None if key == "enum" else without_enums(item))
            for key, item in value.items()
        }
    return value


def _beyond(reader: Node, writer: Node) -> Node:
    """The reader's junctors without those that the writer has too: what the writer takes has passed them."""
    said = _meaning(reader)
    if reader.has_defaults:  # they may change what a junctor sees
        return Node(said)
    kept = {key: value for key, value in said.items() if not identical(value, writer.raw.get(key))}
    if isinstance(kept.get("allOf"), list):
        others = writer.raw.get("allOf")
        known = others if isinstance(others, list) else []
        kept["allOf"] = [branch for branch in kept["allOf"] if not any(identical(branch, each) for each in known)]
        if not kept["allOf"]:
            del kept["allOf"]
    return Node(kept)


def _meaning(node: Node) -> dict[str, Any]:
    """The junctors that say something: int-or-string's own anyOf of its two types does not."""
    said = {key: node.raw[key] for key in KEYWORDS if key in node.raw}
    if node.int_or_string and said.get("anyOf") == [{"type": "integer"}, {"type": "string"}]:
        del said["anyOf"]
    return said
