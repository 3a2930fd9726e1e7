"""What a rollback does to the CRDs of a cluster, by who installs the CRDs of the release (docs/installers.md).

Helm marks what it manages with the release that installed it. It deletes a marked CRD that the older chart does not
have in ``templates/``; it reads ``helm.sh/resource-policy: keep`` from the CRD in the cluster. What it does not manage
and the older chart has in ``crds/`` alone stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from crdcompat.crds.installers import keeps
from crdcompat.crds.model import Crd
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.deleted import managed_by_helm
from crdcompat.features.simulate.early import after_move, moved
from crdcompat.vocabulary.installers import Installer

_RELEASE = ("meta.helm.sh/release-namespace", "meta.helm.sh/release-name")


def after_rollback(old: CrdSet, cluster: CrdSet, *, of_release: bool) -> CrdSet:
    """The CRDs that a cluster has after the rollback, with the names of those that Helm has deleted.

    ``of_release``: those of the cluster are the manifests of a release. Else they are its own, with Helm's marks.
    """
    if of_release:
        return after_move(old, cluster)
    return moved(old, cluster, frozenset(_deleted(old, cluster)), set(_staying(old, cluster)))


def installers_of(old: CrdSet) -> Mapping[str, frozenset[Installer]]:
    """The installers of each CRD of a release."""
    return {
        name: frozenset(old.installers.of(each.file, each.inside) for each in documents)
        for name, documents in old.named().items()
    }


def _deleted(old: CrdSet, cluster: CrdSet) -> Iterator[str]:
    """The marked CRDs that OLD's chart does not manage; another chart of the cluster is not rolled back."""
    if not old.installers.has_chart:
        return
    managed = {each.crd.name for each in managed_by_helm(old, old.documents)}
    groups = {each.crd.group for each in old.documents}
    releases = {_release(each.crd) for each in cluster.documents if each.crd.name in managed} - {""}
    for each in cluster.documents:
        release = _release(each.crd)
        is_ours = release in releases if releases else each.crd.group in groups
        if release and is_ours and each.crd.name not in managed and not keeps(each.crd, {}):
            yield each.crd.name


def _staying(old: CrdSet, cluster: CrdSet) -> Iterator[str]:
    only = {name for name, installers in installers_of(old).items() if installers == {Installer.HELM_CRDS}}
    return (each.crd.name for each in cluster.documents if each.crd.name in only and not _release(each.crd))


def _release(crd: Crd) -> str:
    """The name of the Helm release that manages a CRD of a cluster; "" if Helm does not manage it."""
    annotations = crd.raw["metadata"].get("annotations")
    if not isinstance(annotations, dict) or not annotations.get(_RELEASE[1]):
        return ""
    return "/".join(f"{annotations.get(key, '')}" for key in _RELEASE)
