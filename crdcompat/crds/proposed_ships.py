"""The globs that ``init`` proposes for ``ships``: the CRDs of a tree that ship, by what the tree itself says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct

from crdcompat.crds.agreeing import agrees
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.shipping import BY_NAMES, decided, has_variants
from crdcompat.crds.shipping_side import ShippingSide, folder_of


class ProposedShips(Struct, frozen=True):
    """The ``folders`` whose CRDs ship, with what says so, and ``globs`` of their files.

    ``is_needed``: copies elsewhere differ.
    """

    folders: Mapping[str, str] = {}
    globs: Sequence[str] = ()
    is_needed: bool = False


def proposed_ships(crds: CrdSet) -> ProposedShips:
    """What to propose for a tree; nothing for one with a payload or variants. Raises SourceError."""
    if crds.shipped is not None or has_variants(crds):
        return ProposedShips()
    (_, side), (_, chosen) = decided([crds, crds])
    if not chosen.sources:
        covered = sorted((min(kinds), each.file) for each in crds.documents if (kinds := side.kinds(each.file)))
        folders = {folder_of(file): side.source(file) for kind, file in covered if kind == covered[0][0]}
        return ProposedShips(folders, [f"{folder}/*" for folder in folders])
    folders = dict(chosen.sources.keys())
    kept = [each for each in crds.documents if id(each) in chosen.kept]
    folders |= _others(kept, _listed(side, folders), side)
    return ProposedShips(folders, [glob for folder in folders for glob in _globs(side, folder)], is_needed=True)


def _listed(side: ShippingSide, folders: Collection[str]) -> list[str]:
    """The files below the folders, without those that kustomizations leave out and that are elsewhere, too."""
    starts = tuple(f"{folder}/" for folder in folders)
    inside = {each.file: each.crd.name for each in side.crds.documents if each.file.startswith(starts)}
    elsewhere = {each.crd.name for each in side.crds.documents if each.file not in inside}
    return [file for file, name in inside.items() if name not in elsewhere or not side.omits(file)]


def _globs(side: ShippingSide, folder: str) -> list[str]:
    """A glob of a folder, or its files one by one if not all are listed."""
    files = _listed(side, [folder])
    inside = {each.file for each in side.crds.documents if each.file.startswith(f"{folder}/")}
    return [f"{folder}/*"] if len(files) in (0, len(inside)) else sorted(files)


def _others(kept: Sequence[CrdDocument], listed: Collection[str], side: ShippingSide) -> dict[str, str]:
    """The folders of other copies that ship, and differ: globs override all that they leave out."""
    below: dict[str, list[CrdDocument]] = {}
    for each in kept:
        if each.file in listed:
            below.setdefault(each.crd.name, []).append(each)
    differing = [each for each in kept if each.crd.name in below and not agrees(each, below[each.crd.name])]
    return {folder_of(each.file): side.source(each.file) if side.kinds(each.file) else BY_NAMES for each in differing}
