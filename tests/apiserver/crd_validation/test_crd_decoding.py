"""CRDs that do not decode: the answers of Kubernetes 1.28 and 1.36 to members of wrong types."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from helpers import Json, crd, obj, root

from crdcompat.apiserver.crd_validation.answer import create_crd
from crdcompat.apiserver.crd_validation.crd_decoding import base64_error, undecodable_definition
from crdcompat.apiserver.server_versions import Server

HEAD = 'CustomResourceDefinition in version "v1" cannot be handled as a CustomResourceDefinition: '
TIME = 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'
SCHEMA = ("spec", "versions", 0, "schema", "openAPIV3Schema")
PROPS = "JSONSchemaProps.spec.versions.schema.openAPIV3Schema"
DOCS = "ExternalDocumentation.spec.versions.schema.openAPIV3Schema.externalDocs"
COLUMN = "CustomResourceColumnDefinition.spec.versions.additionalPrinterColumns"
MANAGED = "[]v1.ManagedFieldsEntry"
CLIENT = "spec.conversion.webhook.clientConfig"


def changed(at: tuple[str | int, ...], value: Any) -> Json:
    """A CRD with a value at a pointer; what is missing on the way is added."""
    found = copy.deepcopy(crd(root(spec=obj())))
    *steps, last = at
    here: Any = found
    for step, after in zip(steps, at[1:], strict=True):
        missing: Any = [{}] if isinstance(after, int) else {}
        here = here.setdefault(step, missing) if isinstance(step, str) else here[step]
    here[last] = value
    return found


def into(value: str, field: str, go: str) -> str:
    return f"json: cannot unmarshal {value} into Go struct field {field} of type {go}"


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (("metadata", "selfLink"), 5, into("number", "ObjectMeta.metadata.selfLink", "string")),
        (("metadata", "uid"), True, into("bool", "ObjectMeta.metadata.uid", "types.UID")),
        (("metadata", "generation"), "x", into("string", "ObjectMeta.metadata.generation", "int64")),
        (("metadata", "generation"), 2.5, into("number 2.5", "ObjectMeta.metadata.generation", "int64")),
        (("metadata", "creationTimestamp"), "x", TIME),
        (("metadata", "creationTimestamp"), 5, into("number", "ObjectMeta.metadata.creationTimestamp", "string")),
        (
            ("metadata", "ownerReferences", 0, "controller"),
            "x",
            into("string", "OwnerReference.metadata.ownerReferences.controller", "bool"),
        ),
        (
            ("metadata", "managedFields"),
            {},
            into("object", "ObjectMeta.metadata.managedFields", MANAGED),
        ),
        (
            ("status", "conditions", 0, "type"),
            5,
            into(
                "number",
                "CustomResourceDefinitionCondition.status.conditions.type",
                "v1.CustomResourceDefinitionConditionType",
            ),
        ),
        (
            ("spec", "versions", 0, "additionalPrinterColumns", 0, "priority"),
            2**31,
            into(
                f"number {2**31}",
                f"{COLUMN}.priority",
                "int32",
            ),
        ),
        (
            (*SCHEMA, "externalDocs", "url"),
            5,
            into("number", f"{DOCS}.url", "string"),
        ),
        ((*SCHEMA, "definitions"), [], into("array", f"{PROPS}.definitions", "v1.JSONSchemaDefinitions")),
        ((*SCHEMA, "definitions", "a", "type"), 5, into("number", f"{PROPS}.definitions.type", "string")),
        ((*SCHEMA, "patternProperties", "a"), "x", into("string", f"{PROPS}.patternProperties", "v1.JSONSchemaProps")),
        ((*SCHEMA, "dependencies", "a"), [5], into("number", f"{PROPS}.dependencies", "string")),
        ((*SCHEMA, "additionalItems"), 5, "boolean or JSON schema expected"),
        (("spec", "conversion", "webhook", "clientConfig", "caBundle"), "QUJD*", "illegal base64 data at input byte 4"),
        (
            ("spec", "conversion", "webhook", "clientConfig", "caBundle"),
            ["x"],
            into("string", f"WebhookClientConfig.{CLIENT}.caBundle", "uint8"),
        ),
    ],
)
@pytest.mark.parametrize("minor", [28, 36])
def test_values_of_a_wrong_type(minor: int, at: tuple[str | int, ...], value: Any, said: str) -> None:
    verdict = create_crd(changed(at, value), Server(minor), as_sent=True)
    assert (verdict.code, verdict.message) == (400, HEAD + said)


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("metadata", "managedFields"), [{"fieldsV1": 5}]),
        (("metadata", "finalizers"), None),
        (("metadata", "generation"), -1),
        (("metadata", "creationTimestamp"), None),
        (("kind",), ""),
        (("apiVersion",), None),
        ((*SCHEMA, "properties", "spec", "items"), "x"),
        (("spec", "validation"), 5),
    ],
)
@pytest.mark.parametrize("minor", [28, 36])
def test_values_that_servers_accept(minor: int, at: tuple[str | int, ...], value: Any) -> None:
    assert create_crd(changed(at, value), Server(minor), as_sent=True).code == 200


@pytest.mark.parametrize(("minor", "codes"), [(34, 200), (35, 400)])
def test_a_member_that_only_newer_servers_decode(minor: int, codes: int) -> None:
    wrong = changed(("status", "observedGeneration"), "x")
    assert create_crd(wrong, Server(minor), as_sent=True).code == codes


@pytest.mark.parametrize(("member", "value"), [("kind", 5), ("apiVersion", []), ("kind", "X"), ("apiVersion", "v2")])
def test_bodies_of_another_kind(member: str, value: Any) -> None:
    verdict = create_crd({**crd(root()), member: value}, Server(36), as_sent=True)
    assert (verdict.code, verdict.accepted) == (400, False)


@pytest.mark.parametrize(
    ("metadata", "wrong"),
    [
        ({"generateName": "a"}, {"generateName": "a", "name": "axxxxx"}),
        ({"generateName": "a", "name": ""}, {"generateName": "a", "name": "axxxxx"}),
        ({"generateName": "widgets.example.com"}, {"name": "widgets.example.comxxxxx"}),
        ({"generateName": "a", "name": "widgets.example.com"}, {"generateName": "a"}),
        ({"generateName": "widgets.example.com", "name": "widgets.example.com"}, {}),
    ],
)
def test_a_generated_name(metadata: Json, wrong: Json) -> None:
    """No generated name is that of a CRD; its random suffix is shown as xxxxx."""
    verdict = create_crd({**crd(root()), "metadata": metadata}, Server(36), as_sent=True)
    detail = 'must be spec.names.plural+"."+spec.group'
    assert {error.field: error.body() for error in verdict.errors} == {
        f"metadata.{name}": f'Invalid value: "{value}": {detail}' for name, value in wrong.items()
    }


def test_the_first_misfit_is_that_of_the_body_as_sent() -> None:
    """Manifests are sent with their members in the order of their names."""
    raw = changed((*SCHEMA, "title"), 5)
    raw["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["format"] = 5
    firsts = [undecodable_definition(raw, Server(36), as_sent=sent)[0][0][-1] for sent in (True, False)]
    assert firsts == ["title", "format"]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        *[("", None), ("QUJD", None), ("QUI=", None), ("QQ==", None), ("QU\nJD", None), ("QQ=\n=", None)],
        *[("x", 0), ("QUJDR", 4), ("QUJDRUY", 4), ("Q*", 1), ("=", 0), ("Q=", 1), ("QQ=", 3), ("QQ=Q", 2)],
        *[("QUI=Q", 4), ("QQ==\nQ", 5), ("é", 0)],
    ],
)
def test_base64_as_go_reads_it(text: str, wrong: int | None) -> None:
    assert base64_error(text) == wrong
