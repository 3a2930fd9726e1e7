"""Layouts of recordings: which files contain objects, and what a path says of its object (docs/cluster.md#sources).

In must-gather and inspect trees, each object has its apiVersion and kind. The insights operator omits both in about
half of its files; there the path gives the group and the kind, but not the version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from crdcompat.crds.model import Crd
from crdcompat.crds.resolving import Resolved
from crdcompat.sources.archive import ARCHIVE_NAMES
from crdcompat.sources.recording import OBJECT_EXTENSIONS, holds_crds

A_CRD = "a CRD, no object: name the recording as OLD or NEW to have its CRDs read"

#: YAML or JSON without objects: output of `oc` for people, and API discovery.
_NOT_READ = re.compile(r"(?:^|/)(?:oc_cmds/|aggregated-discovery-apis?\.yaml$)")
_GATHERER = re.compile(r"^[^/]*(?:must-gather|inspect\.local)[^/]*/(?:[^/]+-sha256-[0-9a-f]+/)?")


class Hint(Struct, frozen=True):
    """The type of an object by its path: its group, and its kind, singular or plural in lower case."""

    group: str
    resource: str

    def __str__(self) -> str:
        return f"{self.resource}.{self.group}" if self.group else self.resource


def holds_objects(path: str) -> bool:
    """Whether a file of a recording may contain objects, by its path."""
    plain = path.lower().removesuffix(".gz")
    return plain.endswith(OBJECT_EXTENSIONS) and not _NOT_READ.search(path) and not holds_crds(path)


def why_left_out(path: str) -> str:
    """The reason why a file that ``holds_objects`` rejects was left out; "" where the report needs none (logs)."""
    if path.lower().endswith(ARCHIVE_NAMES):
        return "an archive inside the recording: name it itself to have it read"
    if not path.lower().removesuffix(".gz").endswith(OBJECT_EXTENSIONS):
        return ""
    return A_CRD if holds_crds(path) else "no objects"


def shown_path(path: str) -> str:
    """A path inside a recording, without the folders of the recording and of the image that gathered it."""
    return _GATHERER.sub("", path)


def is_json(path: str) -> bool:
    """Whether a file is JSON by its name. `oc get -o json > FILE` leaves an empty or truncated file when it fails."""
    return path.lower().removesuffix(".gz").endswith((".json", ".ndjson", ".jsonl"))


def hint_of(path: str) -> Hint | None:
    """The type of the object in a file by the file's path; None if the path does not reveal it."""
    parts = _parts(path)
    return next((hint for at in range(len(parts)) if (hint := _hint_from(parts[at:])) is not None), None)


def hint_of_list(path: str, data: Mapping[str, Any]) -> Hint | None:
    """The type of the items of a List without items, by its kind, else by its path; None if neither reveals it."""
    kind, api_version = data["kind"], data.get("apiVersion")
    if kind != "List":
        group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
        return Hint(group, kind.removesuffix("List").lower())
    match path.rpartition(".")[0].split("/"):
        case [*_, "cluster-scoped-resources", group, resource] | [*_, "namespaces", _, group, resource] if "." in group:
            return Hint(group, resource)
    return None


def holds_data(path: str) -> bool:
    """Whether a file contains data of the gatherer and no object: alerts, statistics, configuration."""
    parts = _parts(path)
    return any(_is_data(parts[at:]) for at in range(len(parts)))


def complete(data: Mapping[str, Any], hint: Hint, *known: Mapping[tuple[str, str], Resolved]) -> dict[str, Any] | None:
    """An object with the apiVersion and kind of its ``hint``; None if no known CRD has this name.

    ``known`` are CRDs by (group, kind); the first match counts. The version is the one in the object's selfLink, else
    the storage version of the CRD.
    """
    crd = crd_of(hint, *known)
    if crd is None:
        return None
    version = _version_of_link(data, crd.group) or (crd.storage_version or crd.versions[0]).name
    return {**data, "apiVersion": f"{crd.group}/{version}", "kind": crd.kind}


def crd_of(hint: Hint, *known: Mapping[tuple[str, str], Resolved]) -> Crd | None:
    """The first of the ``known`` CRDs, by (group, kind), that has the group and the name of the ``hint``."""
    for crds in known:
        for (group, kind), resolved in crds.items():
            crd = resolved.crd
            if group == hint.group and hint.resource in (crd.plural, kind.lower(), _singular(crd.raw)):
                return crd
    return None


def with_metadata(path: str, data: dict[str, Any]) -> dict[str, Any]:
    """An object with metadata: for some, the insights operator keeps only a ``name`` at the top level."""
    name = data.get("name")
    if "metadata" in data or not isinstance(name, str):
        return data
    match _parts(path)[-6:]:
        case [*_, "clusteroperator", _, _, _]:
            metadata = {"name": name}
        case [*_, "clusteroperator", _, _, namespace, _]:
            metadata = {"name": name, "namespace": namespace}
        case _:
            return data
    return {**{key: value for key, value in data.items() if key != "name"}, "metadata": metadata}


def _version_of_link(data: Mapping[str, Any], group: str) -> str:
    """The version in an object's ``metadata.selfLink``, which servers before Kubernetes 1.20 set; "" without one."""
    metadata = data.get("metadata")
    link = metadata.get("selfLink") if isinstance(metadata, dict) else None
    match link.split("/") if isinstance(link, str) else []:
        case ["", "apis", link_group, version, _, *_] if link_group == group:
            return version
    return ""


def _singular(raw: Mapping[str, Any]) -> Any:
    return raw["spec"]["names"].get("singular")  # `read_crd` has validated spec and names


def _parts(path: str) -> list[str]:
    plain = path.removesuffix(".gz")
    return plain.removesuffix(".json").split("/") if plain.endswith(".json") else []


_CONFIG = "config.openshift.io"
#: ``config/NAME.json``: the only object of its kind.
_CLUSTER_WIDE = {
    "version": "clusterversion",
    **{
        name: name
        for name in (
            "apiserver",
            "authentication",
            "build",
            "console",
            "dns",
            "featuregate",
            "image",
            "infrastructure",
            "ingress",
            "network",
            "oauth",
            "operatorhub",
            "project",
            "proxy",
            "scheduler",
        )
    },
}
#: ``config/FOLDER/[NAMESPACE/]NAME.json``
_FOLDERS = {
    "schedulers": Hint(_CONFIG, "schedulers"),
    **{
        name: Hint("machineconfiguration.openshift.io", name)
        for name in ("machineconfigpools", "machineconfigs", "kubeletconfigs", "containerruntimeconfigs")
    },
    **{
        name: Hint("machine.openshift.io", name)
        for name in ("machines", "machinesets", "machinehealthchecks", "controlplanemachinesets")
    },
    "machineautoscalers": Hint("autoscaling.openshift.io", "machineautoscalers"),
    "clusterautoscalers": Hint("autoscaling.openshift.io", "clusterautoscalers"),
    "securitycontextconstraint": Hint("security.openshift.io", "securitycontextconstraints"),
    "subscriptions": Hint("operators.coreos.com", "subscriptions"),
    "logging": Hint("logging.openshift.io", "clusterlogging"),
    "opentelemetry": Hint("opentelemetry.io", "opentelemetrycollectors"),
    "jaegertracing.io": Hint("jaegertracing.io", "jaegers"),
    "cost_management_metrics_configs": Hint("costmanagement-metrics-cfg.openshift.io", "costmanagementmetricsconfigs"),
    "node": Hint("", "node"),
    "pod": Hint("", "pod"),
    "persistentvolumes": Hint("", "persistentvolumes"),
    "pdbs": Hint("policy", "poddisruptionbudgets"),
    "clusterrolebinding": Hint("rbac.authorization.k8s.io", "clusterrolebinding"),
    "certificatesigningrequests": Hint("certificates.k8s.io", "certificatesigningrequests"),
    "mutatingwebhookconfigurations": Hint("admissionregistration.k8s.io", "mutatingwebhookconfigurations"),
    "validatingwebhookconfigurations": Hint("admissionregistration.k8s.io", "validatingwebhookconfigurations"),
}
#: ``config/storage/[NAMESPACE/]FOLDER/NAME.json``
_STORAGE = {
    "cephclusters": Hint("ceph.rook.io", "cephclusters"),
    "storageclusters": Hint("ocs.openshift.io", "storageclusters"),
    "storageclasses": Hint("storage.k8s.io", "storageclasses"),
}
_CONDITIONAL = {"pods": Hint("", "pods"), "imagestreams": Hint("image.openshift.io", "imagestreams")}
#: ``config/NAME.json``: data of the gatherer.
_CONFIG_DATA = frozenset(
    {
        "alerts",
        "helmchart_info",
        "id",
        "installplans",
        "metrics",
        "namespaces_with_overlapping_uids",
        "olm_operators",
        "podnetworkconnectivitychecks",
        "running_containers",
        "serviceaccounts",
        "silenced_alerts",
        "tsdb",
        "versioned_object_revision_counts",
        "workload_info",
    }
)


def _hint_from(parts: list[str]) -> Hint | None:
    """The hint in a path that starts at one of its folders."""
    match parts:
        case ["config", name] if name in _CLUSTER_WIDE:
            return Hint(_CONFIG, _CLUSTER_WIDE[name])
        case ["config", "clusteroperator", _]:
            return Hint(_CONFIG, "clusteroperator")
        case ["config", "clusteroperator", group, resource, _] | ["config", "clusteroperator", group, resource, _, _]:
            return Hint(group, resource)
        case ["config", "storage", folder, _] | ["config", "storage", _, folder, _] if folder in _STORAGE:
            return _STORAGE[folder]
        case ["config", folder, _] | ["config", folder, _, _] if folder in _FOLDERS:
            return _FOLDERS[folder]
        case ["machinesets", _, _]:
            return _FOLDERS["machinesets"]
        case ["customresources", group, resource, _] | ["customresources", group, resource, _, _]:
            return Hint(group, resource)
        case ["conditional", "namespaces", _, folder, *_] if folder in _CONDITIONAL:
            return _CONDITIONAL[folder]
        case ["cluster-scoped-resources", "core", resource, _] | ["namespaces", _, "core", resource, _]:
            return Hint("", resource)
        case ["cluster-scoped-resources", group, resource, _] | ["namespaces", _, group, resource, _] if "." in group:
            return Hint(group, resource)
    return None


def _is_data(parts: list[str]) -> bool:
    match parts:
        case ["config", name]:
            return name in _CONFIG_DATA
        case ["config", "configmaps", _, _, *_] | ["conditional", "alerts", _, *_] | ["events", _]:
            return True
        case ["aggregated", _] | ["insights-operator", _] | ["etcd_info", _] | ["namespaces", _, "pods", _, _]:
            return True
    return False
