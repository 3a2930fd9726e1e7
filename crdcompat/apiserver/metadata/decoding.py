"""Decoding of ObjectMeta (docs/semantics.md#metadata): members of a wrong type fail or are dropped."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from crdcompat.apiserver.gotext import compact_json, json_kind
from crdcompat.apiserver.gotime import is_usual, parse_error


def decode_object_meta(raw: Any) -> tuple[dict[str, Any], list[str]]:
    """Decoded ``metadata``, and the paths of the unknown members that decoding drops.

    Decoding also drops nulls and empty values, and converts times to UTC. It drops a known member of a wrong type as
    a whole, as in a read from etcd; in a request such a member is an error (``undecodable``).
    """
    pruned: list[str] = []
    decoded: dict[str, Any] = {}
    for name, value in raw.items() if isinstance(raw, dict) else ():
        reader = _MEMBERS.get(name)
        if reader is None:
            pruned.append(f"metadata.{name}")
            continue
        dropped: list[str] = []
        try:
            read = reader(value, f"metadata.{name}", dropped)
        except _WrongType:
            continue
        pruned += dropped
        if read or (read is not None and name in _POINTERS):
            decoded[name] = read
    return decoded, pruned


def undecodable(raw: Any) -> str:
    """Go's error for a request's ``metadata`` (or an embedded object's) that does not decode; "" if it does.

    Go decodes the members in the order of their names and reports the first misfit, but stops at a malformed time.
    """
    if raw is None:
        return ""
    if not isinstance(raw, dict):
        return f"json: cannot unmarshal {json_kind(raw)} into Go value of type v1.ObjectMeta"
    first = ""
    for name, value in sorted(raw.items()):
        try:
            if name in _MEMBERS:
                _MEMBERS[name](value, f"metadata.{name}", [])
        except _BadTime as error:
            return str(error)
        except _WrongType as error:
            first = first or str(error)
    return first


class _WrongType(Exception):  # noqa: N818 - control flow inside this module
    """The value has another type than the Go field; the text is Go's error."""

    def __init__(self, value: Any, go_type: str, path: str) -> None:
        super().__init__(value, go_type, path)
        self._value = value
        self._type = go_type
        self._path = path

    def __str__(self) -> str:
        fields = _INDEX.sub("", self._path).partition(".")[2]
        struct = _STRUCTS[fields.partition(".")[0]] if "." in fields else "ObjectMeta"
        into = f"Go struct field {struct}.{fields} of type {self._type}"
        shown = compact_json(self._value) if self._type == "int64" else ""
        return f"json: cannot unmarshal {json_kind(self._value, shown)} into {into}"


class _BadTime(_WrongType):
    """A malformed time; the text is Go's error."""

    def __init__(self, error: str) -> None:
        super().__init__(None, "", "")
        self._error = error

    def __str__(self) -> str:
        return self._error


_INDEX = re.compile(r"\[\d+\]")
_STRUCTS = {"ownerReferences": "OwnerReference", "managedFields": "ManagedFieldsEntry"}


_Reader = Callable[[Any, str, list[str]], Any]


def _string_of(go_type: str) -> _Reader:
    def read(value: Any, path: str, lost: list[str]) -> str:
        if value is not None and not isinstance(value, str):
            raise _WrongType(value, go_type, path)
        return value or ""

    return read


_string = _string_of("string")


def _integer(value: Any, path: str, lost: list[str]) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _WrongType(value, "int64", path)
    if not -(1 << 63) <= value < 1 << 63 or value % 1:
        raise _WrongType(value, "int64", path)
    return int(value)


def _boolean(value: Any, path: str, lost: list[str]) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise _WrongType(value, "bool", path)
    return value


#: Go's zero time.
_ZERO = "0001-01-01T00:00:00Z"


def _time(value: Any, path: str, lost: list[str]) -> str | None:
    """An RFC 3339 time, in UTC and whole seconds."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise _BadTime(f"json: cannot unmarshal {json_kind(value)} into Go value of type string")
    if is_usual(value):
        return None if value == _ZERO else value
    if error := parse_error(value):
        raise _BadTime(error)
    return _in_utc(value)


def _in_utc(text: str) -> str | None:
    try:
        moment = datetime.fromisoformat(text[:19])
        if not text.endswith("Z"):
            offset = timedelta(hours=int(text[-5:-3]), minutes=int(text[-2:]))
            moment += offset if text[-6] == "-" else -offset
    except (ValueError, OverflowError):  # a year that Python does not support
        return text
    return None if moment == datetime.min else moment.replace(tzinfo=UTC).isoformat()[:19] + "Z"


def _anything(value: Any, path: str, lost: list[str]) -> Any:
    return value


def _strings(value: Any, path: str, lost: list[str]) -> list[str]:
    if value is not None and not isinstance(value, list):
        raise _WrongType(value, "[]string", path)
    return [_string(item, path, lost) for item in value or ()]


def _string_map(value: Any, path: str, lost: list[str]) -> dict[str, str]:
    if value is not None and not isinstance(value, dict):
        raise _WrongType(value, "map[string]string", path)
    return {key: _string(item, path, lost) for key, item in (value or {}).items()}


def _list_of(go_type: str, members: dict[str, _Reader], always: tuple[str, ...]) -> _Reader:
    """A reader of a list of structs of a Go type. The members in ``always`` are present even if empty."""

    def read(value: Any, path: str, lost: list[str]) -> list[dict[str, Any]]:
        if value is not None and not isinstance(value, list):
            raise _WrongType(value, f"[]{go_type}", path)
        return [struct(item, f"{path}[{index}]", lost) for index, item in enumerate(value or ())]

    def struct(value: Any, path: str, lost: list[str]) -> dict[str, Any]:
        if value is not None and not isinstance(value, dict):
            raise _WrongType(value, go_type, _INDEX.sub("", path))
        result: dict[str, Any] = dict.fromkeys(always, "")
        for name, item in sorted((value or {}).items()):
            if name not in members:
                lost.append(f"{path}.{name}")
                continue
            decoded = members[name](item, f"{path}.{name}", lost)
            if decoded or isinstance(decoded, bool | dict):
                result[name] = decoded
        return result

    return read


OWNER_STRINGS = ("apiVersion", "kind", "name", "uid")
_UID = _string_of("types.UID")
_MANAGER_STRINGS = ("manager", "apiVersion", "fieldsType", "subresource")
_MEMBERS: dict[str, _Reader] = {
    **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "resourceVersion"), _string),
    "uid": _UID,
    "generation": _integer,
    "creationTimestamp": _time,
    "deletionTimestamp": _time,
    "deletionGracePeriodSeconds": _integer,
    "labels": _string_map,
    "annotations": _string_map,
    "ownerReferences": _list_of(
        "v1.OwnerReference",
        dict.fromkeys(OWNER_STRINGS, _string)
        | {"uid": _UID}
        | dict.fromkeys(("controller", "blockOwnerDeletion"), _boolean),
        OWNER_STRINGS,
    ),
    "finalizers": _strings,
    "managedFields": _list_of(
        "v1.ManagedFieldsEntry",
        dict.fromkeys(_MANAGER_STRINGS, _string)
        | {"operation": _string_of("v1.ManagedFieldsOperationType"), "time": _time, "fieldsV1": _anything},
        (),
    ),
}
#: Members that are pointers in Go, so decoding keeps a zero.
_POINTERS = frozenset({"deletionGracePeriodSeconds"})
