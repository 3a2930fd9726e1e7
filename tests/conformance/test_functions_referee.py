"""Each function of CEL, asked of real API servers: which minors have it, and what it answers.

The rules are those of ``tests/apiserver/cel/test_library.py``, which has one for each function. A server that lacks the
function refuses the CRD; one that has it answers a write by what the rule gives.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
from differences import Bench


def _rules() -> dict[str, list[str]]:
    path = Path(__file__).parents[1] / "apiserver/cel/test_library.py"
    spec = importlib.util.spec_from_file_location("library_rules", path)
    assert spec is not None and spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {**module.HOLDS, "not evaluated": module.UNKNOWN}


@pytest.mark.parametrize("name", _rules())
def test_functions_of_a_library(bench: Bench, name: str) -> None:
    wrong = {}
    for rule in _rules()[name]:
        node = {"type": "object", "x-kubernetes-validations": [{"rule": rule, "message": "no"}]}
        lines = bench.differences({"node": node, "op": "create", "new": {"spec": {"a": {}}}})
        if lines:
            wrong[rule] = lines
    assert wrong == {}
