"""Decoding of ObjectMeta (reference section 2.1): members of a wrong type fail or are dropped."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from crdcompat.apiserver.formats.times import is_date_time

_RFC_3339 = re.compile(r"[-0-9]{10}T[:0-9]{8}(?:[.,][0-9]+)?(?:Z|[-+](?:[01][0-9]|2[0-4]):[0-5][0-9])")


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


def undecodable(raw: Any) -> list[str]:
    """The paths of a request's ``metadata`` (or an embedded object's) whose values the server cannot decode."""
    if not isinstance(raw, dict):
        return [] if raw is None else ["metadata"]
    wrong = []
    for name, value in raw.items():
        try:
            if name in _MEMBERS:
                _MEMBERS[name](value, "", [])
        except _WrongType:
            wrong.append(f"metadata.{name}")
    return wrong


class _WrongType(Exception):  # noqa: N818 - control flow inside this module
    """The value has another type than the Go field."""


_Reader = Callable[[Any, str, list[str]], Any]


def _string(value: Any, path: str, lost: list[str]) -> str:
    if value is not None and not isinstance(value, str):
        raise _WrongType
    return value or ""


def _integer(value: Any, path: str, lost: list[str]) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _WrongType
    if not -(1 << 63) <= value < 1 << 63 or value % 1:
        raise _WrongType
    return int(value)


def _boolean(value: Any, path: str, lost: list[str]) -> bool | None:
    if value is not None and not isinstance(value, bool):
        raise _WrongType
    return value


def _time(value: Any, path: str, lost: list[str]) -> str | None:
    """An RFC 3339 time, in UTC and whole seconds."""
    if value is None:
        return None
    if not isinstance(value, str) or not _RFC_3339.fullmatch(value) or not is_date_time(value):
        raise _WrongType
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
        raise _WrongType
    return [_string(item, path, lost) for item in value or ()]


def _string_map(value: Any, path: str, lost: list[str]) -> dict[str, str]:
    if value is not None and not isinstance(value, dict):
        raise _WrongType
    return {key: _string(item, path, lost) for key, item in (value or {}).items()}


def _list_of(members: dict[str, _Reader], always: tuple[str, ...]) -> _Reader:
    """A reader of a list of structs. The members in ``always`` are present even if empty."""

    def read(value: Any, path: str, lost: list[str]) -> list[dict[str, Any]]:
        if value is not None and not isinstance(value, list):
            raise _WrongType
        return [struct(item, f"{path}[{index}]", lost) for index, item in enumerate(value or ())]

    def struct(value: Any, path: str, lost: list[str]) -> dict[str, Any]:
        if value is not None and not isinstance(value, dict):
            raise _WrongType
        result: dict[str, Any] = dict.fromkeys(always, "")
        for name, item in (value or {}).items():
            if name not in members:
                lost.append(f"{path}.{name}")
                continue
            decoded = members[name](item, f"{path}.{name}", lost)
            if decoded or isinstance(decoded, bool | dict):
                result[name] = decoded
        return result

    return read


OWNER_STRINGS = ("apiVersion", "kind", "name", "uid")
_MANAGER_STRINGS = ("manager", "operation", "apiVersion", "fieldsType", "subresource")
_MEMBERS: dict[str, _Reader] = {
    **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"), _string),
    "generation": _integer,
    "creationTimestamp": _time,
    "deletionTimestamp": _time,
    "deletionGracePeriodSeconds": _integer,
    "labels": _string_map,
    "annotations": _string_map,
    "ownerReferences": _list_of(
        dict.fromkeys(OWNER_STRINGS, _string) | dict.fromkeys(("controller", "blockOwnerDeletion"), _boolean),
        OWNER_STRINGS,
    ),
    "finalizers": _strings,
    "managedFields": _list_of(dict.fromkeys(_MANAGER_STRINGS, _string) | {"time": _time, "fieldsV1": _anything}, ()),
}
#: Members that are pointers in Go, so decoding keeps a zero.
_POINTERS = frozenset({"deletionGracePeriodSeconds"})
