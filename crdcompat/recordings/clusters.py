"""Which cluster a recording is of, and what it runs: what its ClusterVersion says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from crdcompat.recordings.objects import ObjectItem, Recorded

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NIL = {"0", "-"}


class ClusterFacts:
    """What the objects of one recording tell of its cluster, as they pass by.

    ``id`` and ``version`` are None where nothing tells them: ids that were made unreadable (``xxxxxxxx-…``) would make
    one cluster of all, and two ClusterVersions are two clusters.
    """

    def __init__(self) -> None:
        self._ids: dict[str | None, None] = {}
        self._versions: dict[str | None, None] = {}

    def observe(self, objects: Iterable[ObjectItem]) -> Iterator[ObjectItem]:
        """The objects as they come, each looked at."""
        for item in objects:
            if isinstance(item, Recorded):
                self.add(item)
            yield item

    def add(self, item: Recorded) -> None:
        """Look at one object."""
        if not isinstance(item.data, dict) or not _is_cluster_version(item):
            return
        spec, status = (item.data.get(part) for part in ("spec", "status"))
        told = spec.get("clusterID") if isinstance(spec, dict) else None
        readable = isinstance(told, str) and _UUID.fullmatch(told.lower()) and set(told) != _NIL
        self._ids[told.lower() if isinstance(told, str) and readable else None] = None
        self._versions[_version(status)] = None

    @property
    def id(self) -> str | None:
        """``spec.clusterID``, in lower case."""
        return next(iter(self._ids)) if len(self._ids) == 1 else None

    @property
    def ids(self) -> tuple[str, ...]:
        """The same of every ClusterVersion that tells it, in the order met."""
        return tuple(told for told in self._ids if told is not None)

    @property
    def version(self) -> str | None:
        """What the cluster was last told to run: ``4.18.3``."""
        return next(iter(self._versions)) if len(self._versions) == 1 else None

    @property
    def versions(self) -> tuple[str, ...]:
        """The same of every ClusterVersion that tells it, in the order met."""
        return tuple(version for version in self._versions if version is not None)


def _is_cluster_version(item: Recorded) -> bool:
    if item.hint is not None:
        return (item.hint.group, item.hint.resource) == ("config.openshift.io", "clusterversion")
    version, kind = item.data.get("apiVersion"), item.data.get("kind")
    return kind == "ClusterVersion" and isinstance(version, str) and version.startswith("config.openshift.io/")


def _version(status: Any) -> str | None:
    desired = status.get("desired") if isinstance(status, dict) else None
    told = desired.get("version") if isinstance(desired, dict) else None
    return told if isinstance(told, str) and 0 < len(told) <= 64 else None
