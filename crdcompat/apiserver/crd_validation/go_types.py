"""The Go structs of a CustomResourceDefinition: the members that servers decode, and the Go type of each.

Source: ``k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1`` and ``k8s.io/apimachinery/pkg/apis/meta/v1``.
"""

from __future__ import annotations

from crdcompat.apiserver.crd_validation.decoded_keywords import RULE_FIELDS

SELECTABLE_SINCE = 30

_NAMES = {
    **dict.fromkeys(("plural", "singular", "kind", "listKind"), "string"),
    **dict.fromkeys(("shortNames", "categories"), "[]string"),
}
#: Go struct -> JSON member -> Go type.
STRUCTS: dict[str, dict[str, str]] = {
    "CustomResourceDefinition": {
        **dict.fromkeys(("apiVersion", "kind"), "string"),
        "metadata": "v1.ObjectMeta",
        "spec": "v1.CustomResourceDefinitionSpec",
        "status": "v1.CustomResourceDefinitionStatus",
    },
    "ObjectMeta": {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "resourceVersion"), "string"),
        "uid": "types.UID",
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), "int64"),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp"), "v1.Time"),
        **dict.fromkeys(("labels", "annotations"), "map[string]string"),
        "ownerReferences": "[]v1.OwnerReference",
        "finalizers": "[]string",
        "managedFields": "[]v1.ManagedFieldsEntry",
    },
    "OwnerReference": {
        **dict.fromkeys(("apiVersion", "kind", "name"), "string"),
        "uid": "types.UID",
        **dict.fromkeys(("controller", "blockOwnerDeletion"), "bool"),
    },
    "ManagedFieldsEntry": {
        **dict.fromkeys(("manager", "apiVersion", "fieldsType", "subresource"), "string"),
        "operation": "v1.ManagedFieldsOperationType",
        "time": "v1.Time",
        "fieldsV1": "v1.FieldsV1",
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
    "CustomResourceValidation": {"openAPIV3Schema": "v1.JSONSchemaProps"},
    "JSONSchemaProps": {
        **dict.fromkeys(("id", "$ref", "description", "type", "format", "title", "pattern"), "string"),
        **dict.fromkeys(("x-kubernetes-list-type", "x-kubernetes-map-type"), "string"),
        "$schema": "v1.JSONSchemaURL",
        **dict.fromkeys(("default", "example"), "v1.JSON"),
        "enum": "[]v1.JSON",
        **dict.fromkeys(("maximum", "minimum", "multipleOf"), "float64"),
        **dict.fromkeys(("maxLength", "minLength", "maxItems", "minItems", "maxProperties", "minProperties"), "int64"),
        **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum", "uniqueItems", "nullable"), "bool"),
        **dict.fromkeys(("x-kubernetes-embedded-resource", "x-kubernetes-int-or-string"), "bool"),
        "x-kubernetes-preserve-unknown-fields": "bool",
        **dict.fromkeys(("required", "x-kubernetes-list-map-keys"), "[]string"),
        "items": "v1.JSONSchemaPropsOrArray",
        **dict.fromkeys(("allOf", "anyOf", "oneOf"), "[]v1.JSONSchemaProps"),
        "not": "v1.JSONSchemaProps",
        **dict.fromkeys(("properties", "patternProperties"), "map[string]v1.JSONSchemaProps"),
        **dict.fromkeys(("additionalProperties", "additionalItems"), "v1.JSONSchemaPropsOrBool"),
        "dependencies": "v1.JSONSchemaDependencies",
        "definitions": "v1.JSONSchemaDefinitions",
        "externalDocs": "v1.ExternalDocumentation",
        "x-kubernetes-validations": "v1.ValidationRules",
    },
    "ExternalDocumentation": dict.fromkeys(("description", "url"), "string"),
    "ValidationRule": {
        **dict.fromkeys(("rule", "message", "messageExpression", "fieldPath"), "string"),
        "reason": "v1.FieldValueErrorReason",
        "optionalOldSelf": "bool",
    },
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
        "conditions": "[]v1.CustomResourceDefinitionCondition",
        "storedVersions": "[]string",
        "acceptedNames": "v1.CustomResourceDefinitionNames",
        "observedGeneration": "int64",
    },
    "CustomResourceDefinitionCondition": {
        "type": "v1.CustomResourceDefinitionConditionType",
        "status": "v1.ConditionStatus",
        "lastTransitionTime": "v1.Time",
        **dict.fromkeys(("reason", "message"), "string"),
        "observedGeneration": "int64",
    },
}
#: Go struct -> member -> the minor that introduced it, if not every server has it.
SINCE: dict[str, dict[str, int]] = {
    "CustomResourceDefinitionVersion": {"selectableFields": SELECTABLE_SINCE},
    "ValidationRule": RULE_FIELDS,
    "CustomResourceDefinitionStatus": {"observedGeneration": 35},
    "CustomResourceDefinitionCondition": {"observedGeneration": 35},
}
#: Go type -> the type that it is defined as.
DEFINED_AS: dict[str, str] = {
    **dict.fromkeys(("types.UID", "v1.ManagedFieldsOperationType", "v1.ResourceScope", "v1.JSONSchemaURL"), "string"),
    **dict.fromkeys(("v1.FieldValueErrorReason", "v1.ConversionStrategyType", "v1.ConditionStatus"), "string"),
    "v1.CustomResourceDefinitionConditionType": "string",
    "v1.ValidationRules": "[]v1.ValidationRule",
    "v1.JSONSchemaDefinitions": "map[string]v1.JSONSchemaProps",
    "v1.JSONSchemaDependencies": "map[string]v1.JSONSchemaPropsOrStringArray",
}
