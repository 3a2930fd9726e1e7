"""Which server --kube-version and --openshift-version mean."""

from __future__ import annotations

from crdcompat.apiserver.eras import Server, kubernetes_server, openshift_server
from crdcompat.errors import UsageError


def chosen_server(kube_version: str | None, openshift_version: str | None) -> Server | None:
    """The server asked for, None if neither option is given. Raises UsageError for both at once."""
    if kube_version and openshift_version:
        raise UsageError("--kube-version and --openshift-version exclude each other")
    if openshift_version:
        return openshift_server(openshift_version)
    return kubernetes_server(kube_version) if kube_version else None
