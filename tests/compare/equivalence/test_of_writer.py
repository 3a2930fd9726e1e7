"""The reader's node as its rules see what the writer stored."""

from __future__ import annotations

import pytest

from crdcompat.compare.equivalence.of_writer import as_stored, is_marked
from crdcompat.schema.structural import Node

_TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("writer", "expected"),
    [(_TEXT, True), ({**_TEXT, "nullable": True}, False), ({**_TEXT, "default": "a"}, False)],
    ids=["absent or a text", "perhaps null", "never absent"],
)
def test_a_default_that_the_reader_adds(writer: dict[str, object], expected: bool) -> None:
    sides = (
        Node({"type": "object", "properties": {"k": member}})
        for member in ({**_TEXT, "nullable": True, "default": "d"}, writer)
    )
    assert is_marked(as_stored(*sides).properties["k"]) == expected
