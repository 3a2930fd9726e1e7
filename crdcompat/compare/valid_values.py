"""Values that a node accepts by itself, its rules and junctors and those below it included.

A search for a valid object adds such values, so that it need not mend them afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.candidates.local import defaulted
from crdcompat.candidates.sample import sample, values
from crdcompat.candidates.search import Answer, Judge, find
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import Node, Schema

#: Values that one search judges at most.
_MAX_JUDGED = 40


class ValidValues:
    """Minimal values of nodes for one server, each found once."""

    def __init__(self, server: Server) -> None:
        self.server = server
        # By the identity of the schema, which is kept: equal nodes are made anew for each search.
        self._known: dict[int, tuple[Schema, Any]] = {}
        self._judges: dict[int, tuple[Node, Judge]] = {}

    def __call__(self, node: Node) -> Any:
        """A value that ``node`` accepts, if the search finds one; else a minimal value, ABSENT if there is none."""
        key = id(node.raw)
        if key not in self._known:
            made = sample(node)
            self._known[key] = node.raw, made  # the search for a part may need this value
            if isinstance(made, (dict, list)):
                found = self._searched(node, made)
                self._known[key] = node.raw, made if found is None else found["v"]
            elif isinstance(made, str) and node.rules:
                texts = chain(values(node), (found["v"] for found in self._modelled(node)))
                self._known[key] = node.raw, next((text for text in texts if self.accepts(node, text)), made)
        return self._known[key][1]

    def accepts(self, node: Node, value: Any) -> bool:
        """Whether ``node`` accepts a value."""
        return self._judge(node)[1]({"v": value}).found

    def _judge(self, node: Node) -> tuple[Node, Judge]:
        """An object that has the node as its member ``v``, and how a server judges it."""
        key = id(node.raw)
        if key not in self._judges:
            holder = Node({"type": "object", "properties": {"v": node.raw}})
            validator, rules = SchemaValidator(holder, self.server), RuleEvaluator(holder, self.server)

            def judge(value: Object) -> Answer:
                stored = defaulted(value, holder)
                errors: list[FieldError] = []
                validator.validate(stored, None, None, errors, [])
                found = errors or rules.evaluate(stored, None, ratchet=False).errors
                return Answer(not found, tuple(found))

            self._judges[key] = holder, judge
        return self._judges[key]

    def _searched(self, node: Node, made: Any) -> Object | None:
        holder, judge = self._judge(node)
        start = {"v": made}
        found = find(start, judge(start), _NOTHING, holder, judge, made=self, limit=_MAX_JUDGED)
        return found or next((value for value in self._modelled(node) if judge(value).found), None)

    def _modelled(self, node: Node) -> Iterator[Object]:
        """Values that satisfy all that the node states, as far as that is understood."""
        from crdcompat.compare.equivalence.satisfying import satisfying  # it loads the CEL library

        for value in satisfying(node, self):
            yield {"v": value}


#: No value has to stay as it is.
_NOTHING = ("",)
