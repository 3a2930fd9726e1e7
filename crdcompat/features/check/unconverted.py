"""CRDs whose conversion cannot matter, because all their objects are of one version.

A server converts an object that is stored or asked for in another version; a CRD with one version has none
(docs/semantics.md#between-versions). kubebuilder scaffolds a patch with a conversion webhook for such kinds, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crdcompat.crds.model import Crd
    from crdcompat.crds.reader import CrdReader
    from crdcompat.sources.tree import Tree


def is_unconverted(name: str, trees: Iterable[Tree], reader: CrdReader) -> bool:
    """Whether each manifest of a CRD in ``trees`` has a single version; False if there is no manifest of it.

    A server refuses a webhook for a CRD that does not prune: such a CRD counts as converted. Raises SourceError.
    """
    found = [crd for tree in trees for crd in _manifests(name, tree, reader)]
    return bool(found) and all(len(crd.versions) == 1 and crd.prunes for crd in found)


def _manifests(name: str, tree: Tree, reader: CrdReader) -> Iterator[Crd]:
    candidates = [entry for entry in tree.entries() if reader.passes_over(tree, entry.path) is None]
    entries = [entry for entry, data in tree.read(candidates) if name.encode() in data]
    yield from (each.crd for each in reader.documents(tree, entries) if each.crd.name == name)
