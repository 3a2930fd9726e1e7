"""The data files of the package: the rule catalogue and the built-in fixtures."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
"""The folder of the package: its code and its schemas."""


def data_dir(name: str) -> Path:
    """The folder ``rules`` or ``fixtures``: inside the package if installed, else next to it in a checkout."""
    installed = PACKAGE / f"_{name}"
    return installed if installed.is_dir() else PACKAGE.parent / name
