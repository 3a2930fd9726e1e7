"""What one node alone says about a value, apart from the object around it: the quick look before a proof."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.decode import apply_defaults
from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import FieldError
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.schema.structural import Node


class Alone:
    """One node, judged by itself: its keywords and, if it has any below, its rules."""

    def __init__(self, node: Node, server: Server) -> None:
        self._node = node
        self._validator = SchemaValidator(node, server)
        holder = Node({"type": "object", "properties": {"v": node.raw}})
        self._rules = RuleEvaluator(holder, server)

    def breaks_rules(self, value: Any) -> bool:
        """Whether a rule is against ``value`` and nothing else is: it is of the shape that rules are asked about."""
        errors: list[FieldError] = []
        self._validator.validate(value, "v", None, errors, [])
        return not errors and bool(self._rules.evaluate({"v": value}, None, ratchet=False).errors)

    def takes(self, value: Any) -> bool:
        """Whether nothing here is against ``value``, with its defaults set; what cannot be judged is not."""
        stored = defaulted(value, self._node)
        errors: list[FieldError] = []
        self._validator.validate(stored, "v", None, errors, [])
        return not errors and not self._rules.evaluate({"v": stored}, None, ratchet=False).errors


def defaulted(value: Any, node: Node) -> Any:
    """A value as the server stores it under ``node``: with the defaults below it set."""
    if not isinstance(value, (dict, list)) or not node.has_defaults:
        return value
    made = deepcopy(value)
    apply_defaults(made, node, "", [])
    return made
