"""Whether a value equals a member of an enum: Go converts numbers, and integers to strings (docs/semantics.md)."""

from __future__ import annotations

from typing import Any

import pytest

from crdcompat.apiserver.enums import is_member


@pytest.mark.parametrize(
    ("value", "member", "expected"),
    [
        ("a", "a", True),
        (1, 1, True),
        (1, 1.0, True),
        (1.0, 1, True),
        (1.5, 1, True),  # the conversion to int64 takes the fraction away
        (1, 1.5, False),
        (1, True, False),
        (True, 1, False),
        (True, True, True),
        (False, 0, False),
        (None, None, False),
        (2**70, 1.5, False),
        # An integer is the character of that number.
        (97, "a", True),
        (98, "a", False),
        (0x10FFFF, "\U0010ffff", True),
        (0x110000, "\ufffd", True),
        (-1, "\ufffd", True),
        (97.0, "a", False),
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"a": True}, False),
    ],
)
def test_membership(value: Any, member: Any, expected: bool) -> None:
    assert is_member(value, member) is expected
