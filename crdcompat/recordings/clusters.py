"""The cluster of a recording: id and version (ClusterVersion), platform (Infrastructure), feature set (FeatureGate)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from crdcompat.crds.context import profiles_of
from crdcompat.recordings.recorded_objects import ObjectItem, Recorded
from crdcompat.recordings.telling_kinds import CLUSTER_VERSION, FEATURE_GATE, INFRASTRUCTURE, Kind
from crdcompat.schema.paths import value_or_none

_UUID = re.compile("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_NIL = {"0", "-"}
_ID, _VERSION, _PLATFORM = ("spec", "clusterID"), ("status", "desired", "version"), ("status", "platformStatus", "type")
_HISTORY = ("status", "history")
_FEATURE_SET = ("spec", "featureSet")
_PLACES = {CLUSTER_VERSION: (_ID, _VERSION), INFRASTRUCTURE: (_PLATFORM,), FEATURE_GATE: (_FEATURE_SET,)}
_MAX_TEXT = 64


class ClusterFacts:
    """The facts about a cluster, collected from the objects of one recording.

    Each of them is None if it is missing or ambiguous. A redacted id (``xxxxxxxx-…``) counts as missing:
    else all redacted recordings would be of one cluster. Two ClusterVersions are of two clusters.
    """

    def __init__(self) -> None:
        self._ids: dict[str | None, None] = {}
        self._versions: dict[str | None, None] = {}
        self._left: dict[str, str] = {}
        self._platforms: dict[str, None] = {}
        self._feature_sets: dict[tuple[str, tuple[str, ...]], None] = {}

    def observe(self, objects: Iterable[ObjectItem]) -> Iterator[ObjectItem]:
        """Pass on the objects, and add each of them."""
        for item in objects:
            if isinstance(item, Recorded):
                self.add(item)
            yield item

    def add(self, item: Recorded) -> None:
        """Add the facts of one object, if its kind has any."""
        if not isinstance(item.data, dict):
            return
        if _is(item, INFRASTRUCTURE) and (platform := _text(item.data, _PLATFORM)):
            self._platforms[platform] = None
        if _is(item, CLUSTER_VERSION):
            id_ = (_text(item.data, _ID) or "").lower()
            self._ids[id_ if _UUID.fullmatch(id_) and set(id_) != _NIL else None] = None
            version = _text(item.data, _VERSION)
            self._versions[version] = None
            if version and (left := _left(item.data)):
                self._left[version] = left
        if _is(item, FEATURE_GATE) and (feature_set := _feature_set(item.data)):
            self._feature_sets[feature_set, tuple(sorted(profiles_of(_annotations(item.data))))] = None

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
    def platform(self) -> str | None:
        """``status.platformStatus.type`` of the Infrastructure: ``AWS``."""
        return next(iter(self._platforms)) if len(self._platforms) == 1 else None

    @property
    def feature_sets(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The feature set of each FeatureGate, with the profiles that have this FeatureGate (none: unknown).

        Its cluster has one of these profiles.
        """
        return tuple(self._feature_sets)

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of all ClusterVersions that have one, in order of appearance."""
        return tuple(version for version in self._versions if version is not None)

    @property
    def left(self) -> str:
        """The version that the cluster leaves while its update to ``version`` is under way; "" if there is none."""
        return self._left.get(self.version or "", "")


def identifying_places(item: Recorded) -> tuple[tuple[str, ...], ...]:
    """The places in an object that identify its cluster: those of ``ClusterFacts``."""
    return next((places for kind, places in _PLACES.items() if _is(item, kind)), ())


def _is(item: Recorded, kind: Kind) -> bool:
    """Whether an object is of a kind, in any version."""
    if item.hint is not None:
        return (item.hint.group, item.hint.resource) == (kind.group, kind.name.lower())
    version = item.data.get("apiVersion")
    return item.data.get("kind") == kind.name and isinstance(version, str) and version.startswith(f"{kind.group}/")


def _text(data: Any, place: tuple[str, ...]) -> str | None:
    """The string at a place, if it is short."""
    text = value_or_none(data, place)
    return text if isinstance(text, str) and 0 < len(text) <= _MAX_TEXT else None


def _left(data: Any) -> str:
    """The last completed version of a ClusterVersion, if its newest update is not complete, else ""."""
    history = value_or_none(data, _HISTORY)
    entries = [entry for entry in history if isinstance(entry, dict)] if isinstance(history, list) else []
    done = (entry for entry in entries if entry.get("state") == "Completed")
    completed = next(done, {})
    return (_text(completed, ("version",)) or "") if entries and completed is not entries[0] else ""


def _feature_set(data: dict[str, Any]) -> str | None:
    """``spec.featureSet`` of the cluster's FeatureGate, by default ``Default``; None if the value is hidden."""
    spec = data.get("spec")
    if value_or_none(data, ("metadata", "name")) != "cluster" or not isinstance(spec, dict):
        return None
    if not spec.get("featureSet"):
        return "Default"
    name = _text(data, _FEATURE_SET)
    return name if name and len(set(name.lower())) > 1 else None  # hidden: xxxxxxx, or AaaaAaaa


def _annotations(data: dict[str, Any]) -> dict[str, str]:
    found = value_or_none(data, ("metadata", "annotations"))
    return {key: value for key, value in found.items() if isinstance(value, str)} if isinstance(found, dict) else {}
