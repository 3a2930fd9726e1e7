"""Lines and columns of values in the manifests of a source.

The reader keeps the positions of most documents. Files with other documents are read again, each once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import SourceError
from crdcompat.schema.paths import Pointer
from crdcompat.yaml.locate import locate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from crdcompat.crds.model import CrdDocument
    from crdcompat.yaml.positions import Place

Spot = tuple[str, int, Pointer]
"""A file, the index of a document in it, and a pointer into the document."""


class ManifestPositions(Struct, frozen=True, eq=False):
    """Finds values in the files that ``read`` returns by path.

    A value has no position if its file disappeared after it was read.
    """

    read: Callable[[Iterable[str]], Iterator[tuple[str, bytes]]]

    def of_values(self, wanted: Mapping[CrdDocument, set[Pointer]]) -> dict[Spot, Place]:
        """The positions of values at these pointers into CRDs."""
        unread: list[Spot] = []
        found: dict[Spot, Place] = {}
        for document, pointers in wanted.items():
            if document.positions is None or document.pointer:
                unread.extend((document.file, document.index, (*document.pointer, *pointer)) for pointer in pointers)
            else:
                places = document.positions.find(document.crd.raw, pointers)
                found.update(((document.file, document.index, pointer), place) for pointer, place in places.items())
        return found | self.of_spots(unread)

    def of_spots(self, spots: Iterable[Spot]) -> dict[Spot, Place]:
        """The positions of these spots."""
        by_file: dict[str, set[tuple[int, Pointer]]] = {}
        for file, index, pointer in spots:
            by_file.setdefault(file, set()).add((index, pointer))
        found: dict[Spot, Place] = {}
        if by_file:
            try:
                for file, data in self.read(sorted(by_file)):
                    for (index, pointer), place in locate(data, by_file[file]).items():
                        found[file, index, pointer] = place
            except SourceError:
                pass  # a file was deleted meanwhile
        return found
