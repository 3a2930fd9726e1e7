"""The JSON Schema of the JSON reports, shipped with the program."""

from __future__ import annotations

from pathlib import Path


def schema_text() -> str:
    """The schema as JSON text."""
    return (Path(__file__).parent / "report.schema.json").read_text(encoding="utf-8").rstrip()
