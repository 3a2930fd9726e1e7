"""Number of items in a list (rows 18 to 21 of reference section 13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.keywords import Keyword
from crdcompat.candidates.sample import list_of_size
from crdcompat.candidates.unique_items import with_stated_type
from crdcompat.candidates.valid_values import ValidValues
from crdcompat.candidates.variants import distinct
from crdcompat.compare.changes import Change
from crdcompat.compare.facet import Facet, copy_from_new
from crdcompat.compare.intersection import intersection
from crdcompat.compare.limits import limit_changes, limit_effects, limit_trials, may_be, sizes_outside
from crdcompat.compare.site import ReaderVerdict, Site, Trials, WriterReader
from crdcompat.schema.paths import node_at
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

_LIMITS = ("minItems", "maxItems")
KEYWORDS = frozenset(_LIMITS)
EFFECTS = limit_effects("item-count")


def changes(site: Site) -> Iterator[Change]:
    return limit_changes(site, "item-count", _LIMITS)


def trials(change: Change, direction: Direction, pair: WriterReader) -> Trials:
    """Lists of sizes that the writer allows and the reader rejects."""
    writer, reader = node_at(pair.writer.node, change.path), node_at(pair.reader.node, change.path)
    if writer is None or reader is None:
        return Trials(())
    if not may_be(writer, "array"):
        return Trials((), complete=True)
    made_of = intersection(writer, reader, pair.writer.server), writer
    made = ValidValues(pair.writer.server)
    sizes = sizes_outside(reader, writer, _LIMITS)
    return limit_trials(change, (_list_of(node, size, made) for size in sizes for node in made_of))


def _list_of(node: Node, size: int, made: ValidValues) -> Any:
    """A list of ``size`` items; where they may be equal, only of items that their own rules and the list's accept."""
    node = with_stated_type(node)
    plain = list_of_size(node, size)
    if not plain or plain is ABSENT or node.items is None or node.list_type != "atomic":
        return plain
    item = made(node.items)
    if isinstance(item, dict):
        return [item] * size
    alone = Node({key: value for key, value in node.raw.items() if key not in _LIMITS})
    taken = [each for each in distinct(plain) if made.accepts(alone, [each])] if node.rules else []
    return (taken * size)[:size] or plain


def shows(effect: Effect, observed: ReaderVerdict) -> bool:
    return observed.breaks(*map(Keyword, _LIMITS))


FACET = Facet(KEYWORDS, EFFECTS, changes, trials, shows, widen=copy_from_new(KEYWORDS))
