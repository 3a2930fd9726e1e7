"""A side of a report: its name, its commit, its Kubernetes version, and how reports name it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.errors import Skipped


#: A longer name is cut to its last parts, if it is a path.
_MAX_LABEL = 24
_COMMIT = re.compile(r"(?:git:)?(?P<short>[0-9a-f]{12})(?:[0-9a-f]{28}|[0-9a-f]{52})")


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

    @property
    def full(self) -> str:
        """The name for the head of a report: the full name if the label is only the end of the name."""
        return self.name if self.name.rstrip("/").endswith(self.label) else self.label


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Names for people: the first digits of a commit id, of a long path the shortest end that no other name has."""
    return {name: _short(name, names) for name in names}


def _short(name: str, names: Sequence[str]) -> str:
    if commit := _COMMIT.fullmatch(name):
        return commit["short"]
    return _end(name, names) if len(name) > _MAX_LABEL else name


def _end(name: str, names: Sequence[str]) -> str:
    others = [f"/{other.rstrip('/').replace(':', '/', 1)}" for other in names if other != name]
    parts = name.rstrip("/").split("/")
    ends = ("/".join(parts[at:]) for at in range(len(parts) - 1, 0, -1))
    return next((end for end in ends if not any(other.endswith(f"/{end}") for other in others)), name)


def sorted_skips(*sides: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """The skipped files of all sides, sorted, each once."""
    from crdcompat.errors import skipped_order

    return tuple(sorted({item for side in sides for item in side}, key=skipped_order))
