"""Reports as JSON data, format "1", of a matrix "2": a module for each kind of report; the schema of all."""

from __future__ import annotations

from pathlib import Path


def schema_text() -> str:
    """The schema as JSON text."""
    return (Path(__file__).parent.parent / "report.schema.json").read_text(encoding="utf-8").rstrip()
