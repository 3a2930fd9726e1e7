"""Decoding of a CRD outside its schemas: members whose value has a type that the API server cannot decode.

Types are those of ``k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.crd_validation.decoding import HEAD, json_name, undecodable
from crdcompat.apiserver.versions import Server
from crdcompat.schema.paths import Pointer

_NAMES = {
    **dict.fromkeys(("plural", "singular", "kind", "listKind"), "string"),
    **dict.fromkeys(("shortNames", "categories"), "[]string"),
}
#: Go struct -> JSON member -> Go type. ``schema`` marks the schema of a version.
STRUCTS: dict[str, dict[str, str]] = {
    "CustomResourceDefinition": {
        "metadata": "v1.ObjectMeta",
        "spec": "v1.CustomResourceDefinitionSpec",
        "status": "v1.CustomResourceDefinitionStatus",
    },
    "ObjectMeta": {
        **dict.fromkeys(("name", "generateName", "namespace"), "string"),
        **dict.fromkeys(("labels", "annotations"), "map[string]string"),
        "finalizers": "[]string",
    },
    "CustomResourceDefinitionSpec": {
        "group": "string",
        "names": "v1.CustomResourceDefinitionNames",
        "scope": "v1.ResourceScope",
        "versions": "[]v1.CustomResourceDefinitionVersion",
        "conversion": "v1.CustomResourceConversion",
        "preserveUnknownFields": "bool",
    },
    "CustomResourceDefinitionNames": _NAMES,
    "CustomResourceDefinitionVersion": {
        **dict.fromkeys(("name", "deprecationWarning"), "string"),
        **dict.fromkeys(("served", "storage", "deprecated"), "bool"),
        "schema": "v1.CustomResourceValidation",
        "subresources": "v1.CustomResourceSubresources",
        "additionalPrinterColumns": "[]v1.CustomResourceColumnDefinition",
        "selectableFields": "[]v1.SelectableField",
    },
    "CustomResourceValidation": {"openAPIV3Schema": "schema"},
    "CustomResourceSubresources": {
        "status": "v1.CustomResourceSubresourceStatus",
        "scale": "v1.CustomResourceSubresourceScale",
    },
    "CustomResourceSubresourceStatus": {},
    "CustomResourceSubresourceScale": dict.fromkeys(
        ("specReplicasPath", "statusReplicasPath", "labelSelectorPath"), "string"
    ),
    "CustomResourceColumnDefinition": {
        **dict.fromkeys(("name", "type", "format", "description", "jsonPath"), "string"),
        "priority": "int32",
    },
    "SelectableField": {"jsonPath": "string"},
    "CustomResourceConversion": {"strategy": "v1.ConversionStrategyType", "webhook": "v1.WebhookConversion"},
    "WebhookConversion": {"clientConfig": "v1.WebhookClientConfig", "conversionReviewVersions": "[]string"},
    "WebhookClientConfig": {"url": "string", "service": "v1.ServiceReference", "caBundle": "[]uint8"},
    "ServiceReference": {**dict.fromkeys(("namespace", "name", "path"), "string"), "port": "int32"},
    "CustomResourceDefinitionStatus": {
        "storedVersions": "[]string",
        "acceptedNames": "v1.CustomResourceDefinitionNames",
    },
}
_TEXTS = frozenset({"string", "v1.ResourceScope", "v1.ConversionStrategyType", "[]uint8"})
SELECTABLE_SINCE = 30


def undecodable_definition(
    raw: Mapping[str, Any], server: Server, *, as_sent: bool = False
) -> list[tuple[Pointer, str]]:
    """The values of a CRD that do not decode: pointer in the document and the server's message. ``as_sent``: see
    ``undecodable``."""
    api_version, kind = raw.get("apiVersion"), raw.get("kind")
    if kind != "CustomResourceDefinition":
        what = f'{kind} in version "v1" cannot be handled as a CustomResourceDefinition: '
        return [((), f'{what}no kind "{kind}" is registered for version "{api_version}"')]
    found = _Decoder(server, as_sent=as_sent).struct("CustomResourceDefinition", raw, (), ())
    return [*found]


class _Decoder:
    def __init__(self, server: Server, *, as_sent: bool) -> None:
        self.server = server
        self.as_sent = as_sent

    def struct(
        self, name: str, raw: Mapping[str, Any], at: Pointer, path: tuple[str, ...]
    ) -> Iterator[tuple[Pointer, str]]:
        """The values of a Go struct that do not decode."""
        known = STRUCTS[name]
        for member, value in raw.items():
            if member not in known or value is None:
                continue
            if member != "selectableFields" or self.server.minor >= SELECTABLE_SINCE:
                yield from self._value(name, known[member], value, (*at, member), (*path, member))

    def _value(
        self, struct: str, go: str, value: Any, at: Pointer, path: tuple[str, ...]
    ) -> Iterator[tuple[Pointer, str]]:
        if go == "schema" and isinstance(value, dict):
            for below, said in undecodable(value, self.server, as_sent=self.as_sent):
                yield (*at, *below), said
        elif go == "schema":
            yield _misfit(struct, "v1.JSONSchemaProps", value, at, path)
        elif go == "[]uint8" and isinstance(value, str):
            if (wrong := _base64_error(value)) is not None:
                yield at, f"{HEAD}illegal base64 data at input byte {wrong}"
        elif not _fits(go, value):
            yield _misfit(struct, go, value, at, path)
        elif go.startswith(("[]", "map[")):
            inner = go.removeprefix("[]").removeprefix("map[string]")
            for key, item in value.items() if isinstance(value, dict) else enumerate(value):
                if item is not None:
                    yield from self._value(struct, inner, item, (*at, key), path)
        elif go.removeprefix("v1.") in STRUCTS:
            yield from self.struct(go.removeprefix("v1."), value, at, path)


def _fits(go: str, value: Any) -> bool:
    if go in _TEXTS:
        return isinstance(value, str)
    if go == "bool":
        return isinstance(value, bool)
    if go == "int32":
        return type(value) is int and -(2**31) <= value < 2**31
    return isinstance(value, list if go.startswith("[]") else dict)


def _misfit(struct: str, go: str, value: Any, at: Pointer, path: tuple[str, ...]) -> tuple[Pointer, str]:
    sentence = f"{HEAD}json: cannot unmarshal {json_name(value, go)} into Go struct field {struct}."
    return at, f"{sentence}{'.'.join(path)} of type {go}"


def _base64_error(text: str) -> int | None:
    """The position at which a text is no base64; None if it is base64."""
    alphabet = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=\r\n")
    for index, char in enumerate(text):
        if char not in alphabet:
            return index
    try:
        base64.b64decode(text)
    except (binascii.Error, ValueError):
        return len(text)
    return None
