"""Texts of strangers in sentences: a long one must not push what follows out of sight."""

from __future__ import annotations


def cut(text: str, most: int) -> str:
    """The text, or its beginning of ``most`` characters and its length."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"
