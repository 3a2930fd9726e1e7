"""anyOf, oneOf, allOf and not: unions that gain or lose a member, conditions that tighten (row 87).

What a junctor means shows only in what it takes. Both sides are asked about many small values; one that only the
writer takes proves the change, and where all cases were tried and none is found, nothing changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.compare.branches import BRANCHES, compared_by_branch, enums_of, without_enums
from crdcompat.compare.changes import Change, identical
from crdcompat.compare.exhaust import all_cases
from crdcompat.compare.facet import Effects, Facet, drop_keywords, explains_below
from crdcompat.compare.local import NodeJudge, defaulted
from crdcompat.compare.site import ReaderVerdict, Site, Trial, Trials, WriterReader
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
    if identical(_meaning(site.old), _meaning(site.new)):
        return
    differing = [k for k in sorted(KEYWORDS) if not identical(site.old.raw.get(k), site.new.raw.get(k))]
    differing = [
        keyword for keyword in differing if not (compared_by_branch(site, keyword) and _only_enums(site, keyword))
    ]
    if differing:
        old, new = ({key: side.raw[key] for key in differing if key in side.raw} for side in (site.old, site.new))
        yield site.change("junctor.changed", old or None, new or None, *differing)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values that the writer's junctors take and the reader's do not."""
    writer, reader = node_at(pair.writer.node, change.path), node_at(pair.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    asked = _beyond(reader, writer)
    if not _meaning(asked):
        return Trials((), complete=True)
    mine, theirs = NodeJudge(writer, pair.writer.server), NodeJudge(asked, pair.reader.server)
    exhaustive = every_value(writer) or all_cases(writer, asked)
    candidates = exhaustive if exhaustive is not None else variants(writer, asked)
    # What the reader sees of a stored value is the value with both sides' defaults.
    seen = ((value, defaulted(defaulted(value, writer), reader)) for value in candidates)
    refused = (value for value, stored in seen if not theirs.accepts(stored) and mine.accepts(value))
    by_enums = identical(without_enums(change.old), without_enums(change.new))
    found = islice((value for value in refused if not (by_enums and _is_outside_an_enum(value, asked))), _MOST)
    made = tuple(Trial(value, change.path) for value in found)
    complete = exhaustive is not None and not made and any(mine.accepts(value) for value in exhaustive)
    return Trials(made, complete=complete or (by_enums and not made))


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.rejects_below()


def _only_enums(site: Site, keyword: str) -> bool:
    """Whether the branches say nothing but enums of the value itself: then the changes of the enums are all there is.

    Else the junctor is proved as a whole as well, by values that no enum inside it names.
    """
    return keyword == "allOf" or all(
        branch.enum and len(branch.raw) == 1
        for side in (site.old, site.new)
        for branch in getattr(side, BRANCHES[keyword])
    )


def _is_outside_an_enum(value: Any, reader: Node) -> bool:
    """Whether no branch of the reader lists the value, or that of a member: then the change of that enum names it."""
    for branches in (reader.any_of, reader.one_of):
        lists = [enums_of(branch) for branch in branches]
        for name in lists[0] if lists else ():
            held = value if name == "" else value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
            listed = all(name in found for found in lists)
            if listed and held is not ABSENT and not any(member_key(held) in found[name] for found in lists):
                return True
    return False


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


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=drop_keywords(KEYWORDS), explains=explains_below)
