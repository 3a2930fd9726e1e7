"""Regular expressions mean the same in each Python that is supported."""

from __future__ import annotations

import re
from pathlib import Path

import crdcompat

_GROUP_REPEATED = re.compile(r"\)(?:[*+?]|\{[\d,]+\})\+")


def test_no_group_is_repeated_possessively() -> None:
    """Python 3.11.2, that of Debian 12, finds no match of ``(?:a)*+b`` in ``b``; that of ``(?>(?:a)*)b`` it finds."""
    lines = (
        (file, line)
        for file in Path(crdcompat.__file__).parent.rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
    )
    assert [(file.name, line) for file, line in lines if "(?" in line and _GROUP_REPEATED.search(line)] == []
