"""Plausible values of a field, by its example, its description and its name.

They make an example object easier to read and to believe: a condition's status is "True", not "a". They decide nothing:
callers keep those that the schema accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from crdcompat.schema.structural import Node

#: ``one of True, False, Unknown``, ``valid values are "A" and "B"``, ``e.g. us-east-1``.
_LISTED = re.compile(
    r"(?:\bone of|\bvalues? (?:is|are|include)|\bcan be|\bmust be|\beither)(?: either| one of)?:?\s+"
    r"(?P<first>[\"'`][^\"'`\s]{1,60}[\"'`]|[A-Z][A-Za-z0-9]{0,40}\b(?=\s*(?:,|\bor\b|\band\b|/)))"
)
_EXAMPLE = re.compile(
    r"(?:\be\.g\.|\bfor example|\bexample|\bsuch as)[,:]?\s+(?P<first>[\"'`][^\"'`\s]{1,60}[\"'`])", re.I
)
_MAX_TEXT = 2_000

#: The last word of a field's name, and usual strings of such fields.
_BY_NAME: dict[str, tuple[str, ...]] = {
    "status": ("True",),
    "reason": ("AsExpected",),
    "message": ("All is well",),
    "name": ("example",),
    "namespace": ("default",),
    "group": ("example.com",),
    "version": ("v1", "1.2.3"),
    "host": ("example.com",),
    "hostname": ("example.com",),
    "domain": ("example.com",),
    "url": ("https://example.com",),
    "uri": ("https://example.com",),
    "issuer": ("https://example.com",),
    "endpoint": ("example.com", "https://example.com"),
    "server": ("example.com", "https://example.com"),
    "image": ("example.com/image:v1", "example.com/image@sha256:" + "a" * 64),
    "cidr": ("10.0.0.0/16",),
    "subnet": ("10.0.0.0/16", "subnet-1234"),
    "ip": ("10.0.0.1",),
    "address": ("10.0.0.1",),
    "email": ("user@example.com",),
    "region": ("us-east-1",),
    "zone": ("us-east-1a", "example.com"),
    "key": ("key",),
    "kind": ("ConfigMap",),
    "path": ("/a",),
    "schedule": ("0 * * * *",),
    "timeout": ("1m0s", "1m"),
    "interval": ("1m0s", "1m"),
    "duration": ("1h", "1m0s"),
    "time": ("1m0s",),
    "delay": ("1m0s",),
    "protocol": ("TCP",),
    "memory": ("1Gi",),
    "cpu": ("100m",),
}
_NUMBERS_BY_NAME = {"port": 443, "replicas": 1}
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")


def plausible_strings(node: Node) -> Iterator[str]:
    """Strings for ``node``: its example, those that its description names, those usual for its name.

    None where rules or junctors restrict the string: plain strings are more likely to satisfy them.
    """
    if node.rules or node.junctor_branches():
        return
    if isinstance(example := node.raw.get("example"), str):
        yield example
    if isinstance(text := node.raw.get("description"), str):
        found = (*_LISTED.finditer(text[:_MAX_TEXT]), *_EXAMPLE.finditer(text[:_MAX_TEXT]))
        yield from (each["first"].strip("\"'`") for each in islice(found, 2))
    if "UUID" in str(text):
        yield "11111111-2222-3333-4444-555555555555"
    word = _last_word(node.name)
    if word == "type" and "condition" in str(node.raw.get("description")):
        yield "Ready"
    yield from _BY_NAME.get(word, ())


def plausible_integers(node: Node) -> Iterator[int]:
    """Integers for ``node``: its example, those usual for its name."""
    example: Any = node.raw.get("example")
    if isinstance(example, int) and not isinstance(example, bool):
        yield example
    word = _last_word(node.name)
    if word in _NUMBERS_BY_NAME:
        yield _NUMBERS_BY_NAME[word]


def _last_word(name: str) -> str:
    """The last word of a name in camel case, in lower case and the singular: ``targetCIDRs`` -> ``cidr``."""
    words = _WORD.findall(name.removesuffix("s") if name[-2:-1].isupper() else name)
    word = words[-1].lower() if words else ""
    return word if word in _BY_NAME or word in _NUMBERS_BY_NAME else word.removesuffix("s")
