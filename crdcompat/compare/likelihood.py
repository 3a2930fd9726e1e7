"""How likely a rejected state is: each object has it by default, or no controller writes it.

A controller writes its status as a whole. "At least one member" over a status is violated after a rollback only if the
new member was the single one in it: the members that both releases know would have to be absent, all of them.

A status that preserves unknown fields may hold any value. Where the next release declares such a field by its types
alone, it describes what its controllers have written all along.
"""

from __future__ import annotations

from itertools import islice

from crdcompat.candidates.sample import concrete, sample
from crdcompat.compare.changes import Change
from crdcompat.compare.site import WriterReader
from crdcompat.compare.trial_book import TrialBook
from crdcompat.compare.witness import Witness, proves
from crdcompat.schema.paths import ITEM, Object, SchemaPath, node_at, value_at, with_value
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect, Owner

#: Members of a status that controllers always write, by Kubernetes' API conventions.
_ROUTINE = ("conditions", "observedGeneration")
#: Members that are tried one by one.
_MAX_TRIED = 4
#: Keywords that describe a value by its type alone.
_OF_TYPES = frozenset(
    {
        "type", "properties", "items", "additionalProperties", "nullable", "format", "default", "description", "title",
        "example", "externalDocs", "x-kubernetes-int-or-string", "x-kubernetes-preserve-unknown-fields",
    }
)  # fmt: skip


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
        if _is_only_member(pair.writer.node, path[:length]):
            continue
        if witness.object is None:
            return True
        left_out = Witness(with_value(witness.object, concrete(path[:length]), ABSENT), at=witness.at)
        if proves(left_out, change, effect, [pair]):
            return True
    return False


def _is_only_member(root: Node, path: SchemaPath) -> bool:
    """Whether nothing but a member, below ``spec`` and the like, can be in the optional object around it.

    The member has its default only where somebody writes that object empty (``secretRef: {}``).
    """
    holder, name = path[:-1], path[-1]
    around, node = node_at(root, holder[:-1]), node_at(root, holder)
    if around is None or node is None or len(holder) < 2 or holder[-1] not in around.properties:
        return False
    is_left_out = holder[-1] not in around.required and node.default is ABSENT
    return is_left_out and node.properties.keys() == {name} and not (node.additional or node.preserve)


def is_unlikely(change: Change, effect: Effect, witness: Witness, pair: WriterReader, book: TrialBook) -> bool:
    """Whether the witness shows a state that no controller plausibly writes, such as a status of new members alone."""
    if change.owner != Owner.STATUS or witness.object is None:
        return False
    if change.kind == "free-field.declared":
        declared = node_at(pair.reader.node, change.path)
        return declared is not None and _has_types_alone(declared)
    return change.kind == "shared-constraint.broken" and _lacks_routine(change, effect, witness, pair, book)


def _has_types_alone(node: Node) -> bool:
    """Whether a schema constrains nothing but types."""
    constraints = node.raw.keys() - _OF_TYPES - ({"anyOf"} if node.int_or_string else set())
    below = (*node.properties.values(), node.items, node.additional)
    return not constraints and all(_has_types_alone(sub) for sub in below if isinstance(sub, Node))


def _lacks_routine(change: Change, effect: Effect, witness: Witness, pair: WriterReader, book: TrialBook) -> bool:
    """Whether each member that controllers write beside the witness's own ones ends its rejection.

    At the root of a status, controllers write any of the members that both sides have; below it, those that the API
    conventions name.
    """
    if witness.object is None:
        return False
    at = concrete(change.path)
    known = _both_have(change, pair, book.shared(pair))
    names = [name for name in _ROUTINE if name in known] + [name for name in known if name not in _ROUTINE]
    usual = names if len(at) == 1 else [name for name in names if name in _ROUTINE]
    held: Object = value_at(witness.object, at)
    if any(name in held for name in usual):
        return False
    filled = [with_value(witness.object, (*at, name), known[name]) for name in islice(usual, _MAX_TRIED)]
    return bool(filled) and not any(proves(Witness(obj), change, effect, [pair]) for obj in filled)


def _both_have(change: Change, pair: WriterReader, shared: Node) -> Object:
    """The members of the node that both sides declare, each with a value that both accept."""
    writer, reader = pair.nodes(change.path)
    both = node_at(shared, change.path)
    if writer is None or reader is None or both is None:
        return {}
    names = (name for name in writer.properties if name in reader.properties)
    made = {name: sample(both.properties[name]) for name in names if name in both.properties}
    return {name: value for name, value in made.items() if value is not ABSENT}
