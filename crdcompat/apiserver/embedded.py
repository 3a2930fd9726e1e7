"""x-kubernetes-embedded-resource: apiVersion, kind and metadata inside an object (reference section 4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import INVALID, REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.metadata import dns1035_label_errors, validate_embedded
from crdcompat.schema.paths import Key, Trail, place_at
from crdcompat.schema.structural import Node


def embedded_errors(value: Any, node: Node, server: Server, path: Trail = None) -> Iterator[FieldError]:
    """Errors of all embedded resources below ``node``; the root itself is not one."""
    if isinstance(value, dict):
        if node.embedded and path is not None:
            yield from _resource_errors(value, path, server)
        for name in sorted(value):
            sub = node.child(name)
            if sub is not None and isinstance(value[name], (dict, list)):
                step = name if name in node.properties else Key(name)
                yield from embedded_errors(value[name], sub, server, (path, step))
    elif isinstance(value, list) and node.items is not None:
        for index, item in enumerate(value):
            yield from embedded_errors(item, node.items, server, (path, index))


def has_embedded(node: Node) -> bool:
    """Whether any node below ``node`` is an embedded resource: most schemas have none."""
    return node.anywhere(lambda schema: schema.get("x-kubernetes-embedded-resource") is True)


def _resource_errors(value: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    detail = "" if server.does("embedded_required_plain") else "must not be empty"
    for name in ("apiVersion", "kind"):
        here = (path, name)
        if name not in value:
            yield _error(REQUIRED, here, "", server, detail)
            continue
        text = value[name]
        if not isinstance(text, str):
            yield _error(INVALID, here, text, server, "must be a string")
        elif not text:
            yield _error(INVALID, here, text, server, "must not be empty")
        elif name == "kind":
            wrong = dns1035_label_errors(text.lower())
            if wrong:
                sentence = "may have mixed case, but should otherwise match: " + ",".join(wrong)
                yield _error(INVALID, here, text, server, sentence)
        elif text.count("/") > 1:
            yield _error(INVALID, here, text, server, f"unexpected GroupVersion string: {text}")
    if "metadata" in value:
        yield from validate_embedded(value["metadata"], (path, "metadata"), server)


def _error(kind: str, path: Trail, value: Any, server: Server, words: str) -> FieldError:
    pointer, keys = place_at(path)
    return FieldError(kind, pointer, Keyword.EMBEDDED, value, server, words=words, keys=keys)
