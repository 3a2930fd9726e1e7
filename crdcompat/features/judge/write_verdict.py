"""The verdict on one write: which version of a CRD judges it, on which server, by which kind of write."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from crdcompat.apiserver import patching, requests
from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.ownership import Applier
from crdcompat.apiserver.sending import PLAIN, Sending
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.strategy import TOO_DEEP, Resource
from crdcompat.crds.model import Crd, CrdVersion, is_crd, read_crd
from crdcompat.errors import UsageError

#: No request of a server: it asks the schema of a version, served or not, about a whole object.
_BY_SCHEMA = "validate"
#: The kinds of create, and whether each keeps the status.
_CREATES = {"create": False, _BY_SCHEMA: True}
#: The kinds of write over a stored object. In patches ``new`` is the patch, in ``scale`` the Scale object.
_UPDATES: dict[str, Callable[..., Verdict]] = {
    "update": requests.update,
    "updateStatus": partial(requests.update, status=True),
    "mergePatch": patching.merge_patch,
    "mergePatchStatus": partial(patching.merge_patch, status=True),
    "mergePatchScale": patching.patch_scale,
    "jsonPatch": patching.json_patch,
    "jsonPatchStatus": partial(patching.json_patch, status=True),
    "jsonPatchScale": patching.patch_scale,
    "scale": patching.scale,
}
#: The kinds of server-side apply, and whether each goes to /status.
_APPLIES = {"apply": False, "applyStatus": True}
#: The request that reads the stored object's Scale object, which autoscalers begin with.
_READ_SCALE = "getScale"
#: The kinds of request that ``judge`` knows.
OPERATIONS = (*_CREATES, *_UPDATES, *_APPLIES, _READ_SCALE)


def judge_write(
    resource: Resource,
    operation: str,
    new: Any,
    old: Any = None,
    *,
    namespace: str = "",
    applier: Applier | None = None,
    sending: Sending = PLAIN,
) -> Verdict:
    """The verdict on one write; ``operation`` is one of ``OPERATIONS``. Raises UsageError for an invalid request.

    ``namespace`` is the namespace in the URL of a create (default: the object's). ``applier`` is who applies (default:
    a manager that owns no field, by force), ``sending`` how the client sends the request.
    """
    is_list = isinstance(new, list) and operation.startswith("jsonPatch")
    if not (isinstance(new, dict) or is_list or operation == _READ_SCALE):
        raise UsageError("the new object is not a JSON object")
    if operation not in OPERATIONS:
        raise UsageError(f"operation {operation!r} is not one of {', '.join(OPERATIONS)}")
    if applier is not None and operation not in _APPLIES:
        raise UsageError(f"a field manager is for {' and '.join(_APPLIES)}, not for {operation}")
    if operation not in _CREATES and not isinstance(old, dict):
        raise UsageError(f"operation {operation} needs the old object")
    if not resource.version.served and operation != _BY_SCHEMA:
        return resource.not_served()
    try:
        if operation in _CREATES:
            keep = _CREATES[operation]
            return requests.create(resource, new, keep_status=keep, namespace=namespace, sending=sending)
        if failed := patching.unreadable(resource, old):
            return failed
        if operation in _APPLIES:
            is_status = _APPLIES[operation]
            return requests.apply(resource, new, old, status=is_status, applier=applier, sending=sending)
        if operation == _READ_SCALE:
            return patching.read_scale(resource, old)
        return _UPDATES[operation](resource, new, old, sending=sending)
    except RecursionError:
        raise UsageError(TOO_DEEP) from None


def resource_of(crd: Crd | dict[str, Any], version: str | None, server: Server) -> Resource:
    """One version of a CRD on a server; by default its storage version. Raises UsageError."""
    if isinstance(crd, dict):
        if not is_crd(crd):
            raise UsageError("not a CustomResourceDefinition of apiextensions.k8s.io/v1 or v1beta1")
        crd = read_crd(crd)
    found: CrdVersion | None = crd.version(version) if version else crd.storage_version
    if found is None:
        names = ", ".join(item.name for item in crd.versions)
        raise UsageError(f"{crd.name} has no version {version or 'marked as storage'}; it has {names}")
    return Resource(crd, found, server)


#: The writes of CRDs themselves: a new one, and an update of an installed one.
CRD_OPERATIONS = ("createCRD", "updateCRD")


def judge_crd(operation: str, new: Any, old: Any, server: Server, *, as_sent: bool = False) -> Verdict:
    """The verdict on one write of a CRD. Raises UsageError for an invalid request. ``as_sent``: see ``create_crd``."""
    from crdcompat.apiserver.crd_validation.answer import create_crd, update_crd

    if not isinstance(new, dict):
        raise UsageError("the new CRD is not a JSON object")
    if operation == "updateCRD" and not isinstance(old, dict):
        raise UsageError("operation updateCRD needs the installed CRD as old object")
    try:
        if operation == "createCRD":
            return create_crd(new, server, as_sent=as_sent)
        return update_crd(new, old, server, as_sent=as_sent)
    except RecursionError:
        raise UsageError(TOO_DEEP) from None


def version_of(obj: Any) -> str | None:
    """The version in the object's apiVersion, if it has one."""
    api_version = obj.get("apiVersion") if isinstance(obj, dict) else None
    return api_version.rpartition("/")[2] if isinstance(api_version, str) else None
