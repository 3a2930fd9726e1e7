"""Pages of Markdown: the anchors of their headings, the rows of their tables."""

from __future__ import annotations

import re
from pathlib import Path


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows(page: Path, *columns: str) -> list[tuple[str, ...]]:
    """The cells of all tables with these columns, below their heads."""
    head = re.escape(f"| {' | '.join(columns)} |\n")
    found = "".join(re.findall(rf"^{head}\|[-|]+\|\n((?:\|.*\|\n)+)", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert found, columns
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in found.splitlines()]


def names(cell: str) -> list[str]:
    """The names in backticks of a cell."""
    return re.findall(r"`([^`]+)`", cell)
