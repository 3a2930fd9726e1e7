"""Edits that no rule can notice need not be judged; each other edit must be."""

from __future__ import annotations

import pytest
from helpers import Json, obj, root, string

from crdcompat.replay.edits import Edit
from crdcompat.schema.structural import Node

_RULES = "x-kubernetes-validations"
_OWN = {_RULES: [{"rule": "self.size() > 1"}]}
_ABOVE = {_RULES: [{"rule": "self.a != self.b"}]}


@pytest.mark.parametrize(
    ("spec", "unnoticed"),
    [
        (obj(a=string(), b=string()), True),
        (obj(a={**string(), **_OWN}, b=string()), False),
        (obj(a=string(), b={**string(), **_OWN}), True),
        ({**obj(a=string(), b=string()), **_ABOVE}, False),
        ({**obj(a=string(), b=string()), "anyOf": [{"required": ["a"]}]}, False),
    ],
    ids=["no rule", "its own rule", "a rule of another field", "a rule above", "a junctor above"],
)
def test_who_notices_an_edit(spec: Json, unnoticed: bool) -> None:
    edit = Edit({"spec": {"a": "x", "b": "y"}}, ("spec", "a"))
    assert edit.is_unnoticed(Node(root(spec=spec))) is unnoticed
