"""Feature gates of OpenShift: in which contexts a manifest exists, and which gates a release turns on.

The annotation ``release.openshift.io/feature-gate`` lists gates, separated by commas: all of them have to be on, those
with a minus sign off (openshift/library-go#2067). ``payload-manifests/featuregates`` says per feature set and profile
which are on. Before OpenShift 4.12 the annotation named a feature set.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.crds.context import GATE, PROFILE, Where
from crdcompat.errors import Problem
from crdcompat.prefilter.candidates import is_gate_list
from crdcompat.yaml.documents import read_documents

if TYPE_CHECKING:
    from crdcompat.sources.tree import Entry, Tree

_SOURCE = "features/features.go"
_DECLARED = re.compile(rb'newFeatureGate\("(\w+)"\)')


def gate_names(annotations: Mapping[str, str]) -> list[str]:
    """The gates that a manifest needs, those that have to be off with a minus sign."""
    return [name.strip() for name in annotations.get(GATE, "").split(",") if name.strip()]


class GatePlace(Struct, frozen=True):
    """The line of a file where the source declares a gate."""

    file: str
    line: int


class FeatureGates(Struct, frozen=True, eq=False):
    """The gates of a tree: those that are on, per feature set and profile, and where each is declared.

    ``problems`` are lists of gates that could not be read.
    """

    enabled: Mapping[Where, frozenset[str]]
    declared: Mapping[str, GatePlace]
    problems: tuple[Problem, ...] = ()

    def of(self, annotations: Mapping[str, str]) -> dict[Where, bool]:
        """Whether a cluster gets a manifest with these annotations, where that depends on gates and is known."""
        wanted = gate_names(annotations)
        if not wanted:
            return {}
        found = {where: _allows(wanted, where, on) for where, on in self.enabled.items()}
        sets = {feature_set for feature_set, _ in found}
        without_profile = {
            (name, ""): any(allowed for (feature_set, _), allowed in found.items() if feature_set == name)
            for name in sets
        }
        return {**without_profile, **found}


NO_GATES = FeatureGates({}, {})


def read_gates(tree: Tree, entries: Iterable[Entry]) -> FeatureGates:
    """The gates of ``tree``. Raises SourceError."""
    wanted = [entry for entry in entries if is_gate_list(entry.path) or entry.path == _SOURCE]
    if not any(is_gate_list(entry.path) for entry in wanted):
        return NO_GATES
    enabled: dict[Where, frozenset[str]] = {}
    declared: dict[str, GatePlace] = {}
    problems: list[Problem] = []
    for entry, data in tree.read(wanted):
        if entry.path == _SOURCE:
            for line, text in enumerate(data.splitlines(), 1):
                declared.update((name.decode(), GatePlace(entry.path, line)) for name in _DECLARED.findall(text))
        else:
            documents = list(read_documents(data, entry.path))
            problems += (item for item in documents if isinstance(item, Problem))
            enabled.update(_enabled(item.data for item in documents if not isinstance(item, Problem)))
    return FeatureGates(enabled, declared, tuple(problems))


def _enabled(documents: Iterable[Any]) -> Iterator[tuple[Where, frozenset[str]]]:
    for found in documents:
        if not isinstance(found, dict) or found.get("kind") != "FeatureGate":
            continue
        feature_set = _part(found, "spec").get("featureSet") or "Default"
        notes = _part(_part(found, "metadata"), "annotations")
        listed = _part(found, "status").get("featureGates")
        on = frozenset(
            gate["name"]
            for version in (listed if isinstance(listed, list) else ())
            for gate in (_part(version, "enabled", list) or ())
            if isinstance(gate, dict) and isinstance(gate.get("name"), str)
        )
        for key in notes:
            if isinstance(key, str) and key.startswith(PROFILE):
                yield (str(feature_set), key[len(PROFILE) :]), on


def _part(holder: Any, key: str, kind: type = dict) -> Any:
    """A member of an object; empty if it is missing or of another type."""
    value = holder.get(key) if isinstance(holder, dict) else None
    return value if isinstance(value, kind) else kind()


def _allows(wanted: Iterable[str], where: Where, on: frozenset[str]) -> bool:
    feature_set, _ = where
    return all(
        name.removeprefix("-") not in on if name.startswith("-") else name in on or name == feature_set
        for name in wanted
    )
