"""Limits that the type of a number cannot hold, such as a maximum of 4294967295 beside ``format: int32``.

From 1.36 on a server checks the keywords themselves against the range of the type. If one is outside, the server
refuses every number (docs/semantics.md#limits); older servers compare as if nothing were wrong. The facets of
bounds, multiples and formats leave such a limit to this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.limits import misfits
from crdcompat.apiserver.server_versions import NEWEST_SERVER
from crdcompat.candidates.local import NodeJudge
from crdcompat.candidates.sample import values
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Effects, Facet, breaks, copy_from_new
from crdcompat.compare.limit_facets import changes_range, without_numbers
from crdcompat.compare.site import Site, Trial, Trials, WriterReader
from crdcompat.schema.structural import Node
from crdcompat.vocabulary import Direction, Effect

#: Other facets have these keywords and compare them where both sides hold their limits.
KEYWORDS: frozenset[str] = frozenset()
EFFECTS = {"number-range.changed": Effects(rollback=(Effect.WRITE_REJECTED,), upgrade=(Effect.WRITE_REJECTED,))}

_COMPARED = ("type", "format", "minimum", "maximum", "multipleOf")
_MAX_TRIALS = 3


def changes(site: Site) -> Iterator[Change]:
    if changes_range(site.old, site.new):
        found = misfits(site.old, NEWEST_SERVER) or misfits(site.new, NEWEST_SERVER)
        yield site.change("number-range.changed", _given(site.old), _given(site.new), *found)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Plain numbers of the writer; none if the reader's server accepts numbers."""
    writer, reader = pair.nodes(change.path)
    if writer is None or reader is None:
        return Trials(())
    if without_numbers(writer, pair.writer) or not without_numbers(reader, pair.reader):
        return Trials((), complete=True)
    accepts = NodeJudge(writer, pair.writer.server).accepts
    numbers = (Trial(value, change.path) for value in values(writer) if value is not None and accepts(value))
    return Trials(tuple(islice(numbers, _MAX_TRIALS)))


def _given(node: Node) -> dict[str, Any]:
    return {key: node.raw[key] for key in _COMPARED if key in node.raw}


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, breaks(Keyword.RANGE), widen=copy_from_new(_COMPARED[1:]))
