"""Decoding of a CRD: members whose value has a type that the API server cannot decode (``maximum: ten``).

The server decodes a CRD into the Go structs of ``go_types`` before any validation, and answers 400 for the first value
of a wrong type. The message is that of Go's ``encoding/json``: its path has no map keys and no indices, and before 1.36
it ends at fields with a decoder of their own (``items``, ``additionalProperties``). Values without a Go type
(``default``, ``enum``, ``example``) are decoded afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from crdcompat.apiserver.crd_validation.go_types import DEFINED_AS, SINCE, STRUCTS
from crdcompat.apiserver.gotext import OutOfRange, json_kind, range_error
from crdcompat.apiserver.gotime import parse_error
from crdcompat.apiserver.server_versions import NEWEST_SERVER, Server
from crdcompat.crds.model import KIND, V1
from crdcompat.schema.equality import ById
from crdcompat.schema.paths import Pointer

HEAD = f'{KIND} in version "v1" cannot be handled as a {KIND}: '

#: A value that does not decode: its pointer in the document, and the server's message.
Misfit = tuple[Pointer, str]

#: Go type -> Python types of the values that decode into it; of integers, those in a range.
_FITS: dict[str, frozenset[type]] = {
    "string": frozenset({str}),
    "bool": frozenset({bool}),
    "float64": frozenset({int, float}),
}
_FITS |= {name: _FITS[go] for name, go in DEFINED_AS.items() if go in _FITS}
_INTEGERS = {"uint8": range(2**8), "int32": range(-(2**31), 2**31), "int64": range(-(2**63), 2**63)}
_NUMBERS = frozenset({"float64", *_INTEGERS})
_ANY = frozenset({"v1.JSON", "v1.FieldsV1"})
_EXCERPT = 30


def undecodable_definition(raw: Mapping[str, Any], server: Server, *, as_sent: bool = False) -> list[Misfit]:
    """The values of a CRD that do not decode; the first is the one that the server names.

    ``as_sent``: the CRD is the JSON of the request. In manifests, ``10.0`` is sent as ``10``, and members are sent in
    the order of their names.
    """
    if as_sent:
        return _misfits(raw, server, as_sent=True)
    return _misfits(raw, server) if _of_newest(ById(raw)) else []


@lru_cache(512)
def _of_newest(crd: ById[Mapping[str, Any]]) -> list[Misfit]:
    """The misfits on the newest server, which decodes each member that an older one decodes."""
    return _misfits(crd.value, NEWEST_SERVER)


def _misfits(raw: Mapping[str, Any], server: Server, *, as_sent: bool = False) -> list[Misfit]:
    if wrong := _other_kind(raw):
        return [((), wrong)]
    decoder = _Decoder(server, as_sent=as_sent)
    found = [*decoder.struct(KIND, raw, (), (), "")]
    return (found if as_sent else sorted(found)) or decoder.out_of_range


def _other_kind(raw: Mapping[str, Any]) -> str:
    """The refusal of a body of another kind, or ""; without a kind or version, the server takes those of the URL."""
    for member in raw:
        value = raw[member]
        if member in ("apiVersion", "kind") and value is not None and type(value) is not str:
            said = f"json: cannot unmarshal {json_kind(value)} into Go struct field .{member} of type string"
            body = json.dumps(raw, separators=(",", ":"))[:_EXCERPT]
            unread = f"couldn't get version/kind; json parse error: {said} ({body} ...)"
            return f"the object provided is unrecognized (must be of type {KIND}): {unread}"
    kind, version = raw.get("kind") or KIND, raw.get("apiVersion") or V1
    if kind == KIND and version == V1:
        return ""
    short = version.rpartition("/")[2]
    what = f'{kind} in version "{short}" cannot be handled as a {KIND}'
    return f'{what}: no kind "{kind}" is registered for version "{version}"'


class _Decoder:
    """Go's decoder. ``struct`` names the Go struct in errors, ``path`` its fields from the root.

    ``apart`` is the struct whose field has a decoder of its own and contains the value, or "": errors name that struct.
    """

    def __init__(self, server: Server, *, as_sent: bool) -> None:
        self.minor = server.minor
        self.whole_paths = server.does("nested_decoding_paths")
        self.as_sent = as_sent
        self.out_of_range: list[Misfit] = []

    def struct(
        self, name: str, raw: Mapping[str, Any], at: Pointer, path: tuple[str, ...], apart: str
    ) -> Iterator[Misfit]:
        """The values of a Go struct that do not decode."""
        members, since = STRUCTS[name], SINCE.get(name, {})
        for member, value in raw.items():
            go = members.get(member)
            if go is None or value is None or type(value) in _FITS.get(go, ()) or self.minor < since.get(member, 0):
                continue
            below = path if apart and not self.whole_paths else (*path, member)
            yield from self._value(go, value, (*at, member), below, apart or name, apart)

    def _value(
        self, go: str, value: Any, at: Pointer, path: tuple[str, ...], struct: str, apart: str
    ) -> Iterator[Misfit]:
        plain = DEFINED_AS.get(go, go)
        if value is None or type(value) in _FITS.get(plain, ()):
            return
        if go in _ANY:
            if go == "v1.JSON" and (number := next(_numbers_out_of_range(value), None)) is not None:
                self.out_of_range.append((at, f"{HEAD}{range_error(number)}"))
        elif go == "v1.Time":
            yield from self._time(value, at, path, struct)
        elif plain == "[]uint8" and type(value) is str:
            if (wrong := base64_error(value)) is not None:
                yield at, f"{HEAD}illegal base64 data at input byte {wrong}"
        elif go.startswith("v1.JSONSchemaPropsOr"):
            yield from self._either(go, value, at, path, struct)
        elif plain in _INTEGERS:
            if not self._is_integer(value, _INTEGERS[plain]):
                yield _misfit(struct, go, value, at, path)
        elif plain.startswith("[]") and isinstance(value, list):
            for index, item in enumerate(value):
                yield from self._value(plain[2:], item, (*at, index), path, struct, apart)
        elif plain.startswith("map[") and isinstance(value, dict):
            for key, item in value.items():
                yield from self._value(plain.partition("]")[2], item, (*at, key), path, struct, apart)
        elif (name := plain.removeprefix("v1.")) in STRUCTS and isinstance(value, dict):
            yield from self.struct(name, value, at, path, apart)
        else:
            yield _misfit(struct, go, value, at, path)

    def _either(self, go: str, value: Any, at: Pointer, path: tuple[str, ...], struct: str) -> Iterator[Misfit]:
        """A schema or something else; Go decodes these fields apart, and ignores most values of other types."""
        inner = "[]string" if go.endswith("OrStringArray") else "[]v1.JSONSchemaProps"
        if go.endswith("OrBool"):
            if not isinstance(value, (bool, dict)):
                yield at, f"{HEAD}boolean or JSON schema expected"
            inner = ""
        if isinstance(value, dict):
            yield from self._value("v1.JSONSchemaProps", value, at, path, struct, struct)
        elif inner and isinstance(value, list):
            yield from self._value(inner, value, at, path, struct, struct)

    def _time(self, value: Any, at: Pointer, path: tuple[str, ...], struct: str) -> Iterator[Misfit]:
        if type(value) is not str:
            yield _misfit(struct, "string", value, at, path)
        elif error := parse_error(value):
            yield at, f"{HEAD}{error}"

    def _is_integer(self, value: Any, among: range) -> bool:
        if type(value) is float:
            return value.is_integer() and not self.as_sent
        return type(value) is int and value in among


def _misfit(struct: str, go: str, value: Any, at: Pointer, path: tuple[str, ...]) -> Misfit:
    into = f"Go struct field {struct}.{'.'.join(path)} of type {go}"
    shown = str(value) if go in _NUMBERS else ""
    return at, f"{HEAD}json: cannot unmarshal {json_kind(value, shown)} into {into}"


def _numbers_out_of_range(value: Any) -> Iterator[OutOfRange]:
    """The numbers in a value that no float64 holds."""
    if isinstance(value, OutOfRange):
        yield value
    elif isinstance(value, (dict, list)):
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
        for each in inner:
            yield from _numbers_out_of_range(each)


_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def base64_error(text: str) -> int | None:
    """The byte at which Go finds that a text is no base64; None if it is base64."""
    data = text.encode()
    quantum = 0  # characters of the current group of four
    for index, byte in enumerate(data):
        if byte in _ALPHABET:
            quantum = (quantum + 1) % 4
        elif byte == ord("="):
            return _padding_error(data, index, quantum)
        elif byte not in b"\r\n":
            return index
    return len(data) - quantum if quantum else None


def _padding_error(data: bytes, index: int, quantum: int) -> int | None:
    """The index at which Go finds an error, or None: ``base64_error`` from the first ``=`` on."""
    if quantum < 2:
        return index
    rest = [place for place in range(index + 1, len(data)) if data[place] not in b"\r\n"]
    if quantum == 2:
        if not rest:
            return len(data)
        if data[rest[0]] != ord("="):
            return rest[0] - 1
        rest = rest[1:]
    return rest[0] if rest else None
