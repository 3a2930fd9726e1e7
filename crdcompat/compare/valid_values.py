"""Values that a node accepts by itself, its rules and junctors and those below it included.

A search for a valid object adds such values, so that it need not mend them afterwards.
"""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.errors import FieldError
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.apiserver.versions import Server
from crdcompat.compare.local import defaulted
from crdcompat.compare.search import Answer, find
from crdcompat.schema.paths import Object
from crdcompat.schema.sample import sample
from crdcompat.schema.structural import Node, Schema

#: Values that one search judges at most.
_MAX_JUDGED = 40


class ValidValues:
    """Minimal values of nodes for one server, each found once."""

    def __init__(self, server: Server) -> None:
        self._server = server
        # By the identity of the schema, which is kept: equal nodes are made anew for each search.
        self._known: dict[int, tuple[Schema, Any]] = {}

    def __call__(self, node: Node) -> Any:
        """A value that ``node`` accepts, if the search finds one; else a minimal value, ABSENT if there is none."""
        key = id(node.raw)
        if key not in self._known:
            made = sample(node)
            self._known[key] = node.raw, made  # the search for a part may need this value
            if isinstance(made, (dict, list)):
                self._known[key] = node.raw, self._searched(node, made)
        return self._known[key][1]

    def _searched(self, node: Node, made: Any) -> Any:
        holder = Node({"type": "object", "properties": {"v": node.raw}})
        validator, rules = SchemaValidator(holder, self._server), RuleEvaluator(holder, self._server)

        def judge(value: Object) -> Answer:
            stored = defaulted(value, holder)
            errors: list[FieldError] = []
            validator.validate(stored, None, None, errors, [])
            found = errors or rules.evaluate(stored, None, ratchet=False).errors
            return Answer(not found, tuple(found))

        start = {"v": made}
        found = find(start, judge(start), _NOTHING, holder, judge, made=self, limit=_MAX_JUDGED)
        return made if found is None else found["v"]


#: No value has to stay as it is.
_NOTHING = ("",)
