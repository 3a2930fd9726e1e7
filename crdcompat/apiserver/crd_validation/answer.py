"""The answer of an API server to a CRD: a new one, or an update of an installed one.

The steps come in the order of the server: decoding, defaulting, conversion to the internal form, validation.
Source: apiextensions-apiserver, pkg/registry/customresourcedefinition/strategy.go and
pkg/apis/apiextensions/validation/validation.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.crd_validation import endpoints, spec
from crdcompat.apiserver.crd_validation.conversion_rules import conversion_faults
from crdcompat.apiserver.crd_validation.crd_decoding import undecodable_definition
from crdcompat.apiserver.crd_validation.decoded_keywords import anywhere
from crdcompat.apiserver.crd_validation.definition import Definition, definition_of, installed
from crdcompat.apiserver.crd_validation.installed import tolerated_in_update
from crdcompat.apiserver.crd_validation.schemas import Schemas
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.field_errors import FieldError, Unknown
from crdcompat.apiserver.metadata import name_of_new
from crdcompat.apiserver.server_versions import Server
from crdcompat.crds.model import GROUP, KIND
from crdcompat.schema.paths import Pointer


def create_crd(raw: Mapping[str, Any], server: Server, *, as_sent: bool = False) -> Verdict:
    """The answer to POST of a CRD of ``apiextensions.k8s.io/v1``.

    ``as_sent``: the CRD is the JSON of the request. In manifests, ``10.0`` is sent as ``10``.
    """
    if misfits := undecodable_definition(raw, server, as_sent=as_sent):
        return _undecodable(misfits[0][1])
    form = definition_of(raw, server)
    return _verdict(raw, form, faults_of(form, None))


def update_crd(raw: Mapping[str, Any], current: Mapping[str, Any], server: Server, *, as_sent: bool = False) -> Verdict:
    """The answer to PUT of a CRD over the installed one. ``as_sent``: see ``create_crd``."""
    if misfits := undecodable_definition(raw, server, as_sent=as_sent):
        return _undecodable(misfits[0][1])
    name, other = (_name(each) for each in (raw, current))
    if name != other:
        said = f"the name of the object ({name}) does not match the name on the URL ({other})"
        return _undecodable(said)
    if misfits := undecodable_definition(current, server):
        unknown = Unknown("", "installed CRD", f"no server can have stored it: {misfits[0][1]}")
        return Verdict(None, (), None, unknown=(unknown,))
    old = installed(current, server)
    form = definition_of(raw, server, old)
    return _verdict(raw, form, faults_of(form, old))


def _name(raw: Mapping[str, Any]) -> Any:
    metadata = raw.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None


def _undecodable(message: str) -> Verdict:
    return Verdict(False, (), None, code=400, failure=message)


def _verdict(raw: Mapping[str, Any], form: Definition, errors: list[FieldError]) -> Verdict:
    return Verdict(
        accepted=not errors,
        errors=tuple(errors),
        object=dict(raw) if not errors else None,
        code=422 if errors else 200,
        subject=(KIND, GROUP, name_of_new(form.metadata)),
    )


def faults_of(form: Definition, current: Definition | None, *, expressions: bool = True) -> list[FieldError]:
    """All faults of a CRD that decodes, at their places in its internal form.

    ``current`` is the installed CRD. Without ``expressions`` the CEL rules are not compiled.
    """
    tolerated = Tolerated() if current is None else tolerated_in_update(form, current)
    return [*_distinct(_faults(form, current, tolerated, expressions=expressions))]


def _distinct(errors: Iterator[FieldError]) -> Iterator[FieldError]:
    seen = set()
    for error in errors:
        said = (error.type, error.field, error.detail)
        if said not in seen:
            seen.add(said)
            yield error


def _faults(
    form: Definition, current: Definition | None, tolerated: Tolerated, *, expressions: bool
) -> Iterator[FieldError]:
    server = form.server
    yield from spec.metadata_faults(form, current)
    yield from spec.spec_faults(form, tolerated)
    structural = _needs_structural(form, tolerated)
    schemas = Schemas(server, tolerated, structural, expressions)
    for index, version in enumerate(form.versions):
        at: Pointer = ("spec", "versions", index)
        subresources = version.subresources if version.subresources is not None else form.subresources
        if version.schema is not None:
            has_status = "status" in (subresources or {})
            place = (*at, "schema", "openAPIV3Schema")
            yield from schemas.faults(version.schema, place, version.name, has_status=has_status)
        yield from endpoints.subresource_faults(version.subresources or {}, (*at, "subresources"), server)
        yield from endpoints.column_faults(version.columns, (*at, "additionalPrinterColumns"), server)
        if version.selectable:
            many = version.name in tolerated.many_selectable
            here = (*at, "selectableFields")
            yield from endpoints.selectable_faults(version.selectable, version.schema, here, server, many=many)
    if form.schema is not None:
        each = [form.subresources or {}, *(version.subresources or {} for version in form.versions)]
        has_status = any("status" in some for some in each)
        first = form.versions[0].name if form.versions else ""
        place = ("spec", "validation", "openAPIV3Schema")
        yield from schemas.faults(form.schema, place, first, has_status=has_status)
    yield from endpoints.subresource_faults(form.subresources or {}, ("spec", "subresources"), server)
    yield from endpoints.column_faults(form.columns, ("spec", "additionalPrinterColumns"), server)
    if form.selectable:
        many = "" in tolerated.many_selectable
        at = ("spec", "selectableFields")
        yield from endpoints.selectable_faults(form.selectable, form.schema, at, server, many=many)
    yield from conversion_faults(form, tolerated)
    if current is not None:
        yield from spec.update_faults(form, current, tolerated)
    yield from spec.status_faults(form, current)
    yield from spec.approval_faults(form, current)
    yield from spec.preserve_faults(form, current)


_EXTENSIONS = (
    *("x-kubernetes-embedded-resource", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-int-or-string"),
    *("x-kubernetes-list-map-keys", "x-kubernetes-list-type", "x-kubernetes-validations", "default"),
)


def _needs_structural(form: Definition, tolerated: Tolerated) -> bool:
    if not tolerated.unstructural or not form.preserve_unknown_fields:
        return True
    return any(anywhere(schema, lambda each: any(key in each for key in _EXTENSIONS)) for schema in form.schemas())
