"""Entries as text: indented, without spaces at the end of a line."""

from __future__ import annotations

import yaml

from crdcompat.findings.waiver_text import with_entries


def test_an_empty_line_of_a_reason_is_not_indented() -> None:
    """Many repositories refuse spaces at the end of a line."""
    entry = {"rule": "enum-value-added", "reason": "first paragraph\n\nsecond paragraph"}
    written = with_entries(b"base: main\n", "waivers", [entry]).decode()
    assert yaml.safe_load(written) == {"base": "main", "waivers": [entry]}
    assert [line for line in written.splitlines() if line != line.rstrip()] == []
    assert "" in written.splitlines()
