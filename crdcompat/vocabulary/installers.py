"""Who installs CRDs, upgrades them and rolls them back (docs/installers.md)."""

from __future__ import annotations

from enum import StrEnum


class Installer(StrEnum):
    """What puts the CRDs of a release into a cluster."""

    CVO = "cvo"
    OLM_V0 = "olm-v0"
    OLM_V1 = "olm-v1"
    HELM_TEMPLATES = "helm-templates"
    HELM_CRDS = "helm-crds"
    APPLY = "apply"
