"""What one node alone says about a value, apart from the object around it: the quick look before a proof."""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import FieldError
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.schema.structural import Node


class Alone:
    """One node, judged by itself: its keywords and, if it has any below, its rules."""

    def __init__(self, node: Node, server: Server) -> None:
        self._validator = SchemaValidator(node, server)
        holder = Node({"type": "object", "properties": {"v": node.raw}})
        self._rules = RuleEvaluator(holder, server)

    def takes(self, value: Any) -> bool:
        """Whether nothing here is against ``value``; what cannot be judged is not."""
        errors: list[FieldError] = []
        self._validator.validate(value, "v", None, errors, [])
        return not errors and not self._rules.evaluate({"v": value}, None, ratchet=False).errors
