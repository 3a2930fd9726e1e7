"""Parts of a CRD as the server shows them where they are a bad value: Go structs, or JSON since 1.34.

Addresses of pointers differ from answer to answer; ``0x…`` is in their place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crdcompat.apiserver.crd_validation.decoded_keywords import RULE_FIELDS, Schema
from crdcompat.apiserver.crd_validation.definition import VersionForm
from crdcompat.apiserver.crd_validation.go_types import SELECTABLE_SINCE
from crdcompat.apiserver.gotext import GoValue, compact_json, go_syntax, quote
from crdcompat.apiserver.server_versions import Server

#: The longest value that reports show, in characters.
_BRIEF = 500
_SCHEMA = "JSONSchemaProps"
#: Field of JSONSchemaProps -> keyword and Go type, in the order of Go. ``*`` marks a pointer, ``schema`` a schema.
_FIELDS = {
    "ID": ("id", "string"),
    "Schema": ("$schema", "string"),
    "Ref": ("$ref", "*string"),
    "Description": ("description", "string"),
    "Type": ("type", "string"),
    "Nullable": ("nullable", "bool"),
    "Format": ("format", "string"),
    "Title": ("title", "string"),
    "Default": ("default", "*apiextensions.JSON"),
    "Maximum": ("maximum", "*float64"),
    "ExclusiveMaximum": ("exclusiveMaximum", "bool"),
    "Minimum": ("minimum", "*float64"),
    "ExclusiveMinimum": ("exclusiveMinimum", "bool"),
    "MaxLength": ("maxLength", "*int64"),
    "MinLength": ("minLength", "*int64"),
    "Pattern": ("pattern", "string"),
    "MaxItems": ("maxItems", "*int64"),
    "MinItems": ("minItems", "*int64"),
    "UniqueItems": ("uniqueItems", "bool"),
    "MultipleOf": ("multipleOf", "*float64"),
    "Enum": ("enum", "[]apiextensions.JSON"),
    "MaxProperties": ("maxProperties", "*int64"),
    "MinProperties": ("minProperties", "*int64"),
    "Required": ("required", "[]string"),
    "Items": ("items", "*apiextensions.JSONSchemaPropsOrArray"),
    "AllOf": ("allOf", "[]schema"),
    "OneOf": ("oneOf", "[]schema"),
    "AnyOf": ("anyOf", "[]schema"),
    "Not": ("not", "*schema"),
    "Properties": ("properties", "map[string]schema"),
    "AdditionalProperties": ("additionalProperties", "*apiextensions.JSONSchemaPropsOrBool"),
    "PatternProperties": ("patternProperties", "map[string]schema"),
    "Dependencies": ("dependencies", "apiextensions.JSONSchemaDependencies"),
    "AdditionalItems": ("additionalItems", "*apiextensions.JSONSchemaPropsOrBool"),
    "Definitions": ("definitions", "apiextensions.JSONSchemaDefinitions"),
    "ExternalDocs": ("externalDocs", "*apiextensions.ExternalDocumentation"),
    "Example": ("example", "*apiextensions.JSON"),
    "XPreserveUnknownFields": ("x-kubernetes-preserve-unknown-fields", "*bool"),
    "XEmbeddedResource": ("x-kubernetes-embedded-resource", "bool"),
    "XIntOrString": ("x-kubernetes-int-or-string", "bool"),
    "XListMapKeys": ("x-kubernetes-list-map-keys", "[]string"),
    "XListType": ("x-kubernetes-list-type", "*string"),
    "XMapType": ("x-kubernetes-map-type", "*string"),
    "XValidations": ("x-kubernetes-validations", "apiextensions.ValidationRules"),
}
_COLUMN = {
    "Name": "name",
    "Type": "type",
    "Format": "format",
    "Description": "description",
    "Priority": "priority",
    "JSONPath": "jsonPath",
}


def brief(value: Any) -> Any:
    """The value of an error, or ``{…}`` in the place of one that is too long for a report."""
    if not isinstance(value, GoValue) or len(value.json) <= _BRIEF:
        return value
    return GoValue(f"{value.go.partition('{')[0]}{{…}}", "[…]" if value.json.startswith("[") else "{…}")


def strings(values: Sequence[str] | None) -> GoValue:
    """A list of texts; None is nil."""
    return _list("[]string", None if values is None else [_plain(text) for text in values])


def rule(raw: Mapping[str, Any], server: Server) -> GoValue:
    """A CEL rule with all fields that the server knows."""
    pointers = {"reason": "apiextensions.FieldValueErrorReason", "optionalOldSelf": "bool"}
    fields = {}
    for member, since in RULE_FIELDS.items():
        if server.minor >= since:
            shown, kind = raw.get(member), pointers.get(member)
            fields[member[0].upper() + member[1:]] = _plain(shown or "") if kind is None else _scalar(kind, shown)
    return _struct("ValidationRule", fields)


def schema(raw: Schema, server: Server) -> GoValue:
    """A schema with all schemas in it."""
    return _struct(_SCHEMA, {name: _field(kind, raw.get(key), server) for name, (key, kind) in _FIELDS.items()})


def versions(found: Sequence[VersionForm], server: Server, *, given: bool) -> GoValue:
    """The list of versions; ``given`` is whether the CRD has one."""
    shown = [version(each, server) for each in found]
    return _list("[]apiextensions.CustomResourceDefinitionVersion", shown if given else None)


def version(found: VersionForm, server: Server) -> GoValue:
    """One version: pointers of parts that moved to the spec are nil."""
    fields = {
        "Name": _plain(found.name),
        "Served": _plain(found.served),
        "Storage": _plain(found.storage),
        "Deprecated": _plain(found.deprecated),
        "DeprecationWarning": _scalar("string", found.deprecation_warning),
        "Schema": _pointer("apiextensions.CustomResourceValidation", _validation(found.schema, server)),
        "Subresources": _pointer("apiextensions.CustomResourceSubresources", _subresources(found.subresources)),
        "AdditionalPrinterColumns": _list(
            "[]apiextensions.CustomResourceColumnDefinition",
            [_texts("CustomResourceColumnDefinition", each, _COLUMN) for each in found.columns] or None,
        ),
    }
    if server.minor >= SELECTABLE_SINCE:
        selectable = [_texts("SelectableField", each, {"JSONPath": "jsonPath"}) for each in found.selectable]
        fields["SelectableFields"] = _list("[]apiextensions.SelectableField", selectable or None)
    return _struct("CustomResourceDefinitionVersion", fields)


def _validation(found: Schema | None, server: Server) -> GoValue | None:
    if found is None:
        return None
    whole = _pointer(f"apiextensions.{_SCHEMA}", schema(found, server))
    return _struct("CustomResourceValidation", {"OpenAPIV3Schema": whole})


def _subresources(found: Mapping[str, Any] | None) -> GoValue | None:
    if found is None:
        return None
    scale = found.get("scale")
    paths = {"SpecReplicasPath": "specReplicasPath", "StatusReplicasPath": "statusReplicasPath"}
    shown = None
    if scale is not None:
        fields = {name: _plain(scale.get(key) or "") for name, key in paths.items()}
        fields["LabelSelectorPath"] = _scalar("string", scale.get("labelSelectorPath"))
        shown = _struct("CustomResourceSubresourceScale", fields)
    status = None if found.get("status") is None else _struct("CustomResourceSubresourceStatus", {})
    return _struct(
        "CustomResourceSubresources",
        {
            "Status": _pointer("apiextensions.CustomResourceSubresourceStatus", status),
            "Scale": _pointer("apiextensions.CustomResourceSubresourceScale", shown),
        },
    )


def _field(kind: str, value: Any, server: Server) -> GoValue:
    """A field of a schema by its Go type."""
    go = kind.replace("schema", f"apiextensions.{_SCHEMA}")
    if kind in ("string", "bool"):
        return _plain(value or ("" if kind == "string" else False))
    if go.startswith("*"):
        return _pointer(go[1:], None if value is None else _pointed(go[1:], value, server))
    if value is None:
        return GoValue(f"{go}(nil)", "null")
    if go.startswith("[]"):
        return _list(go, [schema(each, server) if kind == "[]schema" else _plain(each) for each in value])
    if kind == "apiextensions.ValidationRules":
        return _list(go, [rule(each, server) for each in value])
    dependencies = kind == "apiextensions.JSONSchemaDependencies"
    return _map(go, {name: (_dependency if dependencies else schema)(each, server) for name, each in value.items()})


def _pointed(go: str, value: Any, server: Server) -> GoValue:
    """What a pointer of a schema points to."""
    match go.removeprefix("apiextensions."):
        case "JSONSchemaProps":
            return schema(value, server)
        case "JSONSchemaPropsOrArray":
            many = isinstance(value, list)
            single, several = (
                (None, [schema(each, server) for each in value]) if many else (schema(value, server), None)
            )
            lists = _list(f"[]apiextensions.{_SCHEMA}", several)
            return _struct("", {"Schema": _pointer("", single), "JSONSchemas": lists})
        case "JSONSchemaPropsOrBool":
            inner = None if isinstance(value, bool) else schema(value, server)
            return _struct("", {"Allows": _plain(value is not False), "Schema": _pointer("", inner)})
        case "ExternalDocumentation":
            return _texts("", value, {"Description": "description", "URL": "url"})
    return _plain(float(value) if go == "float64" else value)


def _dependency(value: Any, server: Server) -> GoValue:
    listed = isinstance(value, list)
    single = schema(value, server) if isinstance(value, dict) else None
    fields = {"Schema": _pointer(f"apiextensions.{_SCHEMA}", single), "Property": strings(value if listed else None)}
    return _struct("JSONSchemaPropsOrStringArray", fields)


def _texts(kind: str, raw: Mapping[str, Any], fields: Mapping[str, str]) -> GoValue:
    """A struct of texts; the priority of a column is a number."""
    shown = {name: raw.get(key) or (0 if name == "Priority" else "") for name, key in fields.items()}
    return _struct(kind, {name: _plain(value) for name, value in shown.items()})


def _plain(value: Any) -> GoValue:
    return GoValue(go_syntax(value), compact_json(value))


def _scalar(kind: str, value: Any) -> GoValue:
    """A pointer to a scalar."""
    return _pointer(kind, None if value is None else _plain(value))


def _pointer(kind: str, shown: GoValue | None) -> GoValue:
    return GoValue(f"(*{kind})({'nil' if shown is None else '0x…'})", "null" if shown is None else shown.json)


def _list(kind: str, members: Sequence[GoValue] | None) -> GoValue:
    if members is None:
        return GoValue(f"{kind}(nil)", "null")
    go, written = (", ".join(each.go for each in members), ",".join(each.json for each in members))
    return GoValue(f"{kind}{{{go}}}", f"[{written}]")


def _map(kind: str, members: Mapping[str, GoValue]) -> GoValue:
    names = sorted(members)
    go = ", ".join(f"{quote(name)}:{members[name].go}" for name in names)
    written = ",".join(f"{compact_json(name)}:{members[name].json}" for name in names)
    return GoValue(f"{kind}{{{go}}}", f"{{{written}}}")


def _struct(kind: str, fields: Mapping[str, GoValue]) -> GoValue:
    go = ", ".join(f"{name}:{shown.go}" for name, shown in fields.items())
    written = ",".join(f'"{name}":{shown.json}' for name, shown in fields.items())
    return GoValue(f"apiextensions.{kind}{{{go}}}", f"{{{written}}}")
