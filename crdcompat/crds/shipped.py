"""Which documents of a tree reach a cluster, where the tree has a payload beside its source manifests.

openshift/api keeps source manifests in one folder per API version and the CRDs that the release ships in
``payload-manifests/crds``. The source folders of several versions together are not a CRD of any cluster. The payload is
the truth for each CRD in it; a CRD outside the payload keeps all its documents, because another repository ships it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from crdcompat.prefilter.candidates import excluded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.crds.model import CrdDocument

#: The payload of openshift/api: the globs where the configuration names none.
OPENSHIFT_PAYLOAD = ("payload-manifests/crds/*",)
NOT_SHIPPED = "source of a CRD that the payload contains"


def is_shipped(path: str, ships: Iterable[str]) -> bool:
    """Whether a file is part of the payload; ``*`` in these globs matches slashes too."""
    return any(fnmatchcase(path, glob) for glob in ships)


def lists(path: str, globs: Iterable[str]) -> bool:
    """Whether a glob matches a file and names each of its folders that are passed over otherwise."""
    passed_over = {folder for folder in path.split("/")[:-1] if excluded(f"{folder}/")}
    return any(fnmatchcase(path, glob) and passed_over.issubset(glob.split("/")) for glob in globs)


def split_shipped(
    documents: Sequence[CrdDocument], ships: Sequence[str]
) -> tuple[tuple[CrdDocument, ...], tuple[CrdDocument, ...], frozenset[str]]:
    """The documents that count, the source documents that the payload overrides, and the names in the payload."""
    payload = frozenset(document.crd.name for document in documents if is_shipped(document.file, ships))
    if not payload:
        return tuple(documents), (), payload
    kept: list[CrdDocument] = []
    overridden: list[CrdDocument] = []
    for document in documents:
        overrides = document.crd.name in payload and not is_shipped(document.file, ships)
        (overridden if overrides else kept).append(document)
    return tuple(kept), tuple(overridden), payload


def like_shipped(sources: tuple[CrdDocument, ...], payload: tuple[CrdDocument, ...]) -> tuple[CrdDocument, ...]:
    """The source documents of a CRD that correspond to its ``payload`` in another tree; all if none does.

    A tree with a payload can lack a CRD there that the payload of the other tree contains: the CRD entered or left the
    payload, and its source folders of other versions never were part of what ships.
    """
    versions = {version.name for document in payload for version in document.crd.versions}
    found = (item for item in sources if any(version.name in versions for version in item.crd.versions))
    return tuple(found) or sources
