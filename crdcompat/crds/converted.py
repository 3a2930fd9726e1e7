"""Copies of a CRD of which kustomize makes the one that ships: the base lacks the conversion that a patch adds.

kubebuilder keeps the generated CRD and a patch with ``spec.conversion`` apart; bundles and built manifests have both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from crdcompat.crds.aside import Place, place_of
from crdcompat.crds.evidence import Evidence
from crdcompat.crds.model import CrdDocument

#: The strategy of a CRD that says nothing of its conversion.
_NONE = "None"


def differ_in_conversion(documents: Iterable[CrdDocument]) -> bool:
    """Whether documents of one CRD have different strategies."""
    return len({document.crd.conversion_strategy for document in documents}) > 1


def without_bases(
    shipping: Sequence[CrdDocument], same: Sequence[CrdDocument], evidence: Iterable[Evidence]
) -> Sequence[CrdDocument]:
    """The documents of one CRD that ship, and the ``same`` elsewhere, without bases of those that have a conversion.

    A base is a document without a conversion to which a kustomization adds one, or one elsewhere, where all that ship
    have one. What a test expects of kustomize replaces no base.
    """
    if differ_in_conversion((*shipping, *same)):
        same = [each for each in same if place_of(each.file) < Place.NEVER]
    documents = (*shipping, *same)
    if not differ_in_conversion(documents):
        return documents
    texts: dict[str, list[str]] = {}
    for each in evidence:
        for file in each.files:
            texts.setdefault(file, []).extend(each.conversions)
    bases = {id(each) for each in documents if not _converts(each) and _is_base(each, texts)}
    if all(_converts(each) or id(each) in bases for each in shipping):
        bases.update(id(each) for each in same if not _converts(each))
    return [each for each in documents if id(each) not in bases]


def _converts(document: CrdDocument) -> bool:
    return document.crd.conversion_strategy != _NONE


def _is_base(document: CrdDocument, conversions: dict[str, list[str]]) -> bool:
    """Whether a patch of a conversion names the CRD, or selects what it patches by other means."""
    return any(document.crd.name in text or "target" in text for text in conversions.get(document.file, ()))
