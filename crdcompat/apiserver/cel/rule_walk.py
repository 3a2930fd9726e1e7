"""The walk over an object: evaluates the rules of each node in Kubernetes' order, with the old values.

Source: apiextensions-apiserver, pkg/apiserver/schema/cel/validation.go (Validator);
docs/semantics.md#where-rules-run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from crdcompat.apiserver.cel.evaluate import Findings, NodeRules
from crdcompat.apiserver.cel.views import View
from crdcompat.schema.paths import Key
from crdcompat.schema.structural import Node

if TYPE_CHECKING:
    from crdcompat.apiserver.cel.ratchet import Ratchet
    from crdcompat.apiserver.correlation import Pair
    from crdcompat.apiserver.server_versions import Server
    from crdcompat.schema.paths import Trail


class Step(Struct):
    """A schema node with rules at it or below it."""

    rules: NodeRules | None = None
    all_of: list[Step] = field(default_factory=list)
    properties: dict[str, Step] = field(default_factory=dict)
    additional: Step | None = None
    items: Step | None = None


def has_rules(schema: Any) -> bool:
    """Whether any rule is outside allOf. Without one, the API server evaluates no rules at all."""
    if not isinstance(schema, dict):
        return False
    if schema.get("x-kubernetes-validations"):
        return True
    properties = schema.get("properties")
    return (
        (isinstance(properties, dict) and any(map(has_rules, properties.values())))
        or has_rules(schema.get("items"))
        or has_rules(schema.get("additionalProperties"))
    )


def _mark(schema: Any, marked: set[int]) -> bool:
    """Add the ids of the subschemas with a rule at them or below to ``marked``; return whether there is one."""
    if isinstance(schema, list):
        found = [_mark(item, marked) for item in schema]
        return any(found)
    if not isinstance(schema, dict):
        return False
    below = [_mark(item, marked) for key, item in schema.items() if key != "x-kubernetes-validations"]
    if any(below) or schema.get("x-kubernetes-validations"):
        marked.add(id(schema))
        return True
    return False


def steps(root: Node, server: Server, *, resource: bool = True) -> Step | None:
    """The steps of a schema; None if it has no rules that the server evaluates. ``resource``: of a whole object."""
    marked: set[int] = set()
    _mark(root.raw, marked)
    return _step(root, View(root, resource=resource), server, marked)


def _step(rules: Node, view: View, server: Server, marked: set[int]) -> Step | None:
    """The step of the node ``view`` for the rules of its schema, or of one of its allOf branches."""
    if view.kind == "unseen" or id(rules.raw) not in marked:
        return None
    found = Step(rules=NodeRules(rules.rules, view, server) if rules.rules else None)
    spine = view.node
    if rules.items is not None and spine.items is not None and view.element is not None:
        found.items = _step(rules.items, view.element, server, marked)
    if isinstance(rules.additional, Node) and isinstance(spine.additional, Node) and view.element is not None:
        found.additional = _step(rules.additional, view.element, server, marked)
    for name, sub in rules.properties.items():
        if name in spine.properties and id(sub.raw) in marked:
            child = _step(sub, View(spine.properties[name]), server, marked)
            if child is not None:
                found.properties[name] = child
    if server.does("cel_in_all_of"):
        found.all_of = [step for branch in rules.all_of if (step := _step(branch, view, server, marked)) is not None]
    empty = found.rules is None and not found.all_of and not found.properties
    return None if empty and found.additional is None and found.items is None else found


def walk(step: Step, value: Any, pair: Pair | None, ratchet: Ratchet, path: Trail, found: Findings) -> None:
    """Evaluate the rules of ``step`` and below on ``value`` at ``path``; add the results to ``found``."""
    if value is None:
        return
    if step.rules is not None:
        step.rules.evaluate(value, pair, path, ratchet=ratchet, found=found)
    for branch in step.all_of:
        walk(branch, value, pair, ratchet.in_all_of(), path, found)
    if type(value) is dict:
        if step.additional is not None:
            for key, item in value.items():
                child = pair.key(key) if pair is not None else None
                walk(step.additional, item, child, ratchet.below(child, key), (path, Key(key)), found)
        for name, below in step.properties.items():
            if name in value:
                child = pair.key(name) if pair is not None else None
                walk(below, value[name], child, ratchet.below(child, name), (path, name), found)
    elif type(value) is list and step.items is not None:
        for index, item in enumerate(value):
            child = pair.item(index) if pair is not None else None
            walk(step.items, item, child, ratchet.below(child), (path, index), found)
