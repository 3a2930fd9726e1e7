"""The paths of the scale subresource, which the server checks on every write (docs/semantics.md#scale)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.field_errors import INVALID, FieldError
from crdcompat.apiserver.gotext import compact_json, json_kind, plain, quote
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.server_versions import Server

REPLICAS_PATHS = ("specReplicasPath", "statusReplicasPath")
MAX_REPLICAS = 2**31 - 1


def scale_errors(
    obj: dict[str, Any], scale: dict[str, Any], server: Server, *, status_only: bool
) -> Iterator[FieldError]:
    """Errors of the values at the paths of the scale subresource.

    ``scale`` is ``subresources.scale`` of the CRD version; errors show its JSONPaths unchanged. ``status_only`` is for
    writes to /status.
    """
    if not status_only:
        yield from _replicas(obj, scale.get("specReplicasPath"), server)
    yield from _replicas(obj, scale.get("statusReplicasPath"), server)
    selector = scale.get("labelSelectorPath")
    if isinstance(selector, str) and selector:
        found, wrong = _at(obj, selector)
        if wrong or not isinstance(found, (str, type(None))):
            shown = (
                wrong or f"{selector} accessor error: {plain(found)} is of the type {_go_type(found)}, expected string"
            )
            yield _error(selector, "", server, shown)


def _replicas(obj: dict[str, Any], path: Any, server: Server) -> Iterator[FieldError]:
    if not isinstance(path, str) or not path:
        return
    found, wrong = _at(obj, path)
    if wrong:
        yield _error(path, 0, server, wrong)
    elif found is None:
        return
    elif isinstance(found, bool) or not isinstance(found, int):
        sentence = f"{path} accessor error: {plain(found)} is of the type {_go_type(found)}, expected int64"
        yield _error(path, 0, server, sentence)
    elif found < 0:
        yield _error(path, found, server, "should be a non-negative integer")
    elif found > MAX_REPLICAS:
        yield _error(path, found, server, f"should be less than or equal to {MAX_REPLICAS}")


def scale_of(obj: dict[str, Any], scale: Mapping[str, Any]) -> dict[str, Any]:
    """The Scale object of an object, with the replicas and the selector at the paths of ``subresources.scale``."""
    replicas, observed, selector = (
        _at(obj, path)[0] if isinstance(path := scale.get(name), str) and path else None
        for name in ("specReplicasPath", "statusReplicasPath", "labelSelectorPath")
    )
    status = {"replicas": observed or 0, **({"selector": selector} if selector else {})}
    names = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: obj["metadata"][name] for name in names if name in obj.get("metadata", {})},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def unset_replicas(obj: dict[str, Any], scale: Mapping[str, Any]) -> str:
    """The server's error for a read of /scale if the object has no replicas; "" if it has them."""
    path = scale.get("specReplicasPath")
    if isinstance(path, str) and _at(obj, path)[0] is None:
        return f"the spec replicas field {quote(path)} does not exist"
    return ""


#: The members of a Scale object's parts.
_SPEC, _STATUS = ("replicas",), ("replicas", "selector")


def unknown_of_scale(scale: Any) -> tuple[str, ...]:
    """The paths of the members that no Scale object has."""
    known = {"": ("kind", "apiVersion", "metadata", "spec", "status"), "spec.": _SPEC, "status.": _STATUS}
    parts = {"": scale, "spec.": scale.get("spec"), "status.": scale.get("status")}
    return tuple(
        f"{at}{name}" for at, part in parts.items() if isinstance(part, dict) for name in part if name not in known[at]
    )


def is_scale(obj: dict[str, Any]) -> bool:
    """Whether an object can be read as a Scale."""
    return (obj.get("apiVersion"), obj.get("kind")) == ("autoscaling/v1", "Scale") and not misfit_of_scale(obj)


def misfit_of_scale(scale: dict[str, Any]) -> str:
    """The error of reading the replicas of a Scale object, or ""."""
    for part in ("spec", "status"):
        held = scale.get(part)
        if held is not None and not isinstance(held, dict):
            kind = json_kind(held)
            return f"json: cannot unmarshal {kind} into Go struct field Scale.{part} of type v1.Scale{part.title()}"
        found = held.get("replicas") if held else None
        if found is None:
            continue
        if isinstance(found, bool) or not isinstance(found, int) or not -MAX_REPLICAS - 1 <= found <= MAX_REPLICAS:
            shown = json_kind(found, compact_json(found))
            return (
                f"json: cannot unmarshal {shown} into Go struct field Scale{part.title()}.{part}.replicas of type int32"
            )
    return ""


def _error(path: str, value: Any, server: Server, detail: str) -> FieldError:
    return FieldError(INVALID, scale_pointer(path), Keyword.SCALE, value, server, path, detail)


def scale_pointer(path: str) -> tuple[str, ...]:
    """The steps of a JSONPath of the scale subresource: ``.spec.replicas`` -> ``("spec", "replicas")``."""
    return tuple(path.strip(".").split("."))


def _at(obj: dict[str, Any], path: str) -> tuple[Any, str]:
    """The value at a dotted path (None if absent), and the error if a parent is no object, else ""."""
    value: Any = obj
    for part in scale_pointer(path):
        if not isinstance(value, dict):
            found = f"{plain(value)} is of the type {_go_type(value)}"
            return None, f"{path} accessor error: {found}, expected map[string]interface{{}}"
        if part not in value:
            return None, ""
        value = value[part]
    return value, ""


def _go_type(value: Any) -> str:
    names = {
        bool: "bool",
        int: "int64",
        float: "float64",
        str: "string",
        list: "[]interface {}",
        type(None): "<nil>",
    }
    return names.get(type(value), "map[string]interface {}")
