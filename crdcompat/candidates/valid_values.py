"""Values that a node accepts by itself, its rules and junctors and those below it included.

A search for a valid object adds such values, so that it need not mend them afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.candidates.local import defaulted
from crdcompat.candidates.sample import around, sample, values
from crdcompat.candidates.search import Answer, find
from crdcompat.schema.paths import ITEM, Object, Pointer, value_or_none, with_value
from crdcompat.schema.structural import ABSENT, Node, Schema

#: Values that one search judges at most.
_MAX_JUDGED = 40


class ValidValues:
    """Minimal values of nodes for one server, each found once."""

    def __init__(self, server: Server) -> None:
        self.server = server
        # By the identity of the schema, which is kept: equal nodes are made anew for each search.
        self._known: dict[int, tuple[Schema, Any]] = {}
        self._judges: dict[int, tuple[Node, _Judge]] = {}

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
                texts = (value for value in values(node) if self.accepts(node, value))
                self._known[key] = node.raw, next(texts, made)
        return self._known[key][1]

    def accepts(self, node: Node, value: Any) -> bool:
        """Whether ``node`` accepts a value."""
        return self._judge(node)[1]({"v": value}).found

    def holding(self, node: Node, members: Mapping[Pointer, Any]) -> Any:
        """A value that ``node`` accepts, with these values below it; ABSENT if the search finds none."""
        made: Any = self(node)
        for member, value in members.items():
            try:
                made = with_value(made, member, value)
            except LookupError:  # a member on the way is missing
                part = around(node, tuple(ITEM if isinstance(step, int) else step for step in member), value)
                both = isinstance(made, dict) and isinstance(part, dict)
                made = {**made, member[0]: part[member[0]]} if both else part
        if not isinstance(made, (dict, list)):
            return ABSENT
        first, *_ = members
        found = self._searched(node, made, first)
        kept = found is not None and all(value_or_none(found["v"], at) == value for at, value in members.items())
        return found["v"] if found is not None and kept else ABSENT

    def _judge(self, node: Node) -> tuple[Node, _Judge]:
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

    def _searched(self, node: Node, made: Any, keep: Pointer | None = None) -> Object | None:
        holder, judge = self._judge(node)
        start, kept = {"v": made}, _NOTHING if keep is None else ("v", *keep)
        return find(start, judge(start), kept, holder, judge, made=self, limit=_MAX_JUDGED)


_Judge = Callable[[Object], Answer]
#: No value has to stay as it is.
_NOTHING = ("",)
