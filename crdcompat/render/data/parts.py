"""Parts that several reports share, as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from crdcompat.models.report import FORMAT, Release
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


def release(item: Release) -> dict[str, Any]:
    """One side."""
    return {
        "name": item.name,
        "commit": item.commit,
        "kubernetes": item.kubernetes,
        "notes": list(item.notes),
    }


def words(found: Mapping[_Word, int]) -> dict[str, int]:
    """Counts by word, with plain strings as keys: orjson refuses enum keys."""
    return {word.value: count for word, count in found.items()}


def skipped(item: Skipped) -> dict[str, Any]:
    """A skipped file and the reason."""
    return {"file": item.file, "reason": item.reason, "side": item.side}


def problem(item: Problem) -> dict[str, Any]:
    """Input that could not be read, or a remark on input."""
    return {"file": item.file, "line": item.line, "message": item.message, "side": item.side}


def acceptance_data(item: Acceptance) -> dict[str, Any]:
    """Why a finding is accepted."""
    return {
        "reason": item.reason,
        "owner": item.owner,
        "until": item.until or None,
        "baseline": item.baseline,
        **({"by_change": True} if item.by_change else {}),
    }


def growth_data(item: Growth) -> dict[str, Any]:
    """A declaration of two-step growth, and what follows from it."""
    return {
        "state": item.state,
        "accepted_from": item.accepted_from,
        "written_from": item.written_from,
        "reason": item.reason,
        "owner": item.owner,
        "file": item.file,
        "line": item.line,
    }


def location(item: Location) -> dict[str, Any]:
    """A place in a file."""
    return {"side": item.side, "kind": item.kind, "file": item.file, "line": item.line, "column": item.column}
