"""Parts that several reports share, as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from crdcompat.models.release import Release
from crdcompat.models.report import FORMAT
from crdcompat.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.finding import Acceptance, Growth, Location


_Word = TypeVar("_Word", bound="StrEnum")


def head(command: str, old: Release, new: Release) -> dict[str, Any]:
    """The first keys of every report."""
    return {
        "format": FORMAT,
        "tool": {"name": "crdcompat", "version": __version__},
        "command": command,
        "old": release(old),
        "new": release(new),
    }


def picked(item: Any, names: str) -> dict[str, Any]:
    """The fields of a value with these names, in their order, as they are; ``"id crd path"`` names three."""
    found = {name: getattr(item, name) for name in names.split()}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def release(item: Release) -> dict[str, Any]:
    """One side."""
    return picked(item, "name commit kubernetes notes")


def words(found: Mapping[_Word, int]) -> dict[str, int]:
    """Counts by word, with plain strings as keys: orjson refuses enum keys."""
    return {word.value: count for word, count in found.items()}


def skipped(item: Skipped) -> dict[str, Any]:
    """A skipped file and the reason."""
    return picked(item, "file reason side")


def problem(item: Problem) -> dict[str, Any]:
    """Input that could not be read, or a remark on input."""
    return picked(item, "file line message side")


def acceptance_data(item: Acceptance) -> dict[str, Any]:
    """Why a finding is accepted."""
    return {
        "reason": item.reason,
        "owner": item.owner,
        "until": item.until or None,
        "baseline": item.baseline,
        **({"by_change": True} if item.by_change else {}),
        **({"marker": item.marker} if item.marker else {}),
    }


def growth_data(item: Growth) -> dict[str, Any]:
    """A declaration of two-step growth, and what follows from it."""
    return picked(item, "state accepted_from written_from reason owner file line")


def location(item: Location) -> dict[str, Any]:
    """A place in a file."""
    return picked(item, "side kind file line column")
