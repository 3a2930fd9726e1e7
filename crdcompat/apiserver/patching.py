"""Requests that do not send the whole object: JSON patch, JSON merge patch, and those to /scale.

Source: k8s.io/apiserver, ``pkg/endpoints/handlers/patch.go``; the API extensions server's
``pkg/registry/customresource/etcd.go``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.field_errors import Unknown
from crdcompat.apiserver.gotext import compact_json, json_kind, quote
from crdcompat.apiserver.patch import PatchError
from crdcompat.apiserver.patch import json_patch as json_patched
from crdcompat.apiserver.patch import merge_patch as merged
from crdcompat.apiserver.requests import finished, misaddressed, misfit
from crdcompat.apiserver.scale import is_scale, misfit_of_scale, scale_of, unknown_of_scale, unset_replicas
from crdcompat.apiserver.sending import PLAIN, Sending, not_strict_patch, refused, too_large, unfit_patch

if TYPE_CHECKING:
    from crdcompat.apiserver.strategy import Resource
    from crdcompat.schema.paths import Object

_MAX_OPERATIONS = 10_000
#: What a patch of /scale finds where the object has no replicas.
_UNSET = -(2**31)
_NOT_APPLICABLE = "the server rejected our request due to an error in our request"
#: The line in the source of the server's scheme: another one in each minor.
_NO_SCALE = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go"'


def merge_patch(
    resource: Resource, patch: Any, stored: Object, *, status: bool = False, sending: Sending = PLAIN
) -> Verdict:
    """PATCH with a JSON merge patch, on the main endpoint or on /status."""
    if status and not resource.version.has_status:
        return resource.no_endpoint(stored)
    if failed := too_large(patch) or _no_merge_patch(patch):
        return failed
    return _patch(resource, merged(resource.live(stored), patch), stored, sending, status=status)


def json_patch(
    resource: Resource, patch: Any, stored: Object, *, status: bool = False, sending: Sending = PLAIN
) -> Verdict:
    """PATCH with a JSON patch, on the main endpoint or on /status."""
    if status and not resource.version.has_status:
        return resource.no_endpoint(stored)
    if failed := too_large(patch) or _no_json_patch(patch):
        return failed
    try:
        whole = json_patched(resource.live(stored), patch)
    except PatchError:
        return refused(422, _NOT_APPLICABLE)
    return _patch(resource, whole, stored, sending, status=status)


def _no_merge_patch(patch: Any) -> Verdict | None:
    if isinstance(patch, dict):
        return None
    error = f"json: cannot unmarshal {json_kind(patch)} into Go value of type map[string]interface {{}}"
    return refused(400, f"error decoding patch: {error}")


def _no_json_patch(patch: Any) -> Verdict | None:
    if not isinstance(patch, list):
        error = f"json: cannot unmarshal {json_kind(patch)} into Go value of type []handlers.jsonPatchOp"
        return refused(400, f"error decoding patch: {error}")
    if len(patch) > _MAX_OPERATIONS:
        said = f"The allowed maximum operations in a JSON patch is {_MAX_OPERATIONS}, got {len(patch)}"
        return refused(413, f"Request entity too large: {said}")
    return None


def _patch(resource: Resource, whole: Any, stored: Object, sending: Sending, *, status: bool) -> Verdict:
    """The write of the object that a patch made."""
    kind = whole.get("kind") if isinstance(whole, dict) else None
    if not isinstance(kind, str) or not kind:
        return unfit_patch(resource, whole, f"Object 'Kind' is missing in '{compact_json(whole)}'")
    if str(whole.get("apiVersion")).count("/") > 1:
        return unfit_patch(resource, whole, f"unexpected GroupVersion string: {whole['apiVersion']}")
    if not whole.get("apiVersion"):
        error = "Object 'apiVersion' is missing in 'object has no apiVersion field'"
        return refused(500, f"Internal error occurred: {error}")
    if error := misfit(resource, whole):
        return unfit_patch(resource, whole, error)
    if failed := not_strict_patch(resource, whole, sending) or misaddressed(whole, stored):
        return failed
    return finished(resource.patched(whole, stored, status=status), resource, stored, (), sending)


def read_scale(resource: Resource, stored: Object) -> Verdict:
    """GET of /scale. The object of the verdict is the Scale."""
    if resource.version.scale is None:
        return resource.no_endpoint(stored)
    live = resource.live(stored)
    if unset := unset_replicas(live, resource.version.scale):
        return refused(500, f"Internal error occurred: {unset}")
    return Verdict(True, (), scale_of(live, resource.version.scale))


def scale(resource: Resource, new: Object, stored: Object, *, sending: Sending = PLAIN) -> Verdict:
    """PUT of the Scale object ``new``. The object of the verdict is the Scale that the server answers with."""
    if resource.version.scale is None:
        return resource.no_endpoint(stored)
    pruned = unknown_of_scale(new)
    if (pruned and sending.is_strict(resource)) or not is_scale(new):
        return refused(400, _NO_SCALE)
    if failed := misaddressed(new, stored):
        return failed
    return _scaled(resource, new, stored, pruned, sending)


def patch_scale(resource: Resource, patch: Any, stored: Object, *, sending: Sending = PLAIN) -> Verdict:
    """PATCH of /scale, with a JSON patch if ``patch`` is a list, else with a JSON merge patch."""
    if resource.version.scale is None:
        return resource.no_endpoint(stored)
    live, paths = resource.live(stored), resource.version.scale
    current = scale_of(live, paths)
    if unset_replicas(live, paths):
        current = {**current, "spec": {"replicas": _UNSET}}
    try:
        whole = json_patched(current, patch) if isinstance(patch, list) else merged(current, patch)
    except PatchError:
        return refused(422, _NOT_APPLICABLE)
    if fault := misfit_of_scale(whole):
        return unfit_patch(resource, whole, fault)
    if (whole.get("spec") or {}).get("replicas") == _UNSET:
        return refused(400, f"the spec replicas field {quote(str(paths.get('specReplicasPath')))} cannot be empty")
    return _scaled(resource, whole, stored, unknown_of_scale(whole), sending)


def _scaled(resource: Resource, new: Object, stored: Object, pruned: tuple[str, ...], sending: Sending) -> Verdict:
    verdict = resource.scale((new.get("spec") or {}).get("replicas"), stored)
    unknown = tuple(f"unknown field {quote(path)}" for path in pruned if resource.server.does("field_warnings"))
    verdict = finished(replace(verdict, pruned=pruned, warnings=unknown), resource, stored, (), sending)
    if verdict.object is None or resource.version.scale is None:
        return verdict
    return replace(verdict, object=scale_of(verdict.object, resource.version.scale))


def unreadable(resource: Resource, stored: Object) -> Verdict | None:
    """The answer to each write on an object whose version the CRD does not have, or a webhook has to convert."""
    version, found = stored.get("apiVersion"), resource.stored_version(stored)
    if not isinstance(version, str) or found is resource.version:
        return None
    if found is None:
        return refused(500, f"request to convert CR from an invalid group/version: {version}")
    if resource.crd.conversion_strategy == "None":
        return None
    reason = f"a webhook converts the stored object from {version}, and only the server can ask it"
    return Verdict(None, (), None, unknown=(Unknown("", "conversion", reason),))
