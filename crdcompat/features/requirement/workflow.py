"""requirement: choose the CRD of a release, and state it as what a cluster must stay compatible with.

Source of the fields: openshift/api, ``apiextensions/v1alpha1/types_compatibilityrequirement.go``.
"""

from __future__ import annotations

from typing import Any

from crdcompat.config.applied import read_source, reader_for, shipped_alone
from crdcompat.config.configuration import Config
from crdcompat.crds.model import Crd
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import resolve_all
from crdcompat.errors import UsageError, did_you_mean
from crdcompat.vocabulary import Side
from crdcompat.yaml.dump import to_yaml

API_VERSION, KIND = "apiextensions.openshift.io/v1alpha1", "CompatibilityRequirement"
#: Characters of ``spec.compatibilitySchema.customResourceDefinition.data``.
_MOST = 1_572_864
_KEPT = ("name", "labels", "annotations")


def requirement(source: str, name: str, config: Config, *, context: str | None, action: str, repo: str | None) -> str:
    """The requirement, as YAML: the CRD ``name`` of a source, all its served versions; ``action`` is Deny or Warn.

    ``context`` chooses one of several variants. Raises SourceError, RefNotFoundError, and UsageError for a CRD that the
    source does not have in the context, has in a form of long ago, or that is too long.
    """
    crds = shipped_alone(read_source(source, Side.OLD, reader_for(config), config, repo), config, Side.OLD)
    data = to_yaml(_definition(_chosen(crds, name, context)))
    if len(data) > _MOST:
        raise UsageError(f"{name} has {len(data):,} characters as YAML; a {KIND} takes {_MOST:,}")
    made = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name},
        "spec": {
            "compatibilitySchema": {
                "customResourceDefinition": {"type": "YAML", "data": data},
                "requiredVersions": {"defaultSelection": "AllServed"},
            },
            "customResourceDefinitionSchemaValidation": {"action": action},
            "objectSchemaValidation": {"action": action},
        },
    }
    return to_yaml(made)


def _chosen(crds: CrdSet, name: str, context: str | None) -> Crd:
    """The CRD as a cluster of the context gets it."""
    chosen, resolved = resolve_all(crds, crds, context)
    by_name = {each.name: each for each in resolved.values()}
    if name not in by_name:
        everywhere = f" in {chosen}" if name in crds.named() else ""
        raise UsageError(f"{crds.name} has no CRD {name}{everywhere}{did_you_mean(name, by_name)}")
    found = by_name[name]
    if len({id(version.document) for version in found.versions.values()}) > 1:
        files = ", ".join(sorted({version.document.file for version in found.versions.values()}))
        raise UsageError(f"{name} has its versions in several files ({files}): name one of them as OLD")
    return found.crd


def _definition(crd: Crd) -> dict[str, Any]:
    """The manifest of a CRD without what a server added to it."""
    if crd.raw["apiVersion"] != "apiextensions.k8s.io/v1":
        raise UsageError(f"{crd.name} is written as {crd.raw['apiVersion']}: a {KIND} takes apiextensions.k8s.io/v1")
    metadata = {key: crd.raw["metadata"][key] for key in _KEPT if key in crd.raw["metadata"]}
    return {
        "apiVersion": crd.raw["apiVersion"],
        "kind": "CustomResourceDefinition",
        "metadata": metadata,
        "spec": crd.raw["spec"],
    }
