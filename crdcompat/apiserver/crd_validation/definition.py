"""The internal form of a CRD, in which the API server validates it.

Source: apiextensions-apiserver, pkg/apis/apiextensions/v1/conversion.go and defaults.go. Decoding drops unknown keys,
nulls and empty values; what all versions have alike moves from the versions to the spec.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.decoded_keywords import RULE_FIELDS, Schema, anywhere, decoded_schema
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.metadata.decoding import decode_object_meta
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Pointer

_FIELDS = {"selectableFields": 30}
#: Fields that the server drops, unless the installed CRD has them, until their feature gate is on by default.
GATED = {"optionalOldSelf": "ratchet_main", "selectableFields": "selectable_fields"}


class VersionForm(Struct, frozen=True):
    """One of ``spec.versions``; what moved to the spec is None or empty."""

    name: str
    served: bool
    storage: bool
    deprecated: bool
    deprecation_warning: str | None
    schema: Schema | None
    subresources: Mapping[str, Any] | None
    columns: tuple[Mapping[str, Any], ...]
    selectable: tuple[Mapping[str, Any], ...]


class Definition(Struct, frozen=True):
    """A CRD in the internal form, and the server that decoded it."""

    server: Server
    metadata: Mapping[str, Any]
    group: str
    names: Mapping[str, Any]
    scope: str
    versions: tuple[VersionForm, ...]
    has_versions: bool  # False: nothing or null is given, which is not the empty list
    schema: Schema | None
    subresources: Mapping[str, Any] | None
    columns: tuple[Mapping[str, Any], ...]
    selectable: tuple[Mapping[str, Any], ...]
    conversion: Mapping[str, Any]
    preserve_unknown_fields: bool
    stored_versions: tuple[str, ...]
    accepted_names: Mapping[str, Any]
    established: bool

    def schema_of(self, version: VersionForm) -> Schema | None:
        """The schema of a version, wherever it is."""
        return version.schema if version.schema is not None else self.schema

    def schemas(self) -> tuple[Schema, ...]:
        return tuple(schema for _, schema in self.placed_schemas())

    def placed_schemas(self) -> tuple[tuple[Pointer, Schema], ...]:
        """Each schema with its pointer in the internal form."""
        below = ("schema", "openAPIV3Schema")
        every: list[tuple[Pointer, Schema | None]] = [(("spec", "validation", "openAPIV3Schema"), self.schema)]
        every += [(("spec", "versions", index, *below), version.schema) for index, version in enumerate(self.versions)]
        return tuple((at, schema) for at, schema in every if schema is not None)

    def document_pointer(self, at: Pointer) -> Pointer:
        """The place in the CRD's document of what the server's internal form has at ``at``."""
        match at:
            case ("spec", "validation", *below):
                return ("spec", "versions", 0, "schema", *below)
            case ("spec", "subresources" | "selectableFields" as part, *below):
                return ("spec", "versions", 0, part, *below)
            case ("spec", "additionalPrinterColumns", *below):
                return ("spec", "versions", 0, "additionalPrinterColumns", *map(_column_key, below))
            case ("spec", "versions", index, "additionalPrinterColumns", *below):
                return ("spec", "versions", index, "additionalPrinterColumns", *map(_column_key, below))
            case ("spec", "conversion", "webhookClientConfig", *below):
                return ("spec", "conversion", "webhook", "clientConfig", *below)
            case ("spec", "conversion", "conversionReviewVersions", *below):
                return ("spec", "conversion", "webhook", "conversionReviewVersions", *below)
        return at


def _column_key(step: Any) -> Any:
    return "jsonPath" if step == "JSONPath" else step


def definition_of(raw: Mapping[str, Any], server: Server, current: Definition | None = None) -> Definition:
    """The internal form of a CRD that decodes. ``current`` is the installed CRD, for an update."""
    spec = _object(raw.get("spec"))
    names = _names(spec.get("names"))
    if kind := names.get("kind"):
        names.setdefault("singular", kind.lower())
        names.setdefault("listKind", f"{kind}List")
    kept = _kept_fields(server, current)
    versions = tuple(_version(_object(each), kept) for each in spec.get("versions") or ())
    form = Definition(
        server=server,
        metadata=decode_object_meta(raw.get("metadata"))[0],
        group=spec.get("group") or "",
        names=names,
        scope=spec.get("scope") or "",
        versions=versions,
        has_versions=spec.get("versions") is not None,
        schema=None,
        subresources=None,
        columns=(),
        selectable=(),
        conversion=_conversion(spec.get("conversion")),
        preserve_unknown_fields=spec.get("preserveUnknownFields") is True,
        stored_versions=(),
        accepted_names={},
        established=False,
    )
    return _with_status(_hoisted(form), _object(raw.get("status")), current)


def _kept_fields(server: Server, current: Definition | None) -> frozenset[str]:
    known = {name for name, since in (RULE_FIELDS | _FIELDS).items() if server.minor >= since}
    dropped = {name for name, gate in GATED.items() if not server.does(gate)}
    if current is not None:
        dropped -= _used(current)
    return frozenset(known - dropped)


def _used(current: Definition) -> set[str]:
    found = set()
    if current.selectable or any(version.selectable for version in current.versions):
        found.add("selectableFields")
    if any(anywhere(schema, _has_optional_old_self) for schema in current.schemas()):
        found.add("optionalOldSelf")
    return found


def _has_optional_old_self(schema: Schema) -> bool:
    return any("optionalOldSelf" in rule for rule in schema.get("x-kubernetes-validations", ()))


def installed(raw: Mapping[str, Any], server: Server) -> Definition:
    """The internal form of a CRD as the server reads it from its storage, with the fields of gates that are off."""
    form = definition_of(raw, server)
    everything = frozenset(name for name, since in (RULE_FIELDS | _FIELDS).items() if server.minor >= since)
    spec = _object(raw.get("spec"))
    versions = tuple(_version(_object(each), everything) for each in spec.get("versions") or ())
    bare = replace(form, versions=versions, schema=None, subresources=None, columns=(), selectable=())
    status = _object(raw.get("status"))
    conditions = status.get("conditions") or ()
    return replace(
        _hoisted(bare),
        stored_versions=tuple(_texts(status.get("storedVersions"))) or form.stored_versions,
        accepted_names=_names(status.get("acceptedNames")),
        established=any(_is_established(each) for each in conditions),
    )


def _is_established(condition: Any) -> bool:
    return isinstance(condition, dict) and condition.get("type") == "Established" and condition.get("status") == "True"


def _with_status(form: Definition, status: Mapping[str, Any], current: Definition | None) -> Definition:
    """The form with the status that the server gives it: of a new CRD the storage version, else the installed one's."""
    stored = current.stored_versions if current is not None else ()
    storage = next((version.name for version in form.versions if version.storage), None)
    if storage is not None and storage not in stored:
        stored = (*stored, storage)
    return replace(form, stored_versions=stored, accepted_names=current.accepted_names if current is not None else {})


def _hoisted(form: Definition) -> Definition:
    """The form with the parts that are equal in all versions moved to the spec."""
    if not form.versions:
        return form
    first, changes, cleared = form.versions[0], {}, {}
    nothing: dict[str, Any] = {"schema": None, "subresources": None, "columns": (), "selectable": ()}
    for part, absent in nothing.items():
        value = getattr(first, part)
        if all(getattr(version, part) == value for version in form.versions[1:]):
            changes[part], cleared[part] = value, absent
    return replace(form, versions=tuple(replace(version, **cleared) for version in form.versions), **changes)


def _version(raw: Mapping[str, Any], kept: frozenset[str]) -> VersionForm:
    parent = raw.get("schema")
    schema = parent.get("openAPIV3Schema") if isinstance(parent, dict) else None
    subresources = raw.get("subresources")
    return VersionForm(
        name=raw.get("name") or "",
        served=raw.get("served") is True,
        storage=raw.get("storage") is True,
        deprecated=raw.get("deprecated") is True,
        deprecation_warning=raw.get("deprecationWarning"),
        schema=decoded_schema(schema, kept) if isinstance(schema, dict) else None,
        subresources=_present(subresources) if isinstance(subresources, dict) else None,
        columns=tuple(_present(each) for each in raw.get("additionalPrinterColumns") or ()),
        selectable=tuple(_present(each) for each in raw.get("selectableFields") or ())
        if "selectableFields" in kept
        else (),
    )


def _conversion(raw: Any) -> Mapping[str, Any]:
    """``spec.conversion`` with the names of the internal form."""
    if not isinstance(raw, dict):
        return {"strategy": "None"}
    found = {"strategy": raw.get("strategy") or ""}
    webhook = raw.get("webhook")
    if isinstance(webhook, dict):
        found["conversionReviewVersions"] = _texts(webhook.get("conversionReviewVersions"))
        if isinstance(client := webhook.get("clientConfig"), dict):
            found["webhookClientConfig"] = _present(client)
    return found


def _names(raw: Any) -> dict[str, Any]:
    """The names of a CRD that are not empty."""
    return {key: _texts(each) if isinstance(each, list) else each for key, each in _object(raw).items() if each}


def _texts(raw: Any) -> list[str]:
    """A list of strings as Go decodes it: null is the empty string."""
    return [text or "" for text in raw or ()]


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _present(raw: Any) -> Mapping[str, Any]:
    return {key: value for key, value in _object(raw).items() if value is not None}


def map_keys(pointer: Pointer) -> tuple[int, ...]:
    """The indices of the steps that are map keys (``spec.validation.openAPIV3Schema.properties[spec]``)."""
    keys: list[int] = []
    named = False
    for index, step in enumerate(pointer):
        if named:
            keys.append(index)
        named = not named and step in ("properties", "definitions", "dependencies", "annotations")
    return tuple(keys)


def fault(kind: str, at: Pointer, value: Any, detail: str, server: Server) -> FieldError:
    """An error about a CRD, at ``at`` in its internal form."""
    return FieldError(kind, at, Keyword.CRD, value, server, fixed_detail=detail, keys=map_keys(at))
