"""Write reports to standard output and files, in several formats at once."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

from msgspec.structs import replace

from crdcompat.atomic_write import refuse_links, replacing
from crdcompat.errors import UsageError, did_you_mean
from crdcompat.program import runs_in_ci
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.models.diff import DiffReport
    from crdcompat.models.report import AnyReport
    from crdcompat.render.escape import Style

#: GitHub limits the summary of a step to 1 MiB.
_MAX_SUMMARY_BYTES = 1 << 20
#: The formats of services, whose pages others read: by default they show no values of recorded objects.
PUBLISHED = frozenset({"github", "gitlab", "markdown", "sarif"})


def write_reports(
    report: AnyReport,
    formats: Sequence[str],
    style: Style,
    *,
    colour: str = "auto",
    redact: bool | None = None,
) -> None:
    """Write the report in each ``FORMAT[=FILE]``; without a file to standard output. Raises UsageError.

    Under GitHub Actions the default is text and annotations; annotations come with a summary of the step. ``style`` is
    without colours: on a terminal the ``colour`` of ``--color`` adds them. ``redact``: whether values of recorded
    objects are hidden; None: in the formats of services, where others read them.
    """
    from crdcompat.render.escape import runs_on_github

    actions = runs_on_github()
    usual = ("text", "github") if actions and _has_annotations(report) else ("text",)
    named = map(parse_format, formats) if formats else ((name, None) for name in usual)
    # Most commits touch no CRD: a terminal then stays silent; files and services get their report, a CI log a line.
    is_silent = style.verbosity < 0 or (style.verbosity == 0 and not runs_in_ci())
    silent = (("text", None),) if is_silent and _is_idle(report) else ()
    chosen = [each for each in named if each not in silent]
    for name, target in chosen:
        if target is None:
            shown = _redacted(report, name, redact)
            parts = _render(name, shown, on_terminal(style, sys.stdout, colour))
            sys.stdout.writelines([_for_actions(name, "".join(parts))] if actions else parts)
        else:
            _write(target, _render(name, _redacted(report, name, redact), style))
    if "github" in dict(chosen):
        # Last: if it fails, the reports are written.
        _append_summary(_redacted(report, "markdown", redact), replace(style, verbosity=0, existing=False))


def _redacted(report: AnyReport, name: str, redact: bool | None) -> AnyReport:
    if not (name in PUBLISHED if redact is None else redact):
        return report
    from crdcompat.models.redaction import redacted

    return redacted(report)


def _write(target: str, parts: Iterable[str]) -> None:
    path = Path(target)
    is_device = path.exists() and not path.is_file()  # or a pipe
    try:
        refuse_links(path)
        with path.open("wb") if is_device else replacing(path) as written:
            written.writelines(part.encode() for part in parts)
    except OSError as error:
        raise UsageError(f"cannot write {target}: {error.strerror}") from None
    from crdcompat.render.escape import warn

    warn(f"wrote {target}")


def _render(name: str, report: AnyReport, style: Style) -> Iterable[str]:
    """The report in parts: that on a fleet is made while it is written."""
    from crdcompat.render.formats import renderer

    shown = renderer(name, report.KIND)(report, style)
    return (shown,) if isinstance(shown, str) else shown


def _has_annotations(report: AnyReport) -> bool:
    """Objects of recorded clusters have no line in the repository to annotate, nor have answers about whole CRDs."""
    return report.KIND not in ("fleet", "verify", "servers", "preflight", "versions")


def _is_idle(report: AnyReport) -> bool:
    return report.KIND == "check" and report.is_idle


def _for_actions(name: str, text: str) -> str:
    """The output of a format without commands of others: a field may be called ``::error``, a file ``##[error]``."""
    if name == "text":
        return between_stops(text)
    from crdcompat.render.escape import without_commands

    return text if name == "github" else without_commands(text)


def between_stops(text: str) -> str:
    """The text between two commands that stop the runner of GitHub Actions from reading others."""
    token = os.urandom(16).hex()
    return f"::stop-commands::{token}\n{text}::{token}::\n"


def _append_summary(report: AnyReport, style: Style) -> None:
    """Append the report to the summary of the step, if there is one and the report fits. Raises UsageError."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    data = "".join(_render("markdown", report, style)).encode()
    try:
        with Path(path).open("ab") as summary:
            if summary.tell() + len(data) <= _MAX_SUMMARY_BYTES:
                summary.write(data)
            else:
                from crdcompat.render.escape import warn

                warn("the step's summary has no room for this report")
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def wants_excerpts(formats: Sequence[str], report: DiffReport | None = None) -> Severity | None:
    """The lowest severity of findings whose lines a format shows: only these lines are read. None: there are none."""
    from crdcompat.render.formats import get_format

    found = (getattr(get_format(parse_format(text)[0]), "EXCERPTS", None) for text in formats or ("text",))
    lowest = max((least for least in found if least is not None), key=lambda least: least.rank, default=None)
    if lowest is None or report is None or report.undecided:
        return lowest
    return lowest if any(finding.severity.at_least(lowest) for finding in report.findings) else None


def wants_passing(formats: Sequence[str]) -> bool:
    """Whether a format lists CRDs without findings, too: only then all CRDs are compared."""
    from crdcompat.render.formats import get_format

    return any(getattr(get_format(parse_format(text)[0]), "PASSING", False) for text in formats)


def parse_format(text: str) -> tuple[str, str | None]:
    """``json=out.json`` -> ("json", "out.json"). Raises UsageError that names the formats there are."""
    from crdcompat.render.formats import format_names

    name, _, target = text.partition("=")
    if name not in format_names():
        hint = did_you_mean(name, format_names())
        raise UsageError(f"there is no format {name!r}{hint} (there are {', '.join(format_names())})")
    return name, target or None


def print_lines(lines: Iterable[str]) -> None:
    """Print the lines of a text with its colours to standard output."""
    from crdcompat.render.escape import finish

    for line in finish(lines):
        sys.stdout.write(f"{line}\n")


def style_for(stream: IO[str], colour: str, verbosity: int) -> Style:
    """The style of a stream, see ``on_terminal``."""
    from crdcompat.render.escape import Style

    return on_terminal(Style(verbosity=verbosity), stream, colour)


def on_terminal(style: Style, stream: IO[str], colour: str) -> Style:
    """Colour and wrapping only on a terminal; ``NO_COLOR`` and ``FORCE_COLOR`` honoured, ``--color`` above both."""
    terminal = stream.isatty()
    coloured = terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    coloured = coloured or bool(os.environ.get("FORCE_COLOR"))
    if colour != "auto":
        coloured = colour == "always"
    style = replace(style, colour=coloured)
    if not terminal:
        return style
    import shutil

    width, height = shutil.get_terminal_size()
    return replace(style, width=width, height=height)
