"""What a command runs with: the configuration, the options that override it, and how it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from msgspec import Struct

from crdcompat.cli.choices import Profile, known_formats
from crdcompat.cli.options import (
    OUTPUT,
    AllowUnknown,
    ConfigFile,
    Exclude,
    FailOnChoice,
    Include,
    InstallerOption,
    Output,
    Repo,
)
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


class Place(Struct, frozen=True, kw_only=True):
    """Where the configuration and the repository are."""

    config: ConfigFile = None
    repo: Repo = None

    def found(self) -> Config:
        """The configuration, found upwards from the repository. Raises ConfigError."""
        from pathlib import Path

        from crdcompat.config.configuration_file import find_config

        return find_config(self.config, Path(self.repo) if self.repo else None)


class Configured(Place, frozen=True, kw_only=True):
    """What overrides the configuration. ``usual`` are formats in place of the configured ones."""

    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="FORMAT[=FILE]",
            help="text, concise, json, markdown, sarif, junit, github, gitlab, html or statistics; repeatable.",
            autocompletion=known_formats,
            rich_help_panel=OUTPUT,
        ),
    ] = None
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count findings by rule and owner.", rich_help_panel=OUTPUT)
    ] = False
    fail_on: FailOnChoice = None
    installer: InstallerOption = None
    allow_unknown: AllowUnknown = False
    profile: Annotated[
        Profile | None,
        typer.Option(
            metavar="NAME", help="strict: rejections and removals on upgrade fail, too.", rich_help_panel=OUTPUT
        ),
    ] = None
    include: Include = None
    exclude: Exclude = None
    usual: tuple[str, ...] = ()

    def settings(self, kind: str, output: Output, config: Config | None = None) -> Settings:
        """The settings: options override the ``config``, which is found upwards from the repository.

        Raises ConfigError, and UsageError for formats that do not show reports of the ``kind``.
        """
        check_formats(self.formats or (), kind)
        found = config or self.found()
        for key, value in (("profile", self.profile), ("installer", self.installer)):
            found = found.with_option(key, value) if value is not None else found
        found = found.with_files(self.include, self.exclude)
        asked = [*(self.formats or ()), *["statistics"] * self.statistics]
        formats = tuple(asked or self.usual or found.texts("formats"))
        check_formats(formats, kind)
        fail_on = self.fail_on or FailOn(found.values["fail_on"])
        return Settings(found, formats, fail_on, self.allow_unknown, output)


#: The options of ``Configured`` that only commands with comparisons take.
COMPARISON = ("statistics", "installer", "profile", "include", "exclude")


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
