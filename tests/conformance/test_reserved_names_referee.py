"""Members named like reserved words of CEL, asked of real API servers: rules read them with an escape and without one.

A server before 1.32 refuses a CRD whose rule has no escape.
"""

from __future__ import annotations

import pytest
from differences import Bench
from helpers import Json

_RULES = (
    "!has(self.namespace) || self.namespace == 'x'",
    "!has(self.__namespace__) || self.__namespace__ == 'x'",
    "!has(self.namespace) || self.__namespace__ == self.namespace",
    "!has(self.m) || !has(self.m.namespace) || self.m.namespace == 'x'",
    "self.?namespace.orValue('x') == 'x'",
    "!has(self.for) || self.for == 'x'",
    "!has(self.l) || self.l.all(i, !has(i.import) || i.import == 'x')",
)
_VALUES: tuple[Json, ...] = (
    {},
    *({"namespace": value} for value in "xy"),
    *({"m": {"namespace": value}} for value in "xy"),
    *({"for": value} for value in "xy"),
    *({"l": [{"import": value}]} for value in "xy"),
    {"m": {"for": "x", "namespace": "x"}},
)


@pytest.mark.parametrize("rule", _RULES)
def test_members_named_like_reserved_words(bench: Bench, rule: str) -> None:
    text = {"type": "string", "maxLength": 5}
    words = {"namespace": text, "for": text}
    listed = {"type": "array", "maxItems": 3, "items": {"type": "object", "properties": {"import": text}}}
    node = {
        "type": "object",
        "properties": {**words, "m": {"type": "object", "properties": words}, "l": listed},
        "x-kubernetes-validations": [{"rule": rule, "message": "no"}],
    }
    asked = ({"node": node, "op": "create", "new": {"spec": {"a": value}}} for value in _VALUES)
    assert [line for case in asked for line in bench.differences(case)] == []
