"""Whole objects around one value, and the concrete places in them."""

from __future__ import annotations

from typing import Any

from crdcompat.apiserver.strategy import Resource
from crdcompat.schema.paths import ITEM, VALUE, Pointer, SchemaPath
from crdcompat.schema.sample import around, sample, values
from crdcompat.schema.structural import ABSENT

Object = dict[str, Any]

#: Names by which clusters know their singletons come first: many rules allow no other.
_NAMES = ("example", "cluster", "default", "version", "instance")


def whole_object(resource: Resource, path: SchemaPath, value: Any) -> Object | None:
    """The smallest object of ``resource`` found that holds ``value`` at ``path``; None if none could be made."""
    made = around(resource.node, path, value) if path else value
    if not isinstance(made, dict):
        return None
    meta = made.get("metadata")
    meta = dict(meta) if isinstance(meta, dict) else {}
    if "name" not in meta:
        meta["name"] = _name(resource)
    if resource.crd.namespaced:
        meta.setdefault("namespace", "default")
    body = {name: member for name, member in made.items() if name not in ("apiVersion", "kind", "metadata")}
    return {"apiVersion": resource.api_version, "kind": resource.crd.kind, "metadata": meta, **body}


def _name(resource: Resource) -> str:
    metadata = resource.node.properties.get("metadata")
    constrained = metadata.properties.get("name") if metadata is not None else None
    if constrained is None or not constrained.raw.keys() - {"type", "description"}:
        return _NAMES[0]
    made = sample(constrained)
    return (
        made
        if isinstance(made, str)
        else next((n for n in values(constrained) if isinstance(n, str)), _NAMES[0])
    )


def place(path: SchemaPath) -> Pointer:
    """Where ``whole_object`` puts the value: the first item, the map key ``key``."""
    return tuple(0 if step is ITEM else "key" if step is VALUE else str(step) for step in path)


def field_of(pointer: Pointer, *, indexed: bool = True) -> str:
    """A pointer as the API server writes it in schema errors: ``spec.l[0].m.key``."""
    text = ""
    for step in pointer:
        if isinstance(step, int):
            text += f"[{step}]" if indexed else ""
        else:
            text += f".{step}" if text else step
    return text


def pointer_of(obj: Any, field: str) -> Pointer | None:
    """The place in ``obj`` that an error's field names, one step beyond it allowed (a missing member); else None.

    Keys may hold dots and slashes, and nothing is escaped: the longest key that fits is taken.
    """
    if field in ("", "<nil>"):
        return ()
    if isinstance(obj, list) and field.startswith("["):
        index, _, rest = field[1:].partition("]")
        if index.isdigit() and int(index) < len(obj):
            below = pointer_of(obj[int(index)], rest.removeprefix("."))
            return None if below is None else (int(index), *below)
        return None
    if isinstance(obj, dict):
        field = field.removeprefix(".")
        for key in sorted(obj, key=len, reverse=True):
            written = f"[{key}]" if field.startswith("[") else key
            rest = field[len(written) :]
            if field.startswith(written) and (not rest or rest[0] in ".["):
                below = pointer_of(obj[key], rest.removeprefix("."))
                if below is not None:
                    return (key, *below)
        return (field,) if field and "." not in field and "[" not in field else None
    return None


def schema_path_of(resource: Resource, obj: Any, pointer: Pointer) -> SchemaPath:
    """The schema path of a place in an object: which steps are list items and map values."""
    path: list[Any] = []
    node = resource.node
    for step in pointer:
        if isinstance(step, int):
            path.append(ITEM)
            following = node.items if node is not None else None
        elif node is not None and step in node.properties:
            path.append(step)
            following = node.properties[step]
        else:
            path.append(VALUE)
            following = node.child(step) if node is not None else None
        node = following if following is not None else type(resource.node)({})
    return tuple(path)


def with_value(obj: Any, pointer: Pointer, value: Any) -> Any:
    """A copy of ``obj`` with ``value`` at ``pointer`` (ABSENT: removed), missing objects made; obj is kept.

    Raises LookupError where the pointer meets a value of another shape.
    """
    if not pointer:
        return value
    step, rest = pointer[0], pointer[1:]
    if isinstance(step, int):
        if not isinstance(obj, list) or step >= len(obj):
            raise LookupError(step)
        copy = list(obj)
        copy[step] = with_value(copy[step], rest, value)
        return copy
    if not isinstance(obj, dict):
        raise LookupError(step)
    if not rest and value is ABSENT:
        return {key: member for key, member in obj.items() if key != step}
    return {**obj, step: with_value(obj.get(step, {} if rest else None), rest, value)}
