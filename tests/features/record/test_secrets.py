"""Values that look like secrets are masked; all else stays as it is."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest

from crdcompat.features.record.hide import without_applied, without_secrets

JWT = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLW9mLXRoZS10ZXN0"
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\n"
KUBECONFIG = "apiVersion: v1\nkind: Config\nclusters: []\nusers:\n- name: a\n  user: {token: t}\n"
SECRETS = {
    "a token of a service account": JWT,
    "inside a text": f"curl -H 'X: {JWT}' https://a",
    "a private key": KEY,
    "in base64": b64encode(KEY.encode()).decode(),
    "in base64 twice": b64encode(b64encode(JWT.encode())).decode(),
    "a token of OpenShift": f"sha256~{'a' * 43}",
    "a token of GitHub": f"ghp_{'a' * 36}",
    "a key of AWS": "AKIAIOSFODNN7EXAMPLE",
    "a bootstrap token": "07401b.f395accd246ae52d",
    "a header": "Authorization: Bearer abcdefgh",
    "a URL": "https://user:pass@example.com/",
    "a kubeconfig": KUBECONFIG,
    "a kubeconfig in JSON": json.dumps({"kind": "Config", "users": []}),
    "credentials of registries": '{"auths": {"quay.io": {"auth": "YTpi"}}}',
    "the manifest of a Secret": "apiVersion: v1\nkind: Secret\ndata: {a: Yg==}\n",
}
PLAIN = [
    "",
    "Ready",
    "https://example.com:6443/path@v1",
    "quay.io/openshift/origin@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "2024-01-01T00:00:00Z",
    "the Secret pull-secret is not there: kind: SecretProviderClass",
    b64encode(b"a plain text of more than thirty bytes").decode(),
    "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----\n",
]


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
def test_a_text_that_is_a_secret(text: str) -> None:
    assert without_secrets({"spec": {"note": [text]}}) == {"spec": {"note": ["x" * len(text)]}}


@pytest.mark.parametrize("text", PLAIN)
def test_a_text_that_is_none(text: str) -> None:
    obj = {"spec": {"note": text}}
    assert without_secrets(obj) is obj


@pytest.mark.parametrize("name", ["password", "clientSecret", "bearer_token", "API-Key", "kubeconfig"])
def test_a_field_whose_name_leaves_no_doubt(name: str) -> None:
    assert without_secrets({name: "abc", "all": [{name: "de"}]}) == {name: "xxx", "all": [{name: "xx"}]}
    assert without_secrets({name: {"name": "a"}}) == {name: {"name": "a"}}


@pytest.mark.parametrize("name", ["secretName", "pullSecret", "tokenAudience", "credentialsMode", "key"])
def test_a_field_that_names_a_secret(name: str) -> None:
    assert without_secrets({name: "abc"}) == {name: "abc"}


def test_a_secret_inside_of_an_object() -> None:
    secret: Any = {"kind": "Secret", "metadata": {"name": "s"}, "data": {"a": "Yg=="}, "stringData": {"b": "c", "d": 1}}
    masked = {**secret, "data": {"a": "xxxx"}, "stringData": {"b": "x", "d": 1}}
    assert without_secrets({"spec": {"resources": [secret]}}) == {"spec": {"resources": [masked]}}
    other = {**secret, "kind": "ConfigMap"}
    assert without_secrets(other) == other


def test_what_was_applied_goes() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "{}", "operator/last-applied-configuration": "a"}
    obj = {"metadata": {"name": "a", "annotations": {**annotations, "b": "c"}}, "spec": {"d": 1}}
    left = {"metadata": {"name": "a", "annotations": {"b": "c"}}, "spec": {"d": 1}}
    assert without_secrets(obj) == left
    assert without_applied(obj) == left
    assert without_applied(left) is left
