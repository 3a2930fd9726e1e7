"""The rules about a CRD outside its schemas: group, scope, names, versions, status, approval.

Source: apiextensions-apiserver, pkg/apis/apiextensions/validation/validation.go
(validateCustomResourceDefinitionSpec and what it calls).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver import metadata
from crdcompat.apiserver.cel.gourl import URLError, parse_request_uri
from crdcompat.apiserver.crd_validation import shown
from crdcompat.apiserver.crd_validation.decoded_keywords import Schema, anywhere
from crdcompat.apiserver.crd_validation.definition import Definition, VersionForm, fault
from crdcompat.apiserver.crd_validation.tolerated import Tolerated
from crdcompat.apiserver.field_errors import INVALID, NOT_SUPPORTED, REQUIRED, FieldError
from crdcompat.apiserver.gotext import quote
from crdcompat.apiserver.metadata import dns1035_label_errors
from crdcompat.apiserver.metadata.object_names import subdomain_errors
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.wording import supported_values
from crdcompat.schema.paths import Pointer

_SPEC: Pointer = ("spec",)
_VERSIONS: Pointer = ("spec", "versions")
_NAMES: Pointer = ("spec", "names")
_STORED: Pointer = ("status", "storedVersions")
APPROVED = "api-approved.kubernetes.io"
_APPROVAL: Pointer = ("metadata", "annotations", APPROVED)
PRESERVES = "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
_MIXED_CASE = "may have mixed case, but should otherwise match: "


def metadata_faults(form: Definition, current: Definition | None) -> Iterator[FieldError]:
    """The faults of metadata; the name of a new CRD has to be PLURAL.GROUP."""
    server, meta = form.server, dict(form.metadata)
    meta.pop("generation", None)  # the server sets it
    if current is not None:
        yield from metadata.validate_update(meta, dict(current.metadata), server)
        return
    meta.pop("namespace", None)  # the server clears it
    yield from metadata.validate_create(meta, namespaced=False, server=server)
    required = f"{form.names.get('plural', '')}.{form.group}"
    for member, text in (("generateName", meta.get("generateName")), ("name", metadata.name_of_new(meta))):
        if text and text != required:
            yield fault(INVALID, ("metadata", member), text, 'must be spec.names.plural+"."+spec.group', server)


def spec_faults(form: Definition, tolerated: Tolerated) -> Iterator[FieldError]:
    """The faults of the spec beside those of schemas, subresources, columns and conversion."""
    yield from _group(form)
    yield from _one_of(form, (*_SPEC, "scope"), form.scope, ("Cluster", "Namespaced"))
    if not tolerated.no_schema and form.schema is None:
        for index, version in enumerate(form.versions):
            if version.schema is None:
                at = (*_VERSIONS, index, "schema", "openAPIV3Schema")
                yield fault(
                    REQUIRED,
                    at,
                    "",
                    "" if form.server.does("plain_rule_texts") else "schemas are required",
                    form.server,
                )
    elif not form.preserve_unknown_fields and form.schema is None:
        for index, version in enumerate(form.versions):
            if version.served and version.schema is None:
                at = (*_VERSIONS, index, "schema", "openAPIV3Schema")
                yield fault(REQUIRED, at, "", "because otherwise all fields are pruned", form.server)
    if form.preserve_unknown_fields and any(anywhere(schema, _has_default) for schema in form.schemas()):
        detail = "must be false in order to use defaults in the schema"
        yield fault(INVALID, (*_SPEC, "preserveUnknownFields"), True, detail, form.server)
    yield from _versions(form)
    for name in ("plural", "singular", "kind", "listKind"):
        if not form.names.get(name):
            yield fault(REQUIRED, (*_NAMES, name), "", "", form.server)
    yield from _names(form, form.names, _NAMES)


def _has_default(schema: Schema) -> bool:
    return "default" in schema


def _group(form: Definition) -> Iterator[FieldError]:
    at = (*_SPEC, "group")
    if not form.group:
        yield fault(REQUIRED, at, "", "", form.server)
    elif said := subdomain_errors(form.group, form.server):
        yield fault(INVALID, at, form.group, ",".join(said), form.server)
    elif "." not in form.group:
        yield fault(INVALID, at, form.group, "should be a domain with at least one dot", form.server)


def _one_of(form: Definition, at: Pointer, value: str, known: tuple[str, ...]) -> Iterator[FieldError]:
    if not value:
        yield fault(REQUIRED, at, "", "", form.server)
    elif value not in known:
        yield fault(NOT_SUPPORTED, at, value, supported_values(known), form.server)


def _versions(form: Definition) -> Iterator[FieldError]:
    names = [version.name for version in form.versions]
    for index, version in enumerate(form.versions):
        if said := dns1035_label_errors(version.name):
            yield fault(INVALID, (*_VERSIONS, index, "name"), version.name, ",".join(said), form.server)
        yield from _deprecation(form, version, (*_VERSIONS, index, "deprecationWarning"))
    said = ["must contain unique version names"] * (len(set(names)) < len(names))
    if sum(version.storage for version in form.versions) != 1:
        said.append("must have exactly one version marked as storage version")
    for detail in said:
        every = shown.versions(form.versions, form.server, given=form.has_versions)
        yield fault(INVALID, _VERSIONS, every, detail, form.server)
    if names and (said := dns1035_label_errors(names[0])) and names[0]:
        yield fault(INVALID, (*_SPEC, "version"), names[0], ",".join(said), form.server)


def _deprecation(form: Definition, version: VersionForm, at: Pointer) -> Iterator[FieldError]:
    warning = version.deprecation_warning
    if warning is None:
        return
    if not version.deprecated:
        said = ["can only be set for deprecated versions"]
    else:
        said = []
        if len(warning.encode()) > 256:
            said.append("must be <= 256 characters long")
        if not warning:
            said.append("must not be an empty string")
        if (found := next((i for i, char in enumerate(warning) if not char.isprintable()), None)) is not None:
            index = len(warning[:found].encode())
            said.append(f"must only contain printable UTF-8 characters; non-printable character found at index {index}")
    for text in said:
        yield fault(INVALID, at, warning, text, form.server)


def _names(form: Definition, names: Mapping[str, Any], at: Pointer) -> Iterator[FieldError]:
    for member, mixed in (("plural", False), ("singular", False), ("kind", True), ("listKind", True)):
        text = names.get(member, "")
        if text and (said := dns1035_label_errors(text.lower() if mixed else text)):
            yield fault(INVALID, (*at, member), text, (_MIXED_CASE if mixed else "") + ",".join(said), form.server)
    if names.get("kind") and names.get("kind") == names.get("listKind"):
        yield fault(INVALID, (*at, "listKind"), names["kind"], "kind and listKind may not be the same", form.server)
    for member in ("shortNames", "categories"):
        for index, text in enumerate(names.get(member, ())):
            if said := dns1035_label_errors(text):
                yield fault(INVALID, (*at, member, index), text, ",".join(said), form.server)


def update_faults(form: Definition, current: Definition, tolerated: Tolerated) -> Iterator[FieldError]:
    """The faults of fields that an update cannot change."""
    fields = [((*_SPEC, "group"), form.group, current.group)]
    fields.append(((*_NAMES, "plural"), form.names.get("plural", ""), current.names.get("plural", "")))
    if not tolerated.names:
        fields.append(((*_SPEC, "scope"), form.scope, current.scope))
        fields.append(((*_NAMES, "kind"), form.names.get("kind", ""), current.names.get("kind", "")))
    for at, new, old in fields:
        if new != old:
            yield fault(INVALID, at, new, "field is immutable", form.server)


def status_faults(form: Definition, current: Definition | None) -> Iterator[FieldError]:
    """The faults of the status that the server gives a CRD: accepted names, stored versions."""
    yield from _names(form, form.accepted_names, ("status", "acceptedNames"))
    server, stored = form.server, form.stored_versions
    if not stored:
        nothing = shown.strings(None if current is None else ())
        yield fault(INVALID, _STORED, nothing, "must have at least one stored version", server)
    for version in form.versions if stored else ():
        if version.storage and version.name not in stored:
            value = shown.strings(stored) if server.does("stored_versions_value") else shown.version(version, server)
            yield fault(INVALID, _STORED, value, f"must have the storage version {version.name}", server)
    known = {version.name for version in form.versions}
    for index, name in enumerate(stored):
        if name not in known:
            yield fault(INVALID, (*_STORED, index), name, stored_version_text(name, server), server)


def stored_version_text(name: str, server: Server) -> str:
    if not server.does("stored_version_text"):
        return "must appear in spec.versions"
    return (
        f"missing from spec.versions; {name} was previously a storage version, and must remain in spec.versions until "
        f"a storage migration ensures no data remains persisted in {name} and removes {name} from status.storedVersions"
    )


def approval_faults(form: Definition, current: Definition | None) -> Iterator[FieldError]:
    """The faults of groups that Kubernetes protects: they need an annotation that approves the API."""
    if not any(form.group == name or form.group.endswith(f".{name}") for name in ("k8s.io", "kubernetes.io")):
        return
    text = (form.metadata.get("annotations") or {}).get(APPROVED, "")
    state = _approval(text)
    if current is not None and _approval((current.metadata.get("annotations") or {}).get(APPROVED, "")) == state:
        return
    must = f"protected groups must have approval annotation {quote(APPROVED)}"
    see = "see https://github.com/kubernetes/enhancements/pull/1111"
    if state == "missing":
        yield fault(REQUIRED, _APPROVAL, "", f"{must}, {see}", form.server)
    elif state == "invalid":
        detail = f'{must} with either a URL or a reason starting with "unapproved", {see}'
        yield fault(INVALID, _APPROVAL, text, detail, form.server)


def _approval(text: str) -> str:
    if not text:
        return "missing"
    if text.startswith("unapproved"):
        return "bypassed"
    try:
        url = parse_request_uri(text)
    except URLError:
        return "invalid"
    return "approved" if url.host and url.scheme else "invalid"


def preserve_faults(form: Definition, current: Definition | None) -> Iterator[FieldError]:
    if form.preserve_unknown_fields and not (current is not None and current.preserve_unknown_fields):
        yield fault(INVALID, (*_SPEC, "preserveUnknownFields"), True, PRESERVES, form.server)
