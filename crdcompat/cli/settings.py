"""Settings common to all commands: the configuration, and the options that override it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.vocabulary import FailOn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.config.configuration import Config
    from crdcompat.sources.tree import Tree


class Settings(Struct, frozen=True):
    """The configuration with the effective formats and failure threshold; ``redact`` is that of ``write_reports``.

    ``allow_unknown``: an unknown verdict does not fail.
    """

    config: Config
    formats: tuple[str, ...]
    fail_on: FailOn
    redact: bool | None = None
    allow_unknown: bool = False


def settled(
    named: str | None,
    repo: str | None,
    formats: Sequence[str] | None,
    fail_on: FailOn | None,
    profile: str | None = None,
    redact: bool | None = None,
    *,
    allow_unknown: bool = False,
    installer: str | None = None,
    files: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
) -> Settings:
    """The settings: options override the configuration, found upwards from the repository. Raises ConfigError.

    ``files`` are the globs of ``--include`` and ``--exclude``.
    """
    from crdcompat.config.configuration import find_config

    config = find_config(named, Path(repo) if repo else None)
    return with_options(
        config, formats, fail_on, profile, redact, allow_unknown=allow_unknown, installer=installer, files=files
    )


def with_options(
    config: Config,
    formats: Sequence[str] | None,
    fail_on: FailOn | None,
    profile: str | None = None,
    redact: bool | None = None,
    *,
    allow_unknown: bool = False,
    installer: str | None = None,
    files: tuple[Sequence[str] | None, Sequence[str] | None] = (None, None),
) -> Settings:
    """The settings from a configuration and the options that override it, ``files`` among them: see ``settled``."""
    if profile is not None:
        config = config.with_option("profile", profile)
    if installer is not None:
        config = config.with_option("installer", installer)
    config = config.with_files(*files)
    threshold = fail_on or FailOn(config.values["fail_on"])
    return Settings(config, tuple(formats or config.texts("formats")), threshold, redact, allow_unknown)


def check_rules(names: Sequence[str]) -> None:
    """Raises UsageError for an unknown rule."""
    if names:
        from crdcompat.findings.rules import find_rule

        for name in names:
            find_rule(name)


def check_formats(formats: Sequence[str], kind: str = "diff") -> None:
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
