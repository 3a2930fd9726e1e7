"""What all reports have: plain values that every format reads and none changes (design, section 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdcompat.errors import Skipped

FORMAT = "1"


@dataclass(frozen=True, slots=True)
class Release:
    """One side: the name the user gave, the commit it stands for, the Kubernetes minor its name tells."""

    name: str
    commit: str | None
    kubernetes: str | None
    notes: tuple[str, ...] = ()


def sorted_skips(*sides: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """The skipped files of all sides, each once."""
    from crdcompat.errors import skipped_order

    return tuple(sorted({item for side in sides for item in side}, key=skipped_order))
