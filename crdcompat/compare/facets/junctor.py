"""anyOf, oneOf, allOf and not: members of unions and other conditions (docs/semantics.md#junctors).

Junctors are compared by the values that they accept. The facet judges many small values on both sides: one that only
the writer accepts proves the change. If all cases were tried and none does, the change has no effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.apiserver.keywords import JUNCTORS
from crdcompat.candidates.local import NodeJudge, defaulted
from crdcompat.candidates.small_values import every_value, variants
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, breaks, explains_below
from crdcompat.compare.junctor_branches import (
    BRANCHES,
    compared_by_branch,
    enums_of,
    is_of_node,
    lists_values,
    without_enums,
)
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.compare.union import either
from crdcompat.compare.valid_values import ValidValues
from crdcompat.schema.equality import identical, schema_text
from crdcompat.schema.listed_values import member_key
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"allOf", "anyOf", "oneOf", "not"})
_REJECTED = (Effect.WRITE_REJECTED,)
EFFECTS = {"junctor.changed": Effects(rollback=_REJECTED, upgrade=_REJECTED)}

_MAX_TRIALS = 4


def changes(site: Site) -> Iterator[Change]:
    sides = [_junctors(side) for side in (site.old, site.new)]
    differing = [
        keyword
        for keyword in sorted(KEYWORDS)
        if not identical(*(side.get(keyword) for side in sides))
        and not (compared_by_branch(site, keyword) and _only_enums(site, keyword))
        and not lists_values(site, keyword)
    ]
    if differing:
        old, new = ({key: side[key] for key in differing if key in side} for side in sides)
        yield site.change("junctor.changed", old or None, new or None, *differing)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Values that the writer accepts and the reader's junctors reject."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    reader_only = _without_shared(reader, writer)
    if not _junctors(reader_only):
        return Trials((), complete=True)
    mine, theirs = NodeJudge(writer, pair.writer.server), NodeJudge(reader_only, pair.reader.server)
    every = every_value(writer)
    candidates = _modelled(reader_only, writer, reader, pair) if every is None else every
    # The reader sees stored values with the defaults of both sides.
    stored_values = ((value, defaulted(defaulted(value, writer), reader)) for value in candidates)
    refused = (value for value, stored in stored_values if not theirs.accepts(stored) and mine.accepts(value))
    by_enums = identical(without_enums(change.old), without_enums(change.new))
    found = islice(
        (value for value in refused if not (by_enums and _is_outside_an_enum(value, reader_only))), _MAX_TRIALS
    )
    made = tuple(Trial(value, change.path) for value in found)
    return Trials(made, complete=not made and (every is not None or by_enums))


def _modelled(junctors: Node, writer: Node, reader: Node, pair: WriterReader) -> Iterator[Any]:
    """Values that counter-models make, then those of what the junctors mention."""
    from crdcompat.compare.equivalence.effective import breaking  # it loads the CEL library

    server = pair.writer.server
    yield from (found["self"] for found in breaking(junctors, writer, (reader, server), ValidValues(server)))
    yield from variants(writer, junctors)


def _only_enums(site: Site, keyword: str) -> bool:
    """Whether the branches have no keyword but enum, so that the changes of the enums are the only changes.

    Otherwise the facet proves the junctor as a whole, too, by values that are in none of its enums.
    """
    return keyword == "allOf" or all(
        branch.enum and len(branch.raw) == 1
        for side in (site.old, site.new)
        for branch in getattr(side, BRANCHES[keyword])
    )


def _is_outside_an_enum(value: Any, reader: Node) -> bool:
    """Whether no branch of the reader lists the value or its member's value, so that an enum change reports it."""
    for branches in (reader.any_of, reader.one_of):
        lists = [enums_of(branch) for branch in branches]
        for name in lists[0] if lists else ():
            held = value if name == "" else value.get(name, ABSENT) if isinstance(value, dict) else ABSENT
            listed = all(name in found for found in lists)
            if listed and held is not ABSENT and not any(member_key(held) in found[name] for found in lists):
                return True
    return False


def _without_shared(reader: Node, writer: Node) -> Node:
    """The reader's junctors without those of the writer, which the writer's values have passed."""
    junctors = _junctors(reader)
    if reader.has_defaults:  # defaults may change the values that junctors see
        return Node(junctors)
    kept = {key: value for key, value in junctors.items() if not identical(value, writer.raw.get(key))}
    if isinstance(kept.get("allOf"), list):
        others = writer.raw.get("allOf")
        known = {schema_text(each) for each in others} if isinstance(others, list) else set()
        kept["allOf"] = [branch for branch in kept["allOf"] if schema_text(branch) not in known]
        if not kept["allOf"]:
            del kept["allOf"]
    return Node(kept)


def _junctors(node: Node) -> dict[str, Any]:
    """The junctors of a node, without branches of allOf that other facets compare as if they stood at the node.

    int-or-string's own anyOf of its two types restricts nothing.
    """
    junctors = {key: node.raw[key] for key in KEYWORDS if key in node.raw}
    if left := [branch.raw for branch in node.all_of if not is_of_node(branch)]:
        junctors["allOf"] = left
    else:
        junctors.pop("allOf", None)
    if node.int_or_string and junctors.get("anyOf") == [{"type": "integer"}, {"type": "string"}]:
        del junctors["anyOf"]
    return junctors


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, breaks(*JUNCTORS), widen=either(KEYWORDS), explains=explains_below)
