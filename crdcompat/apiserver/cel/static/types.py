"""CEL types, their assignability and their names, as the checker of cel-go has them.

Source: github.com/google/cel-go, checker/types.go, checker/format.go and common/types/types.go.
"""

from __future__ import annotations

from functools import cache

from msgspec import Struct


class Type(Struct, frozen=True, cache_hash=True):
    """A type: ``kind`` as in cel-go; ``name`` of structs, opaque types and type parameters; ``parameters``."""

    kind: str
    name: str = ""
    parameters: tuple[Type, ...] = ()


BOOL, INT, UINT, DOUBLE, STRING, BYTES, DYN, NULL, TIMESTAMP, DURATION, ERROR = map(
    Type, ("bool", "int", "uint", "double", "string", "bytes", "dyn", "null", "timestamp", "duration", "error")
)
TYPE = Type("type")
#: The type of a call of an unknown function, in older versions of the checker.
NIL = Type("nil")
_NULLABLE = frozenset({"opaque", "struct", "duration", "timestamp", "null"})
_CONTAINERS = frozenset({"opaque", "list", "map"})
#: Type parameter -> the type it is replaced by.
Mapping = dict[Type, Type]


@cache
def listed(element: Type) -> Type:
    return Type("list", "list", (element,))


@cache
def mapped(key: Type, value: Type) -> Type:
    return Type("map", "map", (key, value))


@cache
def optional(value: Type) -> Type:
    return Type("opaque", "optional_type", (value,))


def unwrapped(found: Type) -> tuple[Type, bool]:
    """The type in an optional, and whether it is one."""
    if found.kind == "opaque" and found.name == "optional_type":
        return found.parameters[0], True
    return found, False


@cache
def is_ground(found: Type) -> bool:
    """Whether a type has no type parameters."""
    return found.kind != "param" and all(map(is_ground, found.parameters))


def shown(found: Type) -> str:
    """The name of a type in messages."""
    if found.kind in ("list", "map", "opaque", "type") and found.parameters:
        name = found.name or found.kind
        return f"{name}({', '.join(map(shown, found.parameters))})"
    if found.kind in ("struct", "opaque", "param"):
        return found.name
    return {"error": "!error!", "nil": "<nil>"}.get(found.kind, found.kind)


def shown_by_protobuf(found: Type) -> str:
    """The name of a type in the notation of protobuf, which older versions print in places."""
    if found.kind == "list":
        return f"list_type:{{elem_type:{{{shown_by_protobuf(found.parameters[0])}}}}}"
    if found.kind == "map":
        key, value = map(shown_by_protobuf, found.parameters)
        return f"map_type:{{key_type:{{{key}}} value_type:{{{value}}}}}"
    if found == NIL:
        return shown(found)
    if found.kind in ("timestamp", "duration"):
        return f"well_known:{found.kind.upper()}"
    if found.kind in ("int", "uint"):
        return f"primitive:{found.kind.upper()}64"
    return f'message_type:"{found.name}"' if found.kind == "struct" else f"primitive:{found.kind.upper()}"


def substitute(mapping: Mapping, found: Type, *, to_dyn: bool) -> Type:
    """The type with its bound parameters replaced; with ``to_dyn`` the others become dyn."""
    if is_ground(found):
        return found
    if (bound := mapping.get(found)) is not None:
        return substitute(mapping, bound, to_dyn=to_dyn)
    if found.kind == "param":
        return DYN if to_dyn else found
    parameters = tuple(substitute(mapping, each, to_dyn=to_dyn) for each in found.parameters)
    return Type(found.kind, found.name, parameters)


def assignable(mapping: Mapping, one: Type, other: Type) -> Mapping | None:
    """The mapping under which ``one`` is assignable to ``other``; None if there is none."""
    return assignable_all(mapping, (one,), (other,))


def assignable_all(mapping: Mapping, ones: tuple[Type, ...], others: tuple[Type, ...]) -> Mapping | None:
    copy = dict(mapping)
    return copy if _all(copy, ones, others) else None


def _all(mapping: Mapping, ones: tuple[Type, ...], others: tuple[Type, ...]) -> bool:
    return len(ones) == len(others) and all(_assignable(mapping, *pair) for pair in zip(ones, others, strict=True))


def _assignable(mapping: Mapping, one: Type, other: Type) -> bool:
    if one == other:
        return True
    if other.kind == "param":
        valid, bound = _substitutes(mapping, one, other)
        if valid or bound:
            return valid
    if one.kind == "param":
        return _substitutes(mapping, other, one)[0]
    if one.kind in ("dyn", "error") or other.kind in ("dyn", "error"):
        return True
    if one.kind == "null":
        return other.kind in _NULLABLE
    if other.kind == "null":
        return one.kind in _NULLABLE
    if one.kind == "type":
        return other.kind == "type"
    if one.kind != other.kind or one.name != other.name:
        return False
    return one.kind not in _CONTAINERS or _all(mapping, one.parameters, other.parameters)


def _substitutes(mapping: Mapping, one: Type, parameter: Type) -> tuple[bool, bool]:
    """Two answers: whether ``one`` can take the type of the parameter, and whether the parameter has a type already."""
    if one == parameter:
        return True, True
    bound = mapping.get(parameter)
    if bound is not None:
        if one == bound:
            return True, True
        if _assignable(mapping, one, bound):
            general = most_general(one, bound)
            if _not_within(mapping, parameter, general):
                mapping[parameter] = general
            return True, True
        return False, True
    if _not_within(mapping, parameter, one):
        mapping[parameter] = one
        return True, False
    return False, False


def most_general(one: Type, other: Type) -> Type:
    return one if _less_specific(one, other) else other


def _less_specific(one: Type, other: Type) -> bool:
    if one.kind in ("dyn", "param"):
        return True
    if other.kind in ("dyn", "param") or one.kind != other.kind:
        return False
    if one.kind in _CONTAINERS:
        pairs = zip(one.parameters, other.parameters, strict=False)
        return one.name == other.name and all(_less_specific(*pair) for pair in pairs)
    return one.kind == "type" or one == other


def _not_within(mapping: Mapping, parameter: Type, found: Type) -> bool:
    if parameter == found:
        return False
    if found.kind == "param":
        bound = mapping.get(found)
        return bound is None or _not_within(mapping, parameter, bound)
    return all(_not_within(mapping, parameter, each) for each in found.parameters)
