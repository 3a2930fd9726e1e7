"""Go's words for JSON values."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver.gotext import json_kind


@pytest.mark.parametrize(
    ("value", "number", "kind"),
    [
        (5, "", "number"),
        (5, "5", "number 5"),
        (0.5, "0.5", "number 0.5"),
        (True, "1", "bool"),
        ("5", "5", "string"),
        ([5], "5", "array"),
        ({}, "5", "object"),
    ],
)
def test_only_a_number_is_named_with_its_text(value: Any, number: str, kind: str) -> None:
    assert json_kind(value, number) == kind
