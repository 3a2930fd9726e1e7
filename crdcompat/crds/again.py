"""CRDs that one file has several times: which of the documents a cluster ends with.

``kubectl apply`` applies the documents of a file in their order, and so does the cluster-version operator; Argo CD
takes the last one of several. Helm creates what is in ``crds/``, and skips a CRD that is there already ("already
present. Skipping."): the first one is left. Nobody knows it of templates, where conditions may choose one of them, of
packed charts, whose documents come from several files, and of manifests inside of texts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from crdcompat.crds.context import CHANNEL, GATE, feature_sets, profiles_of
from crdcompat.crds.templates import is_conditional
from crdcompat.errors import Problem
from crdcompat.vocabulary.installers import Installer

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crdcompat.crds.installers import Installers
    from crdcompat.crds.manifest_positions import ManifestPositions
    from crdcompat.crds.model import CrdDocument


def left_of_files(
    documents: Sequence[CrdDocument], installers: Installers, remarks: Iterable[Problem], positions: ManifestPositions
) -> tuple[list[CrdDocument], list[Problem]]:
    """The documents without those that another one of their file replaces, and a remark for each CRD that has some.

    ``remarks`` are those on the files. Variants of a CRD do not replace each other.
    """
    templates = {remark.file for remark in remarks if is_conditional(remark)}
    groups: dict[Hashable, list[CrdDocument]] = {}
    for each in documents:
        if not each.inside and each.pointer[:1] in ((), ("items",)) and each.file not in templates:
            groups.setdefault((each.file, each.crd.name, *_variant(each)), []).append(each)
    replaced, said = set[int](), list[Problem]()
    for group in groups.values():
        is_first = installers.of(group[0].file) is Installer.HELM_CRDS
        left = group[0 if is_first else -1]
        differing = [id(each) for each in group if each.crd.raw["spec"] != left.crd.raw["spec"]]
        if differing:
            replaced.update(differing)
            line, _ = positions.of_values({left: {()}}).get((left.file, left.index, left.pointer), (1, 1))
            which = "helm creates the first one alone" if is_first else "the last one replaces the others"
            said.append(Problem(left.file, line, f"{left.crd.name} is in this file {len(group)} times: {which}"))
    return [each for each in documents if id(each) not in replaced], said


def _variant(document: CrdDocument) -> tuple[Hashable, ...]:
    """What tells the variants of a CRD apart."""
    notes = document.crd.annotations
    return frozenset(feature_sets(notes)), frozenset(profiles_of(notes)), notes.get(CHANNEL), notes.get(GATE)
