"""One side of a comparison with what its tree says about the files that ship."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.evidence import OF_KUSTOMIZATIONS, Evidence, Kind
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.vocabulary import Side

#: What says that all of a folder ships, which kustomizations may list in part.
_OF_BASES = {Kind.PROJECT, Kind.GENERATED}
_CONVERTED = "with the conversion that kustomize adds"


class ShippingSide(Struct, frozen=True):
    """A set with its own evidence, and that of the base of a change; ``most`` is the folder with the most CRDs.

    ``is_of_tests``: all CRDs of the set are in folders of tests and designs.
    """

    side: Side
    crds: CrdSet
    own: Sequence[Evidence]
    most: str | None
    is_of_tests: bool
    of_base: Sequence[Evidence] = ()

    @property
    def says(self) -> bool:
        """Whether the set has a place that ships; else it may be that of a test."""
        return bool(self.evidence) or self.most is not None

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All evidence about the set."""
        return (*self.own, *self.of_base)

    def kinds(self, file: str) -> set[Kind]:
        """The kinds of evidence that a file ships; a folder says nothing of one that kustomizations leave out of it."""
        found = {each.kind for each in self.evidence if each.covers(file)}
        return set() if found and found <= _OF_BASES and self.omits(file) else found

    def relists(self, documents: Sequence[CrdDocument], kind: Kind) -> frozenset[str]:
        """The files that this kind of the set's own evidence lists, if the base lists others, too."""
        own = {each.file for each in documents if any(it.kind == kind and it.covers(each.file) for it in self.own)}
        return frozenset(own if own and any(each.file not in own for each in documents) else ())

    def source(self, file: str) -> str:
        """What says that a file ships."""
        return next((f"from {each.source}" for each in self.evidence if each.covers(file)), _CONVERTED)

    def omits(self, file: str) -> bool:
        """Whether kustomizations list other files of a folder one by one, and nothing this one."""
        named = {each for one in self.evidence if one.kind in OF_KUSTOMIZATIONS for each in one.files}
        return file not in named and folder_of(file) in map(folder_of, named)

    def place(self, file: str) -> Place:
        """Where a file is; evidence says more than the name of a folder."""
        return Place.ORDINARY if self.kinds(file) else place_of(file)


def folder_of(file: str) -> str:
    """The folder of a file, "" for the top."""
    return file.rpartition("/")[0]
