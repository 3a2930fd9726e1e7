"""Rules about the keys and values of a map, or about two items of a list, have a witness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import array, both, crd, diff, obj, root, string

_MAP = {"type": "object", "additionalProperties": string(maxLength=63), "maxProperties": 16}


@pytest.mark.parametrize(
    ("node", "rule", "shown"),
    [
        (_MAP, "self.all(key, key.size() != 0)", {""}),
        (_MAP, "self.all(key, !key.contains('*'))", {"*"}),
        (_MAP, "self.all(key, size(key) < 63)", {"a" * 63}),
        (_MAP, "self.all(key, key.matches('^[a-z]([a-z0-9]*[a-z])?[0-9]?$'))", {"", "A", "a.b", "a-b"}),
        (_MAP, "self.all(key, self[key] != 'forbidden')", {"forbidden"}),
        (array(string(), maxItems=8), "!('*' in self && self.size() > 1)", {"*"}),
    ],
)
def test_a_rule_about_parts(tmp_path: Path, node: Any, rule: str, shown: set[str]) -> None:
    ruled = {**node, "x-kubernetes-validations": [{"rule": rule}]}
    report = diff(*both(tmp_path, crd(root(spec=obj(v=node))), crd(root(spec=obj(v=ruled)))))
    (finding,) = report["findings"]
    assert (finding["direction"], finding["rule"], finding["path"]) == ("upgrade", "cel-rule-added", "spec.v")
    value = finding["witness"]["object"]["spec"]["v"]
    parts = {*value, *value.values()} if isinstance(value, dict) else set(value)
    assert parts & shown, value
