"""Texts of strangers and long lists in sentences: they must not push what follows out of sight."""

from __future__ import annotations

from collections.abc import Sequence


def cut(text: str, most: int) -> str:
    """The text, or its beginning of ``most`` characters and its length."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def some(names: Sequence[str], most: int = 3) -> str:
    """The first names, and how many more there are: ``a, b, c and 2 more``."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def first_lines(lines: Sequence[str], most: int, others: str = "and {} more") -> list[str]:
    """The first lines, and a line with the number of the ``others``, if there are any."""
    rest = len(lines) - most
    return [*lines[:most], *([others.format(rest)] if rest > 0 else [])]
