"""Warnings of the API server that do not depend on the schema: deprecated versions, finalizers, owner references.

Source: the API extensions server's ``customresource_handler.go`` and ``pkg/registry/customresource``; k8s.io/apiserver,
``pkg/endpoints/handlers/rest.go``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver.admission import metadata_of
from crdcompat.apiserver.gotext import quote

if TYPE_CHECKING:
    from crdcompat.apiserver.server_versions import Server
    from crdcompat.crds.model import Crd, CrdVersion
    from crdcompat.schema.paths import Object

#: Finalizers of Kubernetes itself, which need no domain.
_STANDARD_FINALIZERS = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
_PREFER = "prefer a domain-qualified finalizer name"
_WHY = "to avoid accidental conflicts with other finalizer writers"
_DUPLICATE_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
    "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)


def warnings_of(
    version: CrdVersion, crd: Crd, new: Object | None, old: Object | None, server: Server
) -> tuple[str, ...]:
    """The warnings of a write: ``new`` is the object to store, None if it is refused, ``old`` the stored one."""
    found = []
    if version.raw.get("deprecated") is True and server.does("deprecation_warnings"):
        text = version.raw.get("deprecationWarning")
        found.append(text if isinstance(text, str) else f"{crd.group}/{version.name} {crd.kind} is deprecated")
    if new is not None and server.does("finalizer_warnings"):
        known = set(_finalizers(old)) if old is not None else set()
        found += (text for each in sorted(set(_finalizers(new)) - known) for text in _of_finalizer(each, server))
    return tuple(found)


def _finalizers(obj: Object) -> Iterator[str]:
    found = metadata_of(obj).get("finalizers")
    return (each for each in (found if isinstance(found, list) else ()) if isinstance(each, str))


def _of_finalizer(name: str, server: Server) -> Iterator[str]:
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        path = " including a path (/)" if "." in name and server.does("finalizer_path_warnings") else ""
        yield f"metadata.finalizers: {quote(name)}: {_PREFER}{path} {_WHY}"


def deduplicated(owners: Any, server: Server) -> tuple[Any, tuple[str, ...]]:
    """The owner references of a request without equal ones, and the warning if there were any."""
    if not isinstance(owners, list) or not server.does("owners_deduplicated"):
        return owners, ()
    kept: list[Any] = []
    again = []
    for owner in owners:
        if owner in kept:
            again.append(str(owner.get("uid", "")) if isinstance(owner, dict) else "")
        else:
            kept.append(owner)
    return kept, ((_DUPLICATE_OWNERS + ", ".join(again),) if again else ())
