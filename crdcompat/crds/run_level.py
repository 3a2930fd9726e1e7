"""The run level of an OpenShift manifest: whether it is applied before or after the API server is updated.

The cluster-version operator applies the manifests of a release by the number in their names
(``0000_<level>_<component>_``) and begins a level when the one before is complete; the components of one level go in
parallel. The manifests of the kube-apiserver operator are level 20, and the operator has to report the new version
before level 21 begins. So a CRD of level 20 or lower is applied while the other release's API server still serves, on
upgrades and on rollbacks (openshift/cluster-version-operator, docs/user/reconciliation.md; openshift/kubernetes#1911).
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_NAME = re.compile(r"(?:^|/)0000_(\d\d)_[^/]*$")
#: The level of the kube-apiserver operator.
_API_SERVER = 20


def run_level(files: Iterable[str]) -> int | None:
    """The lowest run level in the names of files; None if no name has one."""
    levels = [int(found[1]) for file in files if (found := _NAME.search(file))]
    return min(levels, default=None)


def precedes_api_server(level: int | None) -> bool:
    """Whether a manifest of this level meets the API server of the release that is left."""
    return level is not None and level <= _API_SERVER
