"""Two-step growth in a cluster: the values that its objects may not hold yet, and which release that follows from."""

from __future__ import annotations

from collections.abc import Sequence

from crdcompat.apiserver.server_versions import Server
from crdcompat.config.releases import minor_of
from crdcompat.features.preflight.asked_cluster import Cluster
from crdcompat.features.simulate.early import EarlyValues, Growing
from crdcompat.findings.growth import Declaration
from crdcompat.models.preflight import Missing, StepKind
from crdcompat.vocabulary.texts import some


def growing_in(cluster: Cluster, runs: Server | None, declarations: Sequence[Declaration]) -> Growing:
    """The declarations for the objects of a cluster, whose server is ``runs``.

    Its ClusterVersion names the release (see `early_in`), else its OpenShift server, else its CRDs.
    """
    release = runs.openshift if runs is not None else None
    named = minor_of(cluster.installed.name) if cluster.of_release else None
    return Growing(tuple(declarations), release or named)


def early_in(cluster: Cluster, growth: Growing) -> tuple[Declaration, ...]:
    """The declarations whose values no object of the cluster may hold yet."""
    return growth.early(cluster.facts.versions)


def unknown_release(cluster: Cluster, growth: Growing, held: EarlyValues) -> tuple[Missing, ...]:
    """A gap if objects hold declared values, and nothing tells which release the cluster runs."""
    found = [*held.causes(growth.declarations)] if growth.release(cluster.facts.versions) is None else []
    if not found:
        return ()
    places = some([each.growth.place for each in found if each.growth is not None])
    why = f"unknown, and objects hold values that only a release after it may write ({places})"
    return (Missing("the release of the cluster", why, step=StepKind.NAME_RELEASE),)
