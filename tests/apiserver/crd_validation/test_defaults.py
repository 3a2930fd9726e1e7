"""Defaults of a new CRD: the answers of Kubernetes 1.28, 1.33 and 1.36."""

from __future__ import annotations

from typing import Any

import pytest
from helpers import Json, crd, obj, root

from crdcompat.apiserver.crd_validation.answer import create_crd
from crdcompat.apiserver.server_versions import Server

INTEGER = {"type": "integer", "format": "int64"}
ODD = {"type": "integer", "format": "odd"}
EMBEDDED = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
META = "json: cannot unmarshal number into Go struct field ObjectMeta.name of type string"


@pytest.mark.parametrize(
    ("schema", "default", "said"),
    [
        (INTEGER, 1.5, 'Invalid value: "float64":  in body must be of type int64: "float64"'),
        (INTEGER, True, 'Invalid value: "":  in body must be of type int64: ""'),
        (INTEGER, "x", 'Invalid value: "string":  in body must be of type integer: "string"'),
        (
            {"type": "integer", "format": "odd"},
            1.5,
            'Invalid value: "float64":  in body must be of type odd: "float64"',
        ),
        ({"type": "integer"}, 1.5, 'Invalid value: "number":  in body must be of type integer: "number"'),
        ({"type": "boolean", "format": "int64"}, "x", None),
        ({"type": "string", "format": "k8s-short-name"}, "Not Short", None),
        ({"type": "string", "format": "date"}, "x", 'Invalid value: "x":  in body must be of type date: "x"'),
    ],
)
def test_formats_that_the_server_ignores_in_objects(schema: Json, default: Any, said: str | None) -> None:
    verdict = create_crd(crd(root(spec=obj(v={**schema, "default": default}))), Server(33), as_sent=True)
    assert [error.body() for error in verdict.errors] == ([said] if said else [])


def test_a_format_that_newer_servers_know() -> None:
    short = crd(root(spec=obj(v={"type": "string", "format": "k8s-short-name", "default": "Not Short"})))
    assert [create_crd(short, Server(minor), as_sent=True).accepted for minor in (33, 34)] == [True, False]


def test_metadata_that_does_not_decode() -> None:
    default = {"apiVersion": "v1", "kind": "A", "metadata": {"name": 5}}
    (error,) = create_crd(crd(root(spec=obj(v={**EMBEDDED, "default": default}))), Server(33), as_sent=True).errors
    assert error.body() == f'Invalid value: map[string]interface {{}}{{"name":5}}: {META}'


@pytest.mark.parametrize(("minor", "detail"), [(33, ": service namespace is required"), (34, "")])
def test_a_service_without_a_name(minor: int, detail: str) -> None:
    """Servers report the name of a service as its namespace."""
    client = {"service": {"namespace": "a"}}
    webhook = {"clientConfig": client, "conversionReviewVersions": ["v1"]}
    raw = crd(root())
    raw["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
    (error,) = create_crd(raw, Server(minor), as_sent=True).errors
    assert error.text() == f"spec.conversion.webhookClientConfig.service.namespace: Required value{detail}"


@pytest.mark.parametrize("default", [1.5, True, [1], 3, "a"])
def test_no_type_is_asked_of_an_integer_or_string(default: Any) -> None:
    """Only the usual anyOf says what the type is."""
    bare = {"x-kubernetes-int-or-string": True, "default": default}
    either = {**bare, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    for minor in (28, 36):
        assert create_crd(crd(root(spec=obj(v=bare))), Server(minor)).accepted
        assert create_crd(crd(root(spec=obj(v=either))), Server(minor)).accepted == (default in (3, "a"))


def test_a_default_under_a_rule_that_does_not_compile() -> None:
    rules = [{"rule": "self == 'y'"}, {"rule": "self.foo"}]
    schema = {"type": "string", "maxLength": 5, "default": "x", "x-kubernetes-validations": rules}
    verdict = create_crd(crd(root(spec=obj(v=schema))), Server(36), as_sent=True)
    cause = "type 'string' does not support field selection"
    compiling = f"compilation failed: ERROR: <input>:1:5: {cause}\n | self.foo\n | ....^"
    at = "spec.validation.openAPIV3Schema.properties[spec].properties[v]"
    said = [error.text() for error in verdict.errors if "default" in error.text()]
    assert said == [
        f"{at}.default: Invalid value: \"x\": failed rule: self == 'y'",
        f'{at}.default: Invalid value: "string": rule compile error: {compiling}',
    ]
