"""The Go types of a tree of files, read on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crdcompat.golang.go_fields import GoTypes


class GoSources:
    """The files of a tree that may declare Go types: ``list_paths`` gives all paths, ``read`` the bytes of some."""

    def __init__(
        self, list_paths: Callable[[], Iterable[str]], read: Callable[[Iterable[str]], Iterator[tuple[str, bytes]]]
    ) -> None:
        self._list_paths, self._read = list_paths, read

    @cached_property
    def types(self) -> GoTypes | None:
        """The types; None if the tree has no Go source. Raises SourceError."""
        paths = [path for path in self._list_paths() if path.endswith(".go")]
        if not paths:
            return None
        from crdcompat.golang.go_fields import GoTypes
        from crdcompat.golang.packages import is_go_types

        return GoTypes(self._read([path for path in paths if is_go_types(path)]))


def _nothing(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    return iter(())


#: The sources of a set of CRDs that comes from no tree.
NO_GO = GoSources(tuple, _nothing)
