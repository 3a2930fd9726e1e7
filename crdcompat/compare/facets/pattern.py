"""Patterns, compared as languages, with a string that shows the difference (docs/semantics.md#limits)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import NEWEST_SERVER
from crdcompat.candidates import languages
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.strings import string_limits
from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.facet import Effects, Facet, Widening, breaks
from crdcompat.compare.limit_facets import may_be
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.compare.union import either, matching
from crdcompat.schema.listed_values import enum_members
from crdcompat.schema.paths import node_at, schema_pointer
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect

KEYWORDS = frozenset({"pattern"})
_REJECTED = (Effect.WRITE_REJECTED,)
EFFECTS = {
    "pattern.widened": Effects(rollback=_REJECTED),
    "pattern.narrowed": Effects(upgrade=_REJECTED),
    "pattern.changed": Effects(rollback=_REJECTED, upgrade=_REJECTED),
}


def changes(site: Site) -> Iterator[Change | Undecided]:
    old, new = site.old, site.new
    if string_limits(old)[2] == string_limits(new)[2]:
        return
    if not (may_be(old, "string") and may_be(new, "string")):
        return  # one side takes no string at all, and the facet ``type`` says so
    closed = [enum_members(side) is not None for side in (old, new)]
    if any(closed) and not (languages.is_string(old) and languages.is_string(new)):
        yield site.undecided("pattern", "a pattern beside an enum and a type that is not string alone")
        return
    if all(closed):
        return  # the facet ``enum`` compares the members that the patterns allow
    # The facet ``enum`` reports that one side lists its values; the pattern only matters in the other direction.
    unasked: tuple[str | None, str] = (None, "")
    only_new, why_new = unasked if closed[0] else languages.only_in_pattern(new, old)
    only_old, why_old = unasked if closed[1] else languages.only_in_pattern(old, new)
    if reasons := dict.fromkeys(why for why in (why_new, why_old) if why):
        yield site.undecided("pattern", "; ".join(reasons))
    added, removed = _difference(new, old, only_new), _difference(old, new, only_old)
    if not added and not removed:
        return
    kind = "pattern.changed" if added and removed else "pattern.widened" if added else "pattern.narrowed"
    yield site.change(kind, _shown(old), _shown(new), "pattern", added=added, removed=removed)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Strings of the writer's pattern that are not of the reader's."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    if not may_be(writer, "string"):
        return Trials((), complete=True)
    texts, complete = languages.strings_off_pattern(writer, reader, NodeJudge(writer, pair.writer.server).accepts)
    named = change.added if direction == Direction.ROLLBACK else change.removed
    first = [text for text in named if isinstance(text, str)]
    return Trials(tuple(Trial(text, change.path) for text in dict.fromkeys((*first, *texts))), complete=complete)


def widen(change: Change, values: tuple[Any, ...], old: Node, new: Node) -> Iterator[Widening]:
    """NEW's pattern if it accepts all of OLD's strings; else one for the strings of both."""
    a, b = node_at(old, change.path), node_at(new, change.path)
    if a is None or b is None:
        return
    before, after = a.raw.get("pattern"), b.raw.get("pattern")
    if before is not None and after is not None and before != after:
        both = f"({before})|({after})" if change.added and change.removed else after
        yield Widening(schema_pointer(change.path), "pattern", both)
    else:
        yield from either(KEYWORDS, matching)(change, values, old, new)


def _difference(mine: Node, theirs: Node, shortest: str | None) -> tuple[Any, ...]:
    """The strings that only ``mine`` accepts: all if its pattern is finite, else an example."""
    if shortest is None:
        return ()
    members = languages.finite_members(mine)
    if members is None:
        return (_example(mine, theirs, shortest),)
    others = languages.language(theirs).judge()
    return tuple(member for member in members if not others(member))


def _example(mine: Node, theirs: Node, shortest: str) -> str:
    """The ``shortest`` string that the patterns tell apart, or one that formats and rules of ``mine`` accept, too."""
    accepts = NodeJudge(mine, NEWEST_SERVER).accepts
    if accepts(shortest):
        return shortest
    return next(iter(languages.strings_off_pattern(mine, theirs, accepts)[0]), shortest)


def _shown(node: Node) -> Any:
    patterns = string_limits(node)[2]
    return None if not patterns else patterns[0] if len(patterns) == 1 else list(patterns)


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, breaks(Keyword.PATTERN), widen=widen)
