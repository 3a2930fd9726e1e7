"""Hides names and values of recorded objects, so that users can share a recording."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from hashlib import blake2b
from secrets import token_bytes
from typing import Any, NamedTuple

from crdcompat.apiserver.redaction import is_public_at, names_secret
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import Node

NAMES = ("name", "namespace", "uid")
#: Parts of an object that ``hidden`` does not change; ``reduce.py`` cuts the metadata to its names.
_PLAIN = ("apiVersion", "kind", "metadata")
_LETTER, _DIGIT = re.compile("[a-z]"), re.compile("[0-9]")
#: A time as conditions have it: with all digits 1 it is one still.
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")


class NameHasher:
    """Replaces names by hashes. Equal names in a recording get equal hashes; the random key prevents guessing names."""

    def __init__(self) -> None:
        self._key = token_bytes(16)

    def hashed(self, metadata: Object) -> Object:
        """The metadata with hashed names."""
        return {key: self._hash(value) if key in NAMES else value for key, value in metadata.items()}

    def _hash(self, text: Any) -> str:
        return f"n{blake2b(str(text).encode(), key=self._key, digest_size=8).hexdigest()}"


def hidden(obj: Object, schemas: tuple[Node, ...]) -> Iterator[Object]:
    """Forms of the object in which other values, which may satisfy the schemas, replace the private values."""
    for form in (_Form(_same_length, 0), _Form(_same_shape, 1)):
        yield {
            name: part if name in _PLAIN else _hidden(part, _members(schemas, name), form, is_secret=names_secret(name))
            for name, part in obj.items()
        }


class _Form(NamedTuple):
    """What replaces private values: a text made of the text, and a number."""

    text: Callable[[str], str]
    number: int


def _hidden(value: Any, nodes: tuple[Node, ...], form: _Form, *, is_secret: bool) -> Any:
    """The value at a place of which ``nodes`` are the schemas; ``is_secret``: a field around it is named so."""
    if isinstance(value, dict):
        return {
            name: _hidden(member, _members(nodes, name), form, is_secret=is_secret or names_secret(name))
            for name, member in value.items()
        }
    if isinstance(value, list):
        items = tuple(node.items for node in nodes if node.items is not None)
        return [_hidden(item, items, form, is_secret=is_secret) for item in value]
    if is_public_at(value, nodes, is_secret=is_secret):
        return value
    if not isinstance(value, str):
        return form.number
    return _DIGIT.sub("1", value) if _TIME.fullmatch(value) else form.text(value)


def _members(nodes: tuple[Node, ...], name: str) -> tuple[Node, ...]:
    return tuple(child for node in nodes if (child := node.child(name)) is not None)


def _same_length(text: str) -> str:
    return "x" * len(text)


def _same_shape(text: str) -> str:
    """The text with 1 for digits and a or A for letters. IP addresses stay valid, dates may not."""
    return _DIGIT.sub("1", _LETTER.sub("a", re.sub("[A-Z]", "A", text)))


# Replaces values that look like secrets in recorded objects: a recording is made to be attached to a ticket.
#
# Custom resources hold no Secrets by design, but in practice: a token in a URL, a kubeconfig as text, a Secret inside
# a template, and in ``last-applied-configuration`` all of it once more. A value is judged by its form, and by its
# field's name only where that name leaves no doubt: ``secretName`` is no secret.


#: Replaces each character of a secret, so that limits of length judge it as before.
_MASK = "x"
_APPLIED = "last-applied-configuration"
#: Names of fields, in lower case without dashes, whose texts are secrets.
_NAMES = frozenset(
    {
        *("password", "passwd", "passphrase", "token", "bearertoken", "accesstoken", "refreshtoken", "authtoken"),
        *("clientsecret", "secretkey", "secretaccesskey", "apikey", "authkey", "accesskey", "privatekey", "signingkey"),
        *("encryptionkey", "kubeconfig", "clientkeydata", "dockerconfigjson", ".dockerconfigjson", "webhooksecret"),
    }
)
_PARTS_OF_NAMES = re.compile("[-_]")
#: Texts that hold a secret: keys, tokens of Kubernetes, OpenShift, GitHub, GitLab, Slack and AWS, passwords in a URL or
#: a header, a kubeconfig, the credentials of registries, the manifest of a Secret.
_SECRET = re.compile(
    r"""
    -----BEGIN\ [A-Z ]*PRIVATE\ KEY
    | \beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}
    | \bsha256~[\w-]{20,}
    | \bgh[pousr]_\w{20,} | \bgithub_pat_\w{20,} | \bglpat-[\w-]{16,} | \bxox[abprs]-[\w-]{10,}
    | \b(?:AKIA|ASIA)[0-9A-Z]{16}\b
    | \A[a-z0-9]{6}\.[a-z0-9]{16}\Z
    | \b(?:Bearer|Basic)\ [\w.~+/=-]{8,}
    | ://[^/\s:@]+:[^/\s@]+@
    | client-key-data | "auths"\s*:
    | ^\s*-?\s*"?kind"?:\s*"?Config"?,?\s*$ (?= [\s\S]* users ) | "kind"\s*:\s*"Config" (?= [\s\S]* "users" )
    | ^\s*-?\s*kind:\s*"?Secret"?\s*$ | "kind"\s*:\s*"Secret"
    """,
    re.VERBOSE | re.MULTILINE,
)
_BASE64 = re.compile(r"[A-Za-z0-9+/\s]{32,}={0,2}\s*")
#: A secret in base64 may be in base64 once more: a Secret's manifest in a Secret.
_MAX_PACKED = 3


def without_secrets(value: Any, name: str = "") -> Any:
    """The value of a field of this name, in which each text that looks like a secret is masked."""
    if isinstance(value, dict):
        is_secret = value.get("kind") == "Secret"
        made = {
            key: _masked_below(member) if is_secret and key in ("data", "stringData") else without_secrets(member, key)
            for key, member in value.items()
            if not key.endswith(_APPLIED)
        }
        return value if made == value else made
    if isinstance(value, list):
        items = [without_secrets(item, name) for item in value]
        return value if items == value else items
    return _MASK * len(value) if isinstance(value, str) and _is_secret(value, name) else value


def without_applied(obj: Object) -> Object:
    """The object without annotations that hold its former manifest; its other values stay as they are."""
    metadata = obj.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    if not isinstance(annotations, dict) or not any(key.endswith(_APPLIED) for key in annotations):
        return obj
    kept = {key: value for key, value in annotations.items() if not key.endswith(_APPLIED)}
    return {**obj, "metadata": {**metadata, "annotations": kept}}  # type: ignore[dict-item]


def _masked_below(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _masked_below(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_masked_below(item) for item in value]
    return _MASK * len(value) if isinstance(value, str) else value


def _is_secret(text: str, name: str) -> bool:
    if text and _PARTS_OF_NAMES.sub("", name.lower()) in _NAMES:
        return True
    return _holds_secret(text, _MAX_PACKED)


def _holds_secret(text: str, packed: int) -> bool:
    if _SECRET.search(text):
        return True
    if not packed or not _BASE64.fullmatch(text):
        return False
    try:
        inside = b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        return False
    return inside.isascii() and _holds_secret(inside.decode(), packed - 1)
