"""What a command runs with, the configuration with the options that override it, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.cli.options import Output
from crdcompat.vocabulary import ExitCode, FailOn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.config.configuration import Config
    from crdcompat.models.report import AnyReport
    from crdcompat.sources.tree import Tree


class Settings(Struct, frozen=True):
    """The configuration with the effective formats and failure threshold, and how the report is shown.

    ``allow_unknown``: an unknown verdict does not fail.
    """

    config: Config
    formats: tuple[str, ...]
    fail_on: FailOn
    allow_unknown: bool
    output: Output


def check_formats(formats: Sequence[str], kind: str) -> None:
    """Raises UsageError for an unknown format, or one that cannot show reports of this ``KIND``."""
    from crdcompat.render.formats import renderer
    from crdcompat.render.write import parse_format

    for text in formats:
        renderer(parse_format(text)[0], kind)


def open_recordings(names: Sequence[str], repo: str | None) -> list[Tree]:
    """Open recorded objects before anything else is read, and warn of what their sources note. Raises as they do."""
    from crdcompat.sources import open_objects

    trees = [open_objects(name, repo=repo) for name in names]
    for note in dict.fromkeys(note for tree in trees for note in tree.notes):
        from crdcompat.render.escape import warn

        warn(note)
    return trees


def end(report: AnyReport, settings: Settings, *, existing: bool = False, shown: bool = True) -> ExitCode:
    """Write the report in the formats of the settings, if it is ``shown``.

    Returns the exit code (docs/formats.md#exit-codes).

    Standard error names what not every format shows: CRDs that were not compared, and an option that allows an unknown
    verdict. Raises UsageError.
    """
    decision = report.judgement.decide(settings.fail_on, allow_unknown=settings.allow_unknown)
    if shown:
        from crdcompat.render.escape import Style
        from crdcompat.render.write import write_reports

        output = settings.output
        style = Style(verbosity=output.verbosity, existing=existing, fails=settings.fail_on, allowed=decision.allowed)
        write_reports(report, settings.formats, style, colour=output.color, redact=output.redact)
    messages = [f"not compared: {reason}" for reason in getattr(report, "not_compared", ())]
    if decision.allowed:
        messages.append(f"the verdict is UNKNOWN, allowed by {decision.allowed}")
    if messages:
        from crdcompat.render.escape import warn

        for message in messages:
            warn(message)
    return decision.code
