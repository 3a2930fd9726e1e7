"""Entries as text: indented, without spaces at the end of a line."""

from __future__ import annotations

import pytest
import yaml

from crdcompat.findings.waiver_text import with_entries


def test_an_empty_line_of_a_reason_is_not_indented() -> None:
    """Many repositories refuse spaces at the end of a line."""
    entry = {"rule": "enum-value-added", "reason": "first paragraph\n\nsecond paragraph"}
    written = with_entries(b"base: main\n", "waivers", [entry]).decode()
    assert yaml.safe_load(written) == {"base": "main", "waivers": [entry]}
    assert [line for line in written.splitlines() if line != line.rstrip()] == []
    assert "" in written.splitlines()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("waivers: [{a: 1}]\n", "waivers: [{a: 1}, {b: 2}]\n"),
        ("waivers: [\n  {a: 1}\n]\n", "waivers: [\n  {a: 1},\n  {b: 2}\n]\n"),
        ("waivers: [\r\n  {a: 1}\r\n]\r\n", "waivers: [\r\n  {a: 1},\r\n  {b: 2}\r\n]\r\n"),
        ("waivers:\n- a: 1\n", "waivers:\n- a: 1\n- b: 2\n"),
        # Comments above the next key belong to it.
        ("waivers:\n- a: 1\n\n# one\n# two\nb: 1\n", "waivers:\n- a: 1\n- b: 2\n\n# one\n# two\nb: 1\n"),
        ("waivers:\n    - a: 1\n", "waivers:\n    - a: 1\n    - b: 2\n"),
    ],
)
def test_an_entry_has_the_style_of_the_others(before: str, after: str) -> None:
    assert with_entries(before.encode(), "waivers", [{"b": 2}]) == after.encode()


def test_a_character_that_yaml_forbids_is_escaped_in_json() -> None:
    """A file that may be JSON stays both: JSON allows the character, YAML does not."""
    assert with_entries(b'{"waivers": [{"a": 1}]}', "waivers", [{"b": "\x85"}]) == (
        b'{"waivers": [{"a": 1}, {"b": "\\u0085"}]}'
    )
