"""Reports to standard output and files, several formats at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from crdcompat.errors import UsageError
from crdcompat.report.formats import format_names, get_format
from crdcompat.report.model import Report
from crdcompat.report.style import Style


def write_reports(
    report: Report, formats: Sequence[str], colour: str = "auto", verbosity: int = 0, *, existing: bool = False
) -> None:
    """Write the report in each ``FORMAT[=FILE]``; without a file to standard output. Raises UsageError."""
    for name, target in [parse_format(text) for text in formats or ("text",)]:
        if target is None:
            sys.stdout.write(
                get_format(name).render(report, replace(style_for(sys.stdout, colour, verbosity), existing=existing))
            )
            continue
        text = get_format(name).render(report, Style(verbosity=verbosity, existing=existing))
        try:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
            Path(target).write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {target}: {error.strerror}") from None


def parse_format(text: str) -> tuple[str, str | None]:
    """``json=out.json`` -> ("json", "out.json"). Raises UsageError that names the formats there are."""
    name, _, target = text.partition("=")
    if name not in format_names():
        raise UsageError(f"there is no format {name!r}; there are {', '.join(format_names())}")
    return name, target or None


def style_for(stream: IO[str], colour: str, verbosity: int) -> Style:
    """Colour and wrapping only on a terminal; ``NO_COLOR`` and ``FORCE_COLOR`` honoured, ``--color`` above both."""
    terminal = stream.isatty()
    coloured = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    coloured = coloured or bool(os.environ.get("FORCE_COLOR"))
    if colour != "auto":
        coloured = colour == "always"
    width = 0
    if terminal:
        import shutil

        width = shutil.get_terminal_size().columns
    return Style(colour=coloured, width=width, verbosity=verbosity)
