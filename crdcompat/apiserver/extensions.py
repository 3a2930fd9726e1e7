"""Kubernetes' schema extensions: unique lists and embedded resources.

x-kubernetes-list-type set and map require unique items (docs/semantics.md#list-types).
x-kubernetes-embedded-resource requires a valid apiVersion, kind and metadata inside an object
(docs/semantics.md#embedded-resources).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from operator import itemgetter
from typing import Any

from crdcompat.apiserver.field_errors import DUPLICATE, INVALID, REQUIRED, FieldError
from crdcompat.apiserver.gotext import compact_json
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.metadata import dns1035_label_errors, undecodable, validate_embedded
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Key, Trail, place_at
from crdcompat.schema.structural import ABSENT, Node


def duplicate_errors(value: Any, node: Node, server: Server, path: Trail = None) -> Iterator[FieldError]:
    """Errors of all duplicates at ``node`` and below: one error per value, at its second occurrence."""
    if not node.has_unique_lists:
        return
    if isinstance(value, list):
        if node.list_type in ("set", "map"):
            yield from _own_errors(value, node, server, path)
        if node.items is not None and node.items.has_unique_lists:
            for index, item in enumerate(value):
                yield from duplicate_errors(item, node.items, server, (path, index))
    elif isinstance(value, dict):
        for name, sub in node.members_with_unique_lists:
            if name in value:
                yield from duplicate_errors(value[name], sub, server, (path, name))
        if isinstance(node.additional, Node) and node.additional.has_unique_lists:
            for name in sorted(value):
                if name not in node.properties:
                    yield from duplicate_errors(value[name], node.additional, server, (path, Key(name)))


def _are_distinct(items: list[Any], node: Node) -> bool:
    """A cheap test: True only if all items differ. Values that differ in Python differ for the server too."""
    try:
        found = set(items) if node.list_type == "set" else {*map(itemgetter(*node.list_keys), items)}
    except (TypeError, KeyError):  # unhashable items, missing keys, or items that are no objects
        return False
    return len(found) == len(items)


def _own_errors(items: list[Any], node: Node, server: Server, path: Trail) -> Iterator[FieldError]:
    if _are_distinct(items, node):
        return
    if node.list_type == "map":
        # The server names the first item that is no object, and nothing else of the list.
        misfits = (index for index, item in enumerate(items) if item is not None and not isinstance(item, dict))
        if (first := next(misfits, None)) is not None:
            said = "must be an object for an array of list-type map"
            yield _error(INVALID, (path, first), items[first], server, said)
            return
    seen: dict[Hashable, int] = {}
    for index, item in enumerate(items):
        # A null in a map list counts as an item without keys (recorded).
        keys = [key for key in node.list_keys if item and key in item] if node.list_type == "map" else []
        identity = (type(item), _text(item)) if node.list_type == "set" else tuple((k, _text(item[k])) for k in keys)
        seen[identity] = seen.get(identity, 0) + 1
        if seen[identity] == 2:
            shown = item if node.list_type == "set" else {key: item[key] for key in keys}
            yield _error(DUPLICATE, (path, index), shown, server)


def _error(kind: str, path: Trail, value: Any, server: Server, detail: str = "") -> FieldError:
    pointer, keys = place_at(path)
    return FieldError(kind, pointer, Keyword.LIST_TYPE, value, server, fixed_detail=detail, keys=keys)


def _text(value: Any) -> Hashable:
    """A key that is unique among values of one type: a string itself, the JSON of anything else.

    Callers add the type where it counts: in a set the server distinguishes 1 (int64) from 1.0 (float64).
    """
    return (value,) if isinstance(value, str) else compact_json(value)


def embedded_errors(value: Any, node: Node, server: Server, path: Trail = None) -> Iterator[FieldError]:
    """Errors of all embedded resources below ``node``. The root of the object does not count as one."""
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


def misfit_of_embedded(value: Any, node: Node, server: Server, path: Trail = None) -> FieldError | None:
    """The first misfit of a type in the embedded resources of a request, which the server cannot decode then."""
    if isinstance(value, list) and node.items is not None:
        found = (misfit_of_embedded(item, node.items, server, (path, at)) for at, item in enumerate(value))
        return next(filter(None, found), None)
    if not isinstance(value, dict):
        return None
    for name in sorted(value):
        sub, member = node.child(name), value[name]
        if member is None and sub is not None and not sub.nullable and sub.default is ABSENT:
            continue  # dropped before
        if node.embedded and path is not None:
            if name in ("apiVersion", "kind") and not isinstance(member, str):
                return _embedded_error(INVALID, (path, name), member, server, "must be a string")
            if name == "metadata" and (error := undecodable(member)):
                return _embedded_error(INVALID, (path, name), member, server, error)
        step = name if name in node.properties else Key(name)
        if sub is not None and (misfit := misfit_of_embedded(member, sub, server, (path, step))):
            return misfit
    return None


def has_embedded(node: Node) -> bool:
    """Whether ``node`` or a node below it is an embedded resource; False for most schemas."""
    return node.anywhere(lambda schema: schema.get("x-kubernetes-embedded-resource") is True)


def _resource_errors(value: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    detail = "" if server.does("embedded_required_plain") else "must not be empty"
    for name in ("apiVersion", "kind"):
        here = (path, name)
        if name not in value:
            yield _embedded_error(REQUIRED, here, "", server, detail)
            continue
        text = value[name]
        if not isinstance(text, str):
            yield _embedded_error(INVALID, here, text, server, "must be a string")
        elif not text:
            yield _embedded_error(INVALID, here, text, server, "must not be empty")
        elif name == "kind":
            wrong = dns1035_label_errors(text.lower())
            if wrong:
                sentence = "may have mixed case, but should otherwise match: " + ",".join(wrong)
                yield _embedded_error(INVALID, here, text, server, sentence)
        elif text.count("/") > 1:
            yield _embedded_error(INVALID, here, text, server, f"unexpected GroupVersion string: {text}")
    if "metadata" in value:
        yield from validate_embedded(value["metadata"], (path, "metadata"), server)


def _embedded_error(kind: str, path: Trail, value: Any, server: Server, detail: str) -> FieldError:
    pointer, keys = place_at(path)
    return FieldError(kind, pointer, Keyword.EMBEDDED, value, server, fixed_detail=detail, keys=keys)
