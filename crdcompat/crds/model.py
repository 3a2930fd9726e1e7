"""The model of a CustomResourceDefinition, and the reader for it; ``apiextensions.k8s.io/v1beta1`` is read as v1.

Source of the fields: https://kubernetes.io/docs/reference/kubernetes-api/extend-resources/custom-resource-definition-v1/
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from crdcompat.crds.without_texts import without_texts
from crdcompat.errors import CrdcompatError
from crdcompat.schema.answers import json_of
from crdcompat.schema.equality import digest, schema_text
from crdcompat.schema.structural import PRESERVE, Node, mapping_of

if TYPE_CHECKING:
    from crdcompat.crds.context import Context, Where
    from crdcompat.schema.paths import Pointer
    from crdcompat.yaml.positions import Positions


class CrdVersion(Struct, frozen=True, eq=False, dict=True):
    """One entry of ``spec.versions``; ``schema`` is its openAPIV3Schema, None if the manifest has none.

    ``pointer`` is the JSON pointer to the entry in the document, ``schema_pointer`` the one to the schema.
    """

    name: str
    served: bool
    storage: bool
    schema: Mapping[str, Any] | None
    subresources: Mapping[str, Any]
    raw: Mapping[str, Any]
    pointer: Pointer = ()
    schema_pointer: Pointer = ()

    @property
    def has_status(self) -> bool:
        """Whether the version has the /status endpoint."""
        return "status" in self.subresources

    @property
    def scale(self) -> Mapping[str, Any] | None:
        scale = self.subresources.get("scale")
        return scale if isinstance(scale, dict) else None

    @cached_property
    def content(self) -> bytes:
        """A digest that is equal for copies that differ in texts alone."""
        facts = self.name, self.served, self.storage, self.subresources, without_texts(self.schema)
        return digest(schema_text(facts))

    @cached_property
    def node(self) -> Node:
        """The schema as nodes; a version without a schema accepts anything and keeps it, as v1beta1 allows.

        What servers know of each object without a declaration is declared, because another side may limit it.
        """
        return Node(_as_resource(self.schema if self.schema is not None else {PRESERVE: True}))


def _as_resource(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with the type and the names of objects: no other metadata may have limits."""
    properties = schema.get("properties", {})
    metadata = properties.get("metadata", {"type": "object"}) if isinstance(properties, dict) else None
    if not isinstance(properties, dict) or not isinstance(metadata, dict):
        return schema
    names = dict.fromkeys(("name", "generateName"), _TEXT) | mapping_of(metadata.get("properties"))
    of_all = {"apiVersion": _TEXT, "kind": _TEXT, **properties, "metadata": {**metadata, "properties": names}}
    return {**schema, "properties": of_all}


_TEXT = {"type": "string"}


class Crd(Struct, frozen=True, eq=False, dict=True):
    """One CRD manifest; ``name`` is ``metadata.name``, which is ``PLURAL.GROUP``; ``raw`` is the whole document."""

    name: str
    group: str
    kind: str
    plural: str
    scope: str
    annotations: Mapping[str, str]
    versions: tuple[CrdVersion, ...]
    raw: Mapping[str, Any]

    def version(self, name: str) -> CrdVersion | None:
        return next((version for version in self.versions if version.name == name), None)

    @cached_property
    def digest(self) -> bytes | None:
        """A digest of the document, its order included; None for what is no JSON: integers of more than 64 bits."""
        try:
            return digest(json_of(self.raw))
        except TypeError:
            return None

    @property
    def namespaced(self) -> bool:
        return self.scope == "Namespaced"

    @property
    def prunes(self) -> bool:
        """Whether unknown fields are pruned; off only where ``preserveUnknownFields: true`` (v1beta1: by default)."""
        spec = self.raw.get("spec")
        value = spec.get("preserveUnknownFields") if isinstance(spec, dict) else None
        if value is None:
            return self.raw.get("apiVersion") != "apiextensions.k8s.io/v1beta1"
        return value is not True

    @property
    def conversion_strategy(self) -> str:
        """How the API server converts objects between versions: ``None`` (the default) or ``Webhook``."""
        spec = self.raw.get("spec")
        conversion = spec.get("conversion") if isinstance(spec, dict) else None
        strategy = conversion.get("strategy") if isinstance(conversion, dict) else None
        return strategy if isinstance(strategy, str) else "None"

    @property
    def stored_versions(self) -> tuple[str, ...]:
        """``status.storedVersions`` of a CRD that was read from a cluster; () for a manifest.

        Only a server sets a resourceVersion. The status in a manifest says nothing about any cluster.
        """
        metadata, status = self.raw.get("metadata"), self.raw.get("status")
        if not (isinstance(metadata, dict) and metadata.get("resourceVersion") and isinstance(status, dict)):
            return ()
        stored = status.get("storedVersions")
        return tuple(map(str, stored)) if isinstance(stored, list) else ()

    @property
    def storage_version(self) -> CrdVersion | None:
        return next((version for version in self.versions if version.storage), None)


GROUP, KIND = "apiextensions.k8s.io", "CustomResourceDefinition"
V1 = f"{GROUP}/v1"
API_VERSIONS = (V1, f"{GROUP}/v1beta1")


def is_crd(data: Any) -> bool:
    """Whether a document has the kind and an apiVersion of CRDs."""
    return isinstance(data, dict) and data.get("kind") == KIND and data.get("apiVersion") in API_VERSIONS


def is_fragment(data: Mapping[str, Any]) -> bool:
    """Whether a CRD document is only a patch, without names and versions (kustomize, feature gates).

    A document whose spec is empty or no object patches nothing: it is a CRD that cannot be read.
    """
    spec = data.get("spec")
    if not spec or not isinstance(spec, dict):
        return "spec" not in data
    return not isinstance(spec.get("names"), dict) and not isinstance(spec.get("versions"), list)


class NotACrdError(CrdcompatError):
    """A CRD document that cannot be read; ``pointer`` is the JSON pointer to the invalid field or its parent."""

    def __init__(self, message: str, pointer: Pointer = ()) -> None:
        super().__init__(message)
        self.pointer = pointer


def read_crd(data: Mapping[str, Any]) -> Crd:
    """Read a CRD document; a missing ``metadata.name`` is PLURAL.GROUP. Raises NotACrdError for an invalid field."""
    metadata = _object(data.get("metadata"), "metadata", ("metadata",))
    spec = _object(data.get("spec"), "spec", ("spec",))
    names = _object(spec.get("names"), "spec.names", ("spec", "names"))
    group = _text(spec.get("group"), "spec.group", ("spec", "group"))
    plural = _text(names.get("plural"), "spec.names.plural", ("spec", "names"))
    kind = _text(names.get("kind"), "spec.names.kind", ("spec", "names"))
    name = metadata.get("name")
    if not isinstance(name, str) or not name:
        name = f"{plural}.{group}"
    annotations = metadata.get("annotations")
    return Crd(
        name=name,
        group=group,
        kind=kind,
        plural=plural,
        scope=spec["scope"] if isinstance(spec.get("scope"), str) else "",
        annotations={k: v for k, v in annotations.items() if isinstance(v, str)}
        if isinstance(annotations, dict)
        else {},
        versions=tuple(_versions(spec)),
        raw=data,
    )


def _versions(spec: Mapping[str, Any]) -> list[CrdVersion]:
    listed = spec.get("versions")
    if listed is None and isinstance(spec.get("version"), str):
        # Before Kubernetes 1.11, a v1beta1 CRD had exactly one version.
        listed = [{"name": spec["version"], "served": True, "storage": True}]
    if not isinstance(listed, list) or not listed:
        raise NotACrdError("spec.versions: must be a list with at least one version", ("spec", "versions"))
    return [_version(entry, ("spec", "versions", index), spec) for index, entry in enumerate(listed)]


def _version(entry: Any, pointer: Pointer, spec: Mapping[str, Any]) -> CrdVersion:
    where = f"spec.versions[{pointer[-1]}]"
    raw = _object(entry, where, pointer)
    name = _text(raw.get("name"), f"{where}.name", pointer)
    parent, at = raw.get("schema"), (*pointer, "schema")
    if not isinstance(parent, dict):
        parent, at = spec.get("validation"), ("spec", "validation")  # v1beta1: one schema for all versions
    schema = parent.get("openAPIV3Schema") if isinstance(parent, dict) else None
    if schema is not None and not isinstance(schema, dict):
        raise NotACrdError(f"{where}: openAPIV3Schema must be an object", at)
    subresources = raw.get("subresources", spec.get("subresources"))
    return CrdVersion(
        name=name,
        served=raw.get("served") is True,
        storage=raw.get("storage") is True,
        schema=schema,
        subresources=subresources if isinstance(subresources, dict) else {},
        raw=raw,
        pointer=pointer,
        schema_pointer=(*at, "openAPIV3Schema"),
    )


def _object(value: Any, where: str, pointer: Pointer) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise NotACrdError(f"{where}: must be an object, is {_shown(value)}", pointer)
    return value


def _text(value: Any, where: str, pointer: Pointer) -> str:
    if not isinstance(value, str) or not value:
        raise NotACrdError(f"{where}: must be a non-empty string, is {_shown(value)}", pointer)
    return value


def _shown(value: Any) -> str:
    return "missing or null" if value is None else f"{type(value).__name__} {str(value)[:40]!r}"


class CrdDocument(Struct, frozen=True, eq=False):
    """A CRD and its place: file, index of the document in the file, JSON pointer inside a List.

    ``oid`` is the file's content id if known, ``positions`` the lines and columns of its values if reading gave them.
    ``gated`` says by feature set and profile whether a cluster gets it, if that depends on feature gates. ``inside`` is
    the path of its file in a packed chart: ``charts/NAME/crds/…``.
    """

    crd: Crd
    file: str
    index: int
    pointer: tuple[str | int, ...] = ()
    oid: str | None = None
    positions: Positions | None = None
    gated: Mapping[Where, bool] = {}
    inside: str = ""

    def is_in(self, context: Context) -> bool:
        """Whether a cluster of this context gets the document."""
        where = context.feature_set, context.profile
        return context.includes(self.crd.annotations) and self.gated.get(where, True)
