"""The values common to all reports, which formats read and never change (design, section 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdcompat.errors import Skipped

FORMAT = "1"


class Release(Struct, frozen=True):
    """One side: the name as given, its commit, the Kubernetes minor version (from configuration or name).

    ``label`` is the side's name in sentences, if it differs from ``name``.
    """

    name: str
    commit: str | None
    kubernetes: str | None
    notes: tuple[str, ...] = ()
    label: str = ""

    @property
    def title(self) -> str:
        """The name for people."""
        return self.label or self.name


def sorted_skips(*sides: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """The skipped files of all sides, sorted, each once."""
    from crdcompat.errors import skipped_order

    return tuple(sorted({item for side in sides for item in side}, key=skipped_order))
