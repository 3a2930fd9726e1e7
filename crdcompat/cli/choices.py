"""What options can be: choices, and the values that a shell completes."""

from __future__ import annotations

from enum import StrEnum

import typer

from crdcompat.vocabulary import Direction


class DirectionChoice(StrEnum):
    """The directions to report."""

    ROLLBACK = Direction.ROLLBACK.value
    UPGRADE = Direction.UPGRADE.value
    BOTH = "both"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The chosen directions, rollback first."""
        return tuple(Direction) if self is DirectionChoice.BOTH else (Direction(self),)


class Profile(StrEnum):
    """How much fails."""

    standard = "standard"
    strict = "strict"


class Colour(StrEnum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


class LogFormat(StrEnum):
    """What standard error shows while the fleet is judged: a line for people, or one of JSON for each recording."""

    text = "text"
    json = "json"


def known_refs(incomplete: str) -> list[str]:
    """The branches and tags of the current repository that begin so, for the completion of shells."""
    from crdcompat.errors import SourceError
    from crdcompat.sources.refs import branch_spellings, tags
    from crdcompat.sources.repository import Repository

    try:
        repository = Repository(None)
        names = (*branch_spellings(repository), *tags(repository))
    except SourceError:
        return []
    return [name for name in dict.fromkeys(names) if name.startswith(incomplete)]


def known_rules(incomplete: str) -> list[str]:
    """The rules that begin so, for the completion of shells."""
    from crdcompat.findings.rules import rule_names

    return [name for name in rule_names() if name.startswith(incomplete)]


def known_formats(ctx: typer.Context, incomplete: str) -> list[str]:
    """The formats of a command that begin so, for the completion of shells."""
    from crdcompat.render.formats import formats_of

    kind = "simulation" if ctx.info_name == "simulate" else str(ctx.info_name)
    return [name for name in formats_of(kind) if name.startswith(incomplete)]
