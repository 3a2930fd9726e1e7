"""The server that a cluster runs: what the cluster or its recording says, before what the name of a release says."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.apiserver.server_versions import Server, known_server, openshift_server, running_server
from crdcompat.config.releases import minor_of
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.preflight.asked_cluster import Cluster
from crdcompat.models.preflight import Missing, StepKind

_CLUSTER_VERSION = "clusterversions.config.openshift.io"


def running(cluster: Cluster) -> tuple[Server | None, tuple[Missing, ...]]:
    """The server that the cluster runs, and a gap if crdcompat does not know the reported version.

    None: unknown, or one of several: during an update, or in recordings that name several versions.
    """
    try:
        found = dict.fromkeys(_servers(cluster))
    except UsageError as error:
        return None, (Missing("the server's version", str(error), step=StepKind.NAME_SERVER),)
    return next(iter(found)) if len(found) == 1 else None, ()


def _servers(cluster: Cluster) -> Iterator[Server]:
    """The servers that the cluster may run. Raises UsageError."""
    recorded = [*map(openshift_server, _versions(cluster))]
    if cluster.server_version:
        server = running_server(cluster.server_version, is_openshift=_CLUSTER_VERSION in cluster.installed.named())
        yield next((each for each in recorded if each.minor == server.minor), server)
    elif recorded:
        yield from recorded
    elif (named := known_server(cluster.installed)) is not None:
        yield named


def _versions(cluster: Cluster) -> tuple[str, ...]:
    """The OpenShift versions that the cluster may run."""
    return tuple(filter(None, (*cluster.facts.versions, cluster.facts.left)))


def platform(cluster: Cluster) -> str:
    """The cluster's versions as far as known: ``OpenShift 4.14.1, Kubernetes v1.27.6``."""
    facts = cluster.facts
    if len(facts.versions) > 1:
        return ""
    if not facts.versions and not cluster.server_version:
        named = known_server(cluster.installed)
        return f"{named}, by the name of {cluster.installed.title}" if named is not None else ""
    is_openshift = facts.version or _CLUSTER_VERSION in cluster.installed.named()
    openshift = f"OpenShift {facts.version or ''}".strip() if is_openshift else ""
    if facts.left:
        openshift += f" (its update from {facts.left} is under way)"
    kubernetes = _kubernetes(cluster)
    return ", ".join(filter(None, (openshift, kubernetes and f"Kubernetes {kubernetes}")))


def _kubernetes(cluster: Cluster) -> str:
    if cluster.server_version:
        return cluster.server_version
    try:
        return " or ".join(dict.fromkeys(server.kubernetes for server in reversed([*_servers(cluster)])))
    except UsageError:
        return ""


def server_notes(cluster: Cluster, old: CrdSet) -> Iterator[str]:
    """Notes on versions in recordings that contradict each other, the CRDs that were taken, or the question."""
    versions = cluster.facts.versions
    if len(versions) > 1:
        yield f"the recordings are of {', '.join(versions)}: which of them the cluster runs is unknown"
        return
    minors = [minor for name in _versions(cluster) if (minor := minor_of(name)) is not None]
    taken, back = minor_of(cluster.installed.name), minor_of(old.name)
    if cluster.of_release and minors and _is_openshift(cluster.installed) and taken not in minors:
        yield (
            f"warning: the cluster runs {versions[0]}, and its CRDs are taken from {cluster.installed.title} (--from): "
            "the answer holds only for a cluster with these CRDs"
        )
    if minors and _is_openshift(old) and back is not None and max(minors) < back:
        yield (
            f"warning: the cluster runs {versions[0]}, so that a move to {old.title} is an upgrade "
            "(simulate --upgrade judges one)"
        )


def _is_openshift(crds: CrdSet) -> bool:
    return known_server(crds) is not None and crds.may_be_openshift
