"""The kinds whose objects tell about a recording or its cluster. They are read even if no release has them."""

from __future__ import annotations

from typing import NamedTuple

from crdcompat.crds.model import GROUP, KIND


class Kind(NamedTuple):
    """A group and a kind of it."""

    group: str
    name: str


CRD = Kind(GROUP, KIND)
FACTS = Kind("crdcompat.dev", "ClusterRecording")
"""The item of a recording of ``crdcompat record`` with the facts about it."""
CLUSTER_VERSION = Kind("config.openshift.io", "ClusterVersion")
INFRASTRUCTURE = Kind("config.openshift.io", "Infrastructure")
FEATURE_GATE = Kind("config.openshift.io", "FeatureGate")

ALWAYS_READ = frozenset({CRD, FACTS, CLUSTER_VERSION, INFRASTRUCTURE, FEATURE_GATE})
