"""Paths through schemas and objects, in the report's notation: ``spec.list[*].map.*`` and ``spec.list[0]``."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Owner


class Wild(enum.Enum):
    """A step to every item of a list or every value of a map; in JSON a number, because names are strings."""

    ITEM = 0
    VALUE = 1


ITEM, VALUE = Wild.ITEM, Wild.VALUE

#: A path through a schema: property names and wild steps from the root.
SchemaPath = tuple[str | Wild, ...]
#: A JSON object, such as a custom resource.
Object = dict[str, Any]
#: Keys and indices from the root of a JSON document.
Pointer = tuple[str | int, ...]


class Key(NamedTuple):
    """A step of a trail that is a key of a map, not a declared member."""

    name: str


#: The steps from a value back to the root, innermost first. A walk adds a pair at each step, which is cheap, and makes
#: pointers only for what it reports.
Trail: TypeAlias = "tuple[Trail, str | int | Key] | None"


def pointer_at(trail: Trail) -> Pointer:
    """The pointer of a trail: ``((None, "l"), 0)`` -> ``("l", 0)``."""
    return place_at(trail)[0]


def place_at(trail: Trail) -> tuple[Pointer, tuple[int, ...]]:
    """The pointer of a trail, and the indices of the steps that are keys of maps."""
    steps: list[str | int | Key] = []
    while trail is not None:
        trail, step = trail
        steps.append(step)
    steps.reverse()
    keys = tuple(index for index, step in enumerate(steps) if isinstance(step, Key))
    return tuple(step.name if isinstance(step, Key) else step for step in steps), keys


def render(path: SchemaPath) -> str:
    """``("spec", "l", ITEM, "m", VALUE)`` -> ``spec.l[*].m.*``; the root is ``""``."""
    text = ""
    for step in path:
        if isinstance(step, Wild):
            text += "[*]" if step is ITEM else ".*" if text else "*"
        else:
            text += f".{step}" if text else step
    return text


def steps_of(text: str) -> SchemaPath:
    """The path of ``render``, for names without dots and brackets: ``spec.l[*]`` -> ``("spec", "l", ITEM)``."""
    names = (name for name in text.replace("[*]", ".[*]").split(".") if name)
    return tuple({"[*]": ITEM, "*": VALUE}.get(name, name) for name in names)


def owner(path: SchemaPath) -> Owner:
    """The owner of the field at ``path``: who writes it (CONTRIBUTING.md#glossary)."""
    return _OWNERS.get(path[0], Owner.OTHER) if path else Owner.OTHER


_OWNERS: dict[str | Wild, Owner] = {part: part for part in (Owner.STATUS, Owner.SPEC, Owner.METADATA)}


def node_at(root: Node, path: SchemaPath) -> Node | None:
    """The node of the values at ``path``; None if the schema does not describe them."""
    node: Node | None = root
    for step in path:
        if node is None:
            return None
        if step is ITEM:
            node = node.items
        elif step is VALUE:
            node = node.additional if isinstance(node.additional, Node) else None
        else:
            node = node.members.get(str(step))
    return node


def nodes_at(root: Node, path: str) -> Iterator[Node]:
    """The nodes at a rendered path. It can mean several, because names of properties may have dots and brackets."""
    if not path:
        yield root
        return
    if path.startswith("[*]") and root.items is not None:
        yield from nodes_at(root.items, path[3:])
    if path.startswith((".*", "*")) and isinstance(root.additional, Node):
        yield from nodes_at(root.additional, path.removeprefix(".")[1:])
    name = path.removeprefix(".")
    for known, node in root.properties.items():
        if name == known or name.startswith((f"{known}.", f"{known}[")):
            yield from nodes_at(node, name[len(known) :])


def values_at(data: Any, path: str) -> Iterator[Any]:
    """The values in an object at a rendered path with wildcards; names may have dots and brackets."""
    if not path:
        yield data
    elif isinstance(data, list) and path.startswith("[*]"):
        for item in data:
            yield from values_at(item, path[3:])
    elif isinstance(data, dict):
        name = path.removeprefix(".")
        for key, value in data.items():
            if name == key or name.startswith((f"{key}.", f"{key}[")):
                yield from values_at(value, name[len(key) :])
            elif name.startswith("*"):
                yield from values_at(value, name[1:])


def schema_pointer(path: SchemaPath) -> Pointer:
    """The pointer of the node at ``path`` inside the schema document."""
    steps: list[str | int] = []
    for step in path:
        if step is ITEM:
            steps.append("items")
        elif step is VALUE:
            steps.append("additionalProperties")
        else:
            steps.extend(("properties", str(step)))
    return tuple(steps)


def path_of_keyword(pointer: Pointer) -> SchemaPath:
    """The path of the values that the keyword at ``pointer`` in a schema is about; the keyword is the last step.

    A keyword inside ``anyOf`` and the like is about the value that has the ``anyOf``.
    """
    path: list[str | Wild] = []
    steps = iter(pointer[:-1])
    for step in steps:
        if step == "properties":
            path.append(str(next(steps, "")))
        elif step == "items":
            path.append(ITEM)
        elif step == "additionalProperties":
            path.append(VALUE)
        else:
            break
    return tuple(path)


def general(field: str) -> str:
    """A concrete field path with wildcards for its list indices: ``spec.l[3].x`` -> ``spec.l[*].x``."""
    parts = field.split("[")
    return parts[0] + "".join(
        f"[*]{rest}" if index.isdigit() else f"[{part}"
        for part in parts[1:]
        for index, _, rest in (part.partition("]"),)
    )


def value_at(data: Any, pointer: Pointer) -> Any:
    """The value at a pointer. Raises LookupError where there is none."""
    value = data
    for step in pointer:
        fits: bool = isinstance(value, list if isinstance(step, int) else Mapping)
        if not fits:
            raise LookupError(step)
        value = value[step]
    return value


def value_or_none(data: Any, pointer: Pointer) -> Any:
    """The value at a pointer; None where there is none."""
    try:
        return value_at(data, pointer)
    except LookupError:
        return None


def value_or_absent(data: Any, pointer: Pointer) -> Any:
    """The value at a pointer; ABSENT where there is none."""
    try:
        return value_at(data, pointer)
    except LookupError:
        return ABSENT


def is_within(data: Any, pointer: Pointer) -> bool:
    """Whether a value exists at a pointer, or an object that lacks only the last step."""
    value = data
    for step in pointer[:-1]:
        if isinstance(step, int):
            if not isinstance(value, list) or step >= len(value):
                return False
        elif not isinstance(value, Mapping) or step not in value:
            return False
        value = value[step]
    last = pointer[-1:]
    return not last or (
        isinstance(value, list) and last[0] < len(value) if isinstance(last[0], int) else isinstance(value, Mapping)
    )


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
    """The pointer of a pruned or defaulted path in ``obj``; its last step may be missing. None if it does not fit.

    Keys may have dots and slashes, which these paths do not escape, so the longest key that fits is chosen.
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


def with_value(obj: Any, pointer: Pointer, value: Any) -> Any:
    """A copy of ``obj`` with ``value`` at ``pointer`` (ABSENT: removed). Missing objects on the path are created.

    Raises LookupError where the pointer does not fit the shape of a value.
    """
    if not pointer:
        return value
    step, rest = pointer[0], pointer[1:]
    if isinstance(step, int):
        if not isinstance(obj, list) or step >= len(obj):
            raise LookupError(step)
        if not rest and value is ABSENT:
            return obj[:step] + obj[step + 1 :]
        copy = list(obj)
        copy[step] = with_value(copy[step], rest, value)
        return copy
    if not isinstance(obj, dict):
        raise LookupError(step)
    if not rest and value is ABSENT:
        return {key: member for key, member in obj.items() if key != step}
    return {**obj, step: with_value(obj.get(step, {} if rest else None), rest, value)}


def schema_path_of(root: Node, pointer: Pointer) -> SchemaPath:
    """The schema path of a pointer: indices become ITEM, keys that the schema does not declare VALUE."""
    path: list[str | Wild] = []
    node: Node | None = root
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
        node = following
    return tuple(path)
