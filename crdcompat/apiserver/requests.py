"""What a server checks and completes in a request before the kinds of write (``strategy``): metadata above all.

Source: k8s.io/apiserver, ``pkg/endpoints/handlers`` and ``pkg/registry/rest``; the API extensions server's
``customresource_handler.go``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict, metadata_of
from crdcompat.apiserver.extensions import misfit_of_embedded
from crdcompat.apiserver.field_errors import INVALID, FieldError
from crdcompat.apiserver.gotext import quote, range_error
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.metadata import undecodable
from crdcompat.apiserver.metadata.object_names import dns_label_errors
from crdcompat.apiserver.sending import (
    PLAIN,
    Sending,
    in_etcd,
    not_strict,
    not_strict_apply,
    other_type,
    other_version,
    refused,
    too_large,
    unrecognized,
)
from crdcompat.apiserver.warnings import deduplicated, warnings_of
from crdcompat.vocabulary import HIDDEN
from crdcompat.vocabulary.judging import FieldValidation

if TYPE_CHECKING:
    from crdcompat.apiserver.ownership import Applier
    from crdcompat.apiserver.strategy import Resource
    from crdcompat.schema.paths import Object

#: Members that the server alone sets. A create wipes them.
_SYSTEM = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
_OTHER_NAMESPACE = "the namespace of the provided object does not match the namespace sent on the request"
_MAX_UINT64 = 2**64 - 1


def create(
    resource: Resource, raw: Object, *, keep_status: bool = False, namespace: str = "", sending: Sending = PLAIN
) -> Verdict:
    """POST of ``raw``. ``keep_status`` keeps the status, to judge a stored object as a whole.

    ``namespace`` is the namespace in the URL (default: the object's, or ``default``).
    """
    if failed := _unfit(resource, raw, sending) or _misplaced(resource, raw, namespace):
        return failed
    new, warnings = _completed(resource, raw, namespace, is_new=True)
    return finished(resource.create(new, keep_status=keep_status), resource, None, warnings, sending)


def update(
    resource: Resource, raw: Object, stored: Object, *, status: bool = False, sending: Sending = PLAIN
) -> Verdict:
    """PUT of ``raw`` over ``stored``, on the main endpoint or on /status."""
    if status and not resource.version.has_status:
        return resource.no_endpoint(stored)
    if failed := _unfit(resource, raw, sending) or misaddressed(raw, stored) or _outdated(resource, raw, stored):
        return failed
    new, warnings = _completed(resource, raw, metadata_of(stored).get("namespace"), is_new=False)
    verdict = resource.update_status(new, stored) if status else resource.update(new, stored)
    return finished(verdict, resource, stored, warnings, sending)


def apply(
    resource: Resource,
    patch: Object,
    stored: Object,
    *,
    status: bool = False,
    applier: Applier | None = None,
    sending: Sending = PLAIN,
) -> Verdict:
    """PATCH by server-side apply, by default by a manager that owns no other field. The body is YAML to the server."""
    if failed := too_large(patch) or not_strict_apply(resource, sending) or other_type(resource, patch):
        return failed
    verdict = resource.apply(_from_yaml(patch), stored, status=status, applier=applier)
    return finished(verdict, resource, stored, (), sending, is_apply=True)


def _unfit(resource: Resource, raw: Object, sending: Sending) -> Verdict | None:
    """The refusal of an object that is not one of the URL's kind and version, or that the client wants refused."""
    return (
        too_large(raw)
        or unrecognized(resource, raw)
        or not_strict(resource, raw, sending)
        or _undecodable(resource, raw)
        or other_version(resource, raw)
    )


def _undecodable(resource: Resource, raw: Object) -> Verdict | None:
    """The refusal of an object whose metadata, or that of an embedded resource, has a wrong type."""
    if raw.get("apiVersion", "") is None:
        kind, nil = resource.crd.kind, ".apiVersion accessor error: <nil> is of the type <nil>, expected string"
        return refused(400, f'{kind} in version "" cannot be handled as a {kind}: {nil}')
    error = misfit(resource, raw)
    return _unhandled(resource, error) if error else None


def _unhandled(resource: Resource, error: str) -> Verdict:
    """The refusal of an object that does not decode."""
    kind, version = resource.crd.kind, quote(resource.version.name)
    return _hiding(f"{kind} in version {version} cannot be handled as a {kind}: ", error)


def number_out_of_range(resource: Resource, number: str, *, is_patch: bool) -> Verdict:
    """The refusal of a JSON body with a number that no float64 holds; ``number`` is its spelling."""
    error = range_error(number)
    return _hiding("error decoding patch: ", error) if is_patch else _unhandled(resource, error)


def escape_not_yaml() -> Verdict:
    """The refusal of an apply with an escape of a surrogate: its body is YAML, which has no surrogates."""
    error = "yaml: found invalid Unicode character escape code"
    return refused(400, f"error decoding YAML: error converting YAML to JSON: {error}")


def misfit(resource: Resource, raw: Object) -> str:
    """The error of decoding an object's metadata and its embedded resources, or ""."""
    if error := undecodable(raw.get("metadata")):
        return error
    misfit = misfit_of_embedded(raw, resource.node, resource.server) if resource.has_embedded else None
    return misfit.text() if misfit is not None else ""


def _from_yaml(value: Any) -> Any:
    """A body after its conversion from YAML, which writes whole floats without a point: they are integers."""
    if isinstance(value, dict):
        return {name: _from_yaml(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_from_yaml(item) for item in value]
    is_whole = isinstance(value, float) and value.is_integer() and -(2.0**63) <= value < 2.0**63
    return int(value) if is_whole else value


def _misplaced(resource: Resource, raw: Object, namespace: str) -> Verdict | None:
    """The refusal of a new object with another namespace than the URL. The namespace of the URL has a valid name."""
    given = metadata_of(raw).get("namespace")
    if not given or not resource.crd.namespaced:
        return None
    is_other = given != namespace if namespace else dns_label_errors(given, resource.server)
    return refused(400, _OTHER_NAMESPACE) if is_other else None


def misaddressed(raw: Object, stored: Object) -> Verdict | None:
    """The refusal of an object with another name or namespace than the URL, which has those of the stored object."""
    new, old = metadata_of(raw), metadata_of(stored)
    if new.get("namespace") and old.get("namespace") and new["namespace"] != old["namespace"]:
        return refused(400, _OTHER_NAMESPACE)
    name, wanted = new.get("name"), old.get("name")
    if not wanted or name == wanted:
        return None
    if not name:
        return refused(400, f"the name of the object ({wanted} based on URL) was undeterminable: name must be provided")
    return refused(400, f"the name of the object ({name}) does not match the name on the URL ({wanted})")


def _outdated(resource: Resource, raw: Object, stored: Object) -> Verdict | None:
    """The refusal of an update without the resourceVersion of the stored object, if that has one."""
    known, old = metadata_of(raw).get("resourceVersion") or "", metadata_of(stored)
    if not old.get("resourceVersion"):
        return None
    if known and not re.fullmatch("[0-9]+", known, re.ASCII):
        return refused(500, f"strconv.ParseUint: parsing {quote(known)}: invalid syntax")
    if known and int(known) > _MAX_UINT64:
        return refused(500, f"strconv.ParseUint: parsing {quote(known)}: value out of range")
    if known and int(known):
        return None
    place = ("metadata", "resourceVersion")
    # The server prints a uint64, and names the resource where other refusals name the kind.
    detail = "must be specified for an update"
    error = FieldError(INVALID, place, Keyword.METADATA, 0, resource.server, ("0x0", "0"), fixed_detail=detail)
    subject = (resource.crd.plural, resource.crd.group, str(old.get("name", "")))
    return Verdict(False, (error,), None, code=422, subject=subject)


def _completed(resource: Resource, raw: Object, namespace: Any, *, is_new: bool) -> tuple[Object, tuple[str, ...]]:
    """The object with the metadata that the request's URL gives, and the warnings about its owners."""
    meta: dict[str, Any] = dict(metadata_of(raw))
    if is_new:
        for name in _SYSTEM:
            meta.pop(name, None)
    if not resource.crd.namespaced:
        meta.pop("namespace", None)
    elif not meta.get("namespace"):
        meta["namespace"] = namespace or "default"
    owners, warnings = deduplicated(meta.get("ownerReferences"), resource.server)
    if warnings:
        meta["ownerReferences"] = owners
    return ({**raw, "metadata": meta} if meta or "metadata" in raw else raw), warnings


def finished(
    verdict: Verdict,
    resource: Resource,
    stored: Object | None,
    warnings: tuple[str, ...],
    sending: Sending,
    *,
    is_apply: bool = False,
) -> Verdict:
    """The verdict with the warnings that do not depend on the schema; etcd has the last word."""
    found = verdict.warnings
    if sending.validation is FieldValidation.IGNORE:
        found = tuple(each for each in found if not each.startswith("unknown field "))
    more = warnings_of(resource.version, resource.crd, verdict.object, stored, resource.server)
    warnings = (*more, *warnings, *sending.warnings(resource, is_apply=is_apply), *found)
    verdict = in_etcd(replace(verdict, warnings=warnings), resource, sending)
    return verdict if verdict.object is None else replace(verdict, object=_read_back(verdict.object, resource, stored))


def _read_back(obj: Object, resource: Resource, stored: Object | None) -> Object:
    """What the server answers with: what is now stored, as the server reads that."""
    storage = resource.crd.storage_version
    was = resource.stored_version(stored) if stored is not None else None
    is_other = storage is not None and not (storage is resource.version and was in (None, storage))
    if storage is not None and is_other and resource.crd.conversion_strategy == "None":
        # Without what the storage version does not declare, and with its defaults, which an object that another version
        # stored can lack, and a new one whose status the server dropped.
        return resource.live({**obj, "apiVersion": f"{resource.crd.group}/{storage.name}"})
    # What a webhook makes of the object is not known.
    return resource.read(obj).object if stored is None and "status" in resource.node.properties else obj


def _hiding(said: str, error: str) -> Verdict:
    """A 400 whose error can show values."""
    return refused(400, said + error, said + HIDDEN)
