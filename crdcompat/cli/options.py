"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Direction(StrEnum):
    """Which way objects travel."""

    rollback = "rollback"
    upgrade = "upgrade"
    both = "both"


class FailOn(StrEnum):
    """From which severity on the exit code is 1."""

    error = "error"
    warning = "warning"
    info = "info"
    undecided = "undecided"
    never = "never"


class Colour(StrEnum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


class Owner(StrEnum):
    """Who writes a field."""

    status = "status"
    spec = "spec"
    metadata = "metadata"
    other = "other"
    crd = "crd"


Old = Annotated[
    str,
    typer.Argument(
        metavar="OLD", help="The older release: a git ref, index:, worktree:, path:P, a directory or a file."
    ),
]
New = Annotated[str, typer.Argument(metavar="NEW", help="The newer release, in the same forms.")]
Repo = Annotated[
    str | None, typer.Option(help="The git repository that refs are looked up in (default: the current one).")
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help="How to report: text, json, markdown, sarif, junit, github, gitlab, html; may be repeated.",
    ),
]
FailOnChoice = Annotated[
    FailOn | None, typer.Option("--fail-on", help="Exit with 1 from this severity on (default: error).")
]
ConfigFile = Annotated[
    str | None,
    typer.Option("--config", metavar="FILE", help="The configuration (default: the nearest .crdcompat.yaml upwards)."),
]
Objects = Annotated[
    list[str] | None,
    typer.Option("--objects", metavar="PATH", help="Recorded objects as evidence: they raise what they meet."),
]
ColourOption = Annotated[Colour, typer.Option("--color", help="Colour the output.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show everything that was found.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show errors and the summary only.")]
DirectionOption = Annotated[Direction, typer.Option(help="Report this direction only.")]
Owners = Annotated[list[Owner] | None, typer.Option("--owner", help="Only fields that this owner writes.")]
Crds = Annotated[
    list[str] | None,
    typer.Option("--crd", metavar="NAME", help="Only this CRD (metadata.name); may be repeated."),
]
Contexts = Annotated[
    list[str] | None,
    typer.Option("--context", metavar="NAME", help="Only this context, or OLD=NEW to compare two of different name."),
]
Select = Annotated[list[str] | None, typer.Option("--select", metavar="RULE", help="Only findings of this rule.")]
Ignore = Annotated[list[str] | None, typer.Option("--ignore", metavar="RULE", help="No findings of this rule.")]


def verbosity(verbose: bool, quiet: bool) -> int:
    """-1 quiet, 0 usual, 1 all."""
    return int(verbose) - int(quiet)


def directions(chosen: Direction) -> tuple[str, ...]:
    """Rollback first."""
    return ("rollback", "upgrade") if chosen is Direction.both else (chosen.value,)


def names(values: list[Owner] | None) -> list[str]:
    """The values of an enum option."""
    return [value.value for value in values or ()]
