"""The cluster of a recording: its id and its OpenShift version, from its ClusterVersion."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from crdcompat.recordings.objects import ObjectItem, Recorded

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NIL = {"0", "-"}
_PLACES = (("spec", "clusterID"), ("status", "desired", "version"))


class ClusterFacts:
    """The id and version of a cluster, collected from the objects of one recording.

    ``id`` and ``version`` are None if they are missing or ambiguous. A redacted id (``xxxxxxxx-…``) counts as missing:
    else all redacted recordings would be of one cluster. Two ClusterVersions are of two clusters.
    """

    def __init__(self) -> None:
        self._ids: dict[str | None, None] = {}
        self._versions: dict[str | None, None] = {}

    def observe(self, objects: Iterable[ObjectItem]) -> Iterator[ObjectItem]:
        """Pass on the objects, and add each of them."""
        for item in objects:
            if isinstance(item, Recorded):
                self.add(item)
            yield item

    def add(self, item: Recorded) -> None:
        """Add the facts of one object, if it is a ClusterVersion."""
        if not isinstance(item.data, dict) or not _is_cluster_version(item):
            return
        spec, status = (item.data.get(part) for part in ("spec", "status"))
        id_ = spec.get("clusterID") if isinstance(spec, dict) else None
        readable = isinstance(id_, str) and _UUID.fullmatch(id_.lower()) and set(id_) != _NIL
        self._ids[id_.lower() if isinstance(id_, str) and readable else None] = None
        self._versions[_version(status)] = None

    @property
    def id(self) -> str | None:
        """``spec.clusterID``, in lower case."""
        return next(iter(self._ids)) if len(self._ids) == 1 else None

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all ClusterVersions that have one, in order of appearance."""
        return tuple(id_ for id_ in self._ids if id_ is not None)

    @property
    def version(self) -> str | None:
        """``status.desired.version``, which the cluster runs or upgrades to: ``4.18.3``."""
        return next(iter(self._versions)) if len(self._versions) == 1 else None

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of all ClusterVersions that have one, in order of appearance."""
        return tuple(version for version in self._versions if version is not None)


def identifying_places(item: Recorded) -> tuple[tuple[str, ...], ...]:
    """The places in an object that identify its cluster: those of ``ClusterFacts`` in a ClusterVersion."""
    return _PLACES if _is_cluster_version(item) else ()


def _is_cluster_version(item: Recorded) -> bool:
    if item.hint is not None:
        return (item.hint.group, item.hint.resource) == ("config.openshift.io", "clusterversion")
    version, kind = item.data.get("apiVersion"), item.data.get("kind")
    return kind == "ClusterVersion" and isinstance(version, str) and version.startswith("config.openshift.io/")


def _version(status: Any) -> str | None:
    desired = status.get("desired") if isinstance(status, dict) else None
    version = desired.get("version") if isinstance(desired, dict) else None
    return version if isinstance(version, str) and 0 < len(version) <= 64 else None
