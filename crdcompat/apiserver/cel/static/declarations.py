"""The functions that rules may call, by Kubernetes minor, as the checker of cel-go knows them."""

from __future__ import annotations

from functools import cache

from msgspec import Struct

from crdcompat.apiserver.cel.static.signatures import SIGNATURES
from crdcompat.apiserver.cel.static.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    listed,
    mapped,
    optional,
)
from crdcompat.apiserver.server_versions import has_library

_ORDERED = ("bool", "int", "uint", "double", "string", "bytes", "timestamp", "duration")
_NUMBERS = ("int", "uint", "double")
_CROSS_TYPE_SINCE = 28

_FORMATS = (
    *("dns1123Label", "dns1123Subdomain", "dns1035Label", "qualifiedName", "dns1123LabelPrefix", "uri", "uuid"),
    *("dns1123SubdomainPrefix", "dns1035LabelPrefix", "labelValue", "byte", "date", "datetime"),
)
_AUTHORIZATION = ("Authorizer", "PathCheck", "GroupCheck", "ResourceCheck", "Decision")
_NAMED = {
    "URL": Type("struct", "kubernetes.URL"),
    "Quantity": Type("struct", "kubernetes.Quantity"),
    "Format": Type("struct", "kubernetes.NamedFormat"),
    "Semver": Type("struct", "kubernetes.Semver"),
    "IP": Type("opaque", "net.IP"),
    "CIDR": Type("opaque", "net.CIDR"),
    **{name: Type("opaque", f"kubernetes.authorization.{name}") for name in _AUTHORIZATION},
    "type": TYPE,
    **{each.kind: each for each in (BOOL, INT, UINT, DOUBLE, STRING, BYTES, DYN, TIMESTAMP, DURATION)},
}
QUANTITY, FORMAT, SEMVER, URL = (_NAMED[name] for name in ("Quantity", "Format", "Semver", "URL"))
IP, CIDR = _NAMED["IP"], _NAMED["CIDR"]
#: Names that are types, with what they denote.
TYPE_NAMES = {
    **{name: _NAMED[name] for name in ("bool", "int", "uint", "double", "string", "bytes")},
    "null_type": NULL,
    "list": listed(DYN),
    "map": mapped(DYN, DYN),
    "google.protobuf.Timestamp": TIMESTAMP,
    "google.protobuf.Duration": DURATION,
    "kubernetes.URL": URL,
}
_NET_LIBRARY = 30
_NET_NAMES = frozenset({"isIP", "isCIDR", "ip.isCanonical"})


class Overload(Struct, frozen=True):
    """One signature of a function."""

    identity: str
    member: bool
    arguments: tuple[Type, ...]
    result: Type
    parameters: tuple[Type, ...]


@cache
def _parsed() -> tuple[tuple[int, str, Overload], ...]:
    found, since, at_once = [], 0, False
    for line in SIGNATURES.strip().splitlines():
        if line.startswith(("# ", "@ ")):
            since, at_once = int(line[2:]), line.startswith("@")
        else:
            name, overload = _overload(line)
            found.append((-since if at_once else since, name, overload))
    found += [(31, f"format.{name}", Overload(name, False, (), FORMAT, ())) for name in _FORMATS]
    for kind in ("int", "uint", "double", "duration"):
        found.append((0, "sum", Overload("sum", True, (listed(_NAMED[kind]),), _NAMED[kind], ())))
    for kind in ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"):
        of = listed(_NAMED[kind])
        found.append((0, "isSorted", Overload("isSorted", True, (of,), BOOL, ())))
        found += [(0, name, Overload(name, True, (of,), _NAMED[kind], ())) for name in ("max", "min")]
        found.append((34, "sort", Overload("sort", True, (of,), of, ())))
        keyed = (listed(Type("param", "T")), of)
        found.append((34, "@sortByAssociatedKeys", Overload("sortBy", True, keyed, keyed[0], keyed[0].parameters)))
    for name, text in (("_<_", "less"), ("_<=_", "less_equals"), ("_>_", "greater"), ("_>=_", "greater_equals")):
        for one in _ORDERED:
            pairs = [(0, one), *((_CROSS_TYPE_SINCE, other) for other in _NUMBERS if one in _NUMBERS and other != one)]
            for since, other in pairs:
                arguments = (_NAMED[one], _NAMED[other])
                found.append((since, name, Overload(f"{text}_{one}", False, arguments, BOOL, ())))
    return tuple(found)


def _overload(line: str) -> tuple[str, Overload]:
    left, _, right = line.partition(" -> ")
    opening = _opening(left)
    head, inside = left[:opening], left[opening + 1 : -1]
    receiver, dot, name = _split_receiver(head)
    arguments = [_type(receiver)] if dot else []
    arguments += [_type(each) for each in _split(inside)]
    result, _, identity = right.partition(" ") if not right.startswith("map(") else (right, "", "")
    every = (*arguments, _type(result))
    parameters = sorted({each for found in every for each in _parameters(found)}, key=lambda each: each.name)
    return name, Overload(identity or name, bool(dot), tuple(arguments), every[-1], tuple(parameters))


def _opening(text: str) -> int:
    """The position of the bracket that the last one closes."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += (text[index] == ")") - (text[index] == "(")
        if depth == 0:
            return index
    raise AssertionError(text)


def _split_receiver(head: str) -> tuple[str, str, str]:
    receiver, dot, name = head.rpartition(".")
    is_type = receiver in _NAMED or receiver.endswith(")")
    return (receiver, dot, name) if is_type and receiver else ("", "", head)


def _split(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


def _type(text: str) -> Type:
    name, bracket, inside = text.partition("(")
    if not bracket:
        return _NAMED.get(name) or Type("param", name)
    parts = [_type(each) for each in _split(inside[:-1])]
    if name == "map":
        return mapped(parts[0], parts[1])
    if name == "type":
        return Type("type", "type", tuple(parts))
    return listed(parts[0]) if name == "list" else optional(parts[0])


def _parameters(found: Type) -> set[Type]:
    if found.kind == "param":
        return {found}
    return {each for inner in found.parameters for each in _parameters(inner)}


@cache
def functions(level: int, minor: int, backports: frozenset[str]) -> dict[str, tuple[Overload, ...]]:
    """The functions for the libraries up to the minor ``level`` on a server of ``minor``; ``backports`` are the
    libraries that it has earlier than Kubernetes."""
    found: dict[str, list[Overload]] = {}
    for since, name, overload in _parsed():
        library = _library(name, overload)
        if since < 0:
            known = -since <= minor and (library != "net" or has_library(_NET_LIBRARY, library, level, backports))
        else:
            known = has_library(since, library, level, backports)
        if known:
            found.setdefault(name, []).append(overload)
    return {name: tuple(overloads) for name, overloads in found.items()}


@cache
def result_of(name: str) -> Type | None:
    """The type of a function's result, if it has the same one on whatever it is called; else None."""
    results = {overload.result for _, named, overload in _parsed() if named == name}
    return results.pop() if len(results) == 1 else None


def _library(name: str, overload: Overload) -> str:
    """The library of a function, if OpenShift has it earlier."""
    types = {*overload.arguments, overload.result}
    if {IP, CIDR} & types or name in _NET_NAMES:
        return "net"
    return "format" if FORMAT in types or name.startswith("format.") else ""
