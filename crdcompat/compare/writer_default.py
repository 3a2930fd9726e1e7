"""Find rejected values that the writer sets by default, so that every object without the field has one."""

from __future__ import annotations

from crdcompat.candidates.sample import concrete
from crdcompat.compare.changes import Change
from crdcompat.compare.site import WriterReader
from crdcompat.compare.witness import Witness, proves
from crdcompat.schema.paths import ITEM, node_at, with_value
from crdcompat.schema.structural import ABSENT
from crdcompat.vocabulary import Direction, Effect


def is_writer_default(
    change: Change, direction: Direction, effect: Effect, witness: Witness, pair: WriterReader
) -> bool:
    """Whether the witness is rejected without the value, too, because the writer sets it by default.

    Only for rollbacks: on upgrade, NEW's own defaults replace the values that OLD sets and NEW rejects. Where the
    effect is assumed, a default is enough.
    """
    if (direction, effect) != (Direction.ROLLBACK, Effect.WRITE_REJECTED):
        return False
    if witness.object is None and not witness.assumed:
        return False
    path = witness.at or change.path
    for length in range(len(path), 0, -1):
        node = node_at(pair.writer.node, path[:length])
        if node is None or node.default is ABSENT or path[length - 1] is ITEM:
            continue  # a list item cannot be left out
        if witness.object is None:
            return True
        left_out = Witness(with_value(witness.object, concrete(path[:length]), ABSENT), at=witness.at)
        if proves(left_out, change, effect, [pair]):
            return True
    return False
