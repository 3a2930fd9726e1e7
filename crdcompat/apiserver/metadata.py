"""ObjectMeta as the API server decodes and validates it (reference sections 2.1, 4.2 and 4.3).

Source: k8s.io/apimachinery, ``pkg/api/validation`` and ``pkg/apis/meta/v1/validation``; the API extensions
server's ``schema/objectmeta``. None of these rules is ratcheted. Where Go visits a map in random order,
the errors here go by key.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver import gotext
from crdcompat.apiserver.errors import FORBIDDEN, INVALID, REQUIRED, TOO_LONG, FieldError
from crdcompat.apiserver.formats.times import is_date_time
from crdcompat.schema.structural import ABSENT

if TYPE_CHECKING:
    from crdcompat.apiserver.eras import Server

_ANNOTATIONS_LIMIT = 256 * 1024
_MANAGER_LIMIT = 128
_SUBRESOURCE_LIMIT = 256
_GENERATED_BASE = 58  # what is kept of a generateName
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_RE = re.compile(_LABEL)
_KEY_RE = re.compile("[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_RFC_3339 = re.compile(r"[-0-9]{10}T[:0-9]{8}(?:[.,][0-9]+)?(?:Z|[-+](?:[01][0-9]|2[0-4]):[0-5][0-9])")
_IMMUTABLE = "field is immutable"

#: Since which minor the texts of these rules read so.
_RFC_1123_TEXT = 20  # before: "a DNS-1123 subdomain must consist of"
_BYTES_IN_ANNOTATION_TEXT = 20  # before: characters
_LABELS_COUNT_BYTES = 34  # before: characters
_LABEL_KEY_TEXT = 35  # "a valid label key", before: "a qualified name"


# --- decoding ---------------------------------------------------------------------------------------


def decode_object_meta(raw: Any) -> tuple[dict[str, Any], list[str]]:
    """``metadata`` as the server holds it after decoding, and the paths of the members that vanished.

    Unknown members vanish, nulls and empty values are left out, times are in UTC. A known member of a
    wrong type is dropped whole, as when reading from etcd; in a request it is an error (``undecodable``).
    """
    pruned: list[str] = []
    decoded: dict[str, Any] = {}
    for name, value in raw.items() if isinstance(raw, dict) else ():
        reader = _MEMBERS.get(name)
        if reader is None:
            pruned.append(f"metadata.{name}")
            continue
        lost: list[str] = []
        try:
            read = reader(value, f"metadata.{name}", lost)
        except _WrongType:
            continue
        pruned += lost
        if read or (read is not None and name in _POINTERS):
            decoded[name] = read
    return decoded, pruned


def undecodable(raw: Any) -> list[str]:
    """The paths that make a request's ``metadata`` (or an embedded object's) impossible to decode."""
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
    """The value does not fit the Go field."""


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
    except (ValueError, OverflowError):  # beyond the years Python counts
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
    """Reads a list of structs; the members in ``always`` are written even when empty."""

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


_OWNER_STRINGS = ("apiVersion", "kind", "name", "uid")
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
        dict.fromkeys(_OWNER_STRINGS, _string) | dict.fromkeys(("controller", "blockOwnerDeletion"), _boolean),
        _OWNER_STRINGS,
    ),
    "finalizers": _strings,
    "managedFields": _list_of(dict.fromkeys(_MANAGER_STRINGS, _string) | {"time": _time, "fieldsV1": _anything}, ()),
}
#: Members that keep a zero.
_POINTERS = frozenset({"deletionGracePeriodSeconds"})


# --- validating -------------------------------------------------------------------------------------


def validate_create(meta: dict[str, Any], *, namespaced: bool, server: Server) -> list[FieldError]:
    """The rules for the (decoded) metadata of a new object.

    A missing namespace is no error: the request's URL has it. From ``generateName`` the server has made a
    name by now; here its random ending is ``xxxxx``.
    """
    errors: list[FieldError] = []
    name, generate, namespace = (meta.get(member, "") for member in ("name", "generateName", "namespace"))
    if generate:
        problems = _subdomain(_without_trailing_dash(generate), server)
        errors += _invalid("metadata.generateName", generate, problems)
        name = name or generate[:_GENERATED_BASE] + "xxxxx"
    if name:
        errors += _invalid("metadata.name", name, _subdomain(name, server))
    else:
        errors.append(FieldError(REQUIRED, "metadata.name", ABSENT, "name or generateName is required"))
    if namespaced:
        errors += _namespace(meta, "metadata", server)
    elif namespace:
        errors.append(FieldError(FORBIDDEN, "metadata.namespace", ABSENT, "not allowed on this type"))
    errors += _common(meta, "metadata", server)
    return errors


def validate_embedded(raw: Any, path: str, server: Server) -> list[FieldError]:
    """The rules for the metadata of an embedded resource, which needs no name and may have any path segment.

    What does not decode is passed over: a request with it has been refused before, a stored one dropped it.
    """
    meta, _ = decode_object_meta(raw)
    name, generate = meta.get("name", ""), meta.get("generateName", "")
    errors = [*_invalid(f"{path}.generateName", generate, _path_segment(generate))]
    problems = [f"may not be '{name}'"] if name in (".", "..") else _path_segment(name)
    errors += _invalid(f"{path}.name", name, problems)
    errors += _namespace(meta, path, server)
    errors += _common(meta, path, server)
    return errors


def _namespace(meta: dict[str, Any], path: str, server: Server) -> Iterator[FieldError]:
    namespace = meta.get("namespace", "")
    if namespace:
        yield from _invalid(f"{path}.namespace", namespace, _dns_label(namespace, server))


def _common(meta: dict[str, Any], path: str, server: Server) -> Iterator[FieldError]:
    """What is checked on a new object and on an embedded one alike."""
    if meta.get("generation", 0) < 0:
        yield FieldError(INVALID, f"{path}.generation", meta["generation"], "must be greater than or equal to 0")
    yield from _labels(meta, path, server)
    yield from _annotations(meta, path, server)
    yield from _owner_references(meta, path)
    yield from _finalizers(meta, path, server)
    yield from _managed_fields(meta, path, server)


def validate_update(new: dict[str, Any], old: dict[str, Any], server: Server) -> list[FieldError]:
    """The rules for the (decoded) metadata of an update, main or status.

    Only what both sides name can have changed (the URL and the old object supply the rest); times, generation
    and resourceVersion are settled before validation, and names and finalizers are not checked again.
    """
    errors: list[FieldError] = []
    if old.get("deletionTimestamp"):
        extra = sorted(set(new.get("finalizers", ())) - set(old.get("finalizers", ())))
        if extra:
            found = f"[]string{{{', '.join(map(gotext.quote, extra))}}}"
            detail = f"no new finalizers can be added if the object is being deleted, found new finalizers {found}"
            errors.append(FieldError(FORBIDDEN, "metadata.finalizers", ABSENT, detail))
    for name in ("name", "namespace", "uid"):
        if name in new and name in old and new[name] != old[name]:
            errors += _invalid(f"metadata.{name}", new[name], [_IMMUTABLE])
    if "deletionTimestamp" in new and "deletionTimestamp" not in old:
        errors += _invalid("metadata.deletionTimestamp", new["deletionTimestamp"], [_IMMUTABLE])
    grace = new.get("deletionGracePeriodSeconds")
    if grace is not None and grace != old.get("deletionGracePeriodSeconds"):
        errors += _invalid("metadata.deletionGracePeriodSeconds", grace, [_IMMUTABLE])
    errors += _labels(new, "metadata", server)
    errors += _annotations(new, "metadata", server)
    errors += _owner_references(new, "metadata")
    errors += _managed_fields(new, "metadata", server)
    return errors


def _invalid(path: str, value: Any, texts: list[str]) -> Iterator[FieldError]:
    return (FieldError(INVALID, path, value, text) for text in texts)


def _labels(meta: dict[str, Any], path: str, server: Server) -> Iterator[FieldError]:
    for key, value in sorted(meta.get("labels", {}).items()):
        yield from _invalid(f"{path}.labels", key, _qualified_name(key, server))
        texts = []
        if _size(value) > 63:
            texts.append(_too_long(63, server))
        if value and not _KEY_RE.fullmatch(value):
            must = (
                "a valid label must be an empty string or consist of alphanumeric characters, "
                "'-', '_' or '.', and must start and end with an alphanumeric character"
            )
            texts.append(_regex_text(must, f"({_KEY})?", "MyValue", "my_value", "12345"))
        yield from _invalid(f"{path}.labels", value, texts)


def _annotations(meta: dict[str, Any], path: str, server: Server) -> Iterator[FieldError]:
    annotations = meta.get("annotations", {})
    for key in sorted(annotations):
        yield from _invalid(f"{path}.annotations", key, _qualified_name(key.lower(), server))
    if sum(_size(key) + _size(value) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        yield _too_long_error(f"{path}.annotations", _ANNOTATIONS_LIMIT, server)


def _too_long_error(path: str, limit: int, server: Server) -> FieldError:
    if server.does("bytes_text"):
        detail = f"may not be more than {limit} bytes"
    else:
        unit = "bytes" if server.minor >= _BYTES_IN_ANNOTATION_TEXT else "characters"
        detail = f"must have at most {limit} {unit}"
    return FieldError(TOO_LONG, path, ABSENT, detail)


def _owner_references(meta: dict[str, Any], path: str) -> Iterator[FieldError]:
    path += ".ownerReferences"
    owners = meta.get("ownerReferences", [])
    controller = ""
    for owner in owners:
        api_version, kind, name, _ = (owner.get(member, "") for member in _OWNER_STRINGS)
        group, version = _group_version(api_version)
        if not version:
            yield FieldError(INVALID, f"{path}.apiVersion", api_version, "version must not be empty")
        for member in ("kind", "name", "uid"):
            if not owner.get(member):
                yield FieldError(INVALID, f"{path}.{member}", "", "must not be empty")
        if (group, version, kind) == ("", "v1", "Event"):
            yield FieldError(INVALID, path, owner, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            this = f"{kind}/{name}"
            if controller:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {this}'
                )
                yield FieldError(INVALID, path, owners, detail)
            controller = controller or this


def _group_version(text: str) -> tuple[str, str]:
    group, slash, version = text.partition("/")
    if "/" in version:
        return "", ""
    return (group, version) if slash else ("", text)


def _finalizers(meta: dict[str, Any], path: str, server: Server) -> Iterator[FieldError]:
    finalizers = meta.get("finalizers", [])
    for finalizer in finalizers:
        yield from _invalid(f"{path}.finalizers", finalizer, _qualified_name(finalizer, server))
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        yield FieldError(INVALID, f"{path}.finalizers", finalizers, detail)


def _managed_fields(meta: dict[str, Any], path: str, server: Server) -> Iterator[FieldError]:
    for index, entry in enumerate(meta.get("managedFields", ())):
        at = f"{path}.managedFields[{index}]"
        operation, fields_type = entry.get("operation", ""), entry.get("fieldsType", "")
        manager = entry.get("manager", "")
        if operation not in ("Apply", "Update"):
            yield FieldError(INVALID, f"{at}.operation", operation, "must be `Apply` or `Update`")
        if fields_type not in ("", "FieldsV1"):
            yield FieldError(INVALID, f"{at}.fieldsType", fields_type, "must be `FieldsV1`")
        if _size(manager) > _MANAGER_LIMIT:
            yield _too_long_error(f"{at}.manager", _MANAGER_LIMIT, server)
        place = 0
        for char in manager:
            if char != " " and unicodedata.category(char)[0] in "CZ":
                detail = f"invalid character U+{ord(char):04X} (at position {place})"
                yield FieldError(INVALID, f"{at}.manager", manager, detail)
            place += _size(char)
        if _size(entry.get("subresource", "")) > _SUBRESOURCE_LIMIT:
            yield _too_long_error(f"{at}.subresource", _SUBRESOURCE_LIMIT, server)


# --- names ------------------------------------------------------------------------------------------


def _qualified_name(text: str, server: Server) -> list[str]:
    """What is wrong with a label key: an optional DNS prefix, a slash, a name."""
    must = (
        "must consist of alphanumeric characters, '-', '_' or '.', "
        "and must start and end with an alphanumeric character"
    )
    must = _regex_text(must, _KEY, "MyName", "my.name", "123-abc")
    *prefixes, name = text.split("/")
    texts: list[str] = []
    if len(prefixes) > 1:
        what = "a valid label key" if server.minor >= _LABEL_KEY_TEXT else "a qualified name"
        return [f"{what} {must} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    if prefixes == [""]:
        texts.append("prefix part must be non-empty")
    elif prefixes:
        texts += [f"prefix part {problem}" for problem in _subdomain(prefixes[0], server, _unit(server))]
    if not name:
        texts.append("name part must be non-empty")
    elif _size(name) > 63:
        texts.append(f"name part {_too_long(63, server)}")
    if not _KEY_RE.fullmatch(name):
        texts.append(f"name part {must}")
    return texts


def _subdomain(text: str, server: Server, unit: str = "characters") -> list[str]:
    texts = [] if _size(text) <= 253 else [f"must be no more than 253 {unit}"]
    if not all(_LABEL_RE.fullmatch(part) for part in text.split(".")):
        kind = "a lowercase RFC 1123 subdomain" if server.minor >= _RFC_1123_TEXT else "a DNS-1123 subdomain"
        must = (
            f"{kind} must consist of lower case alphanumeric characters, '-' or '.', "
            "and must start and end with an alphanumeric character"
        )
        texts.append(_regex_text(must, _SUBDOMAIN, "example.com"))
    return texts


def _dns_label(text: str, server: Server) -> list[str]:
    texts = [] if _size(text) <= 63 else ["must be no more than 63 characters"]
    if not _LABEL_RE.fullmatch(text):
        kind = "a lowercase RFC 1123 label" if server.minor >= _RFC_1123_TEXT else "a DNS-1123 label"
        must = (
            f"{kind} must consist of lower case alphanumeric characters or '-', "
            "and must start and end with an alphanumeric character"
        )
        texts.append(_regex_text(must, _LABEL, "my-name", "123-abc"))
    return texts


def dns1035_label_errors(text: str) -> list[str]:
    """What is wrong with a DNS-1035 label (a kind in lower case)."""
    texts = [] if _size(text) <= 63 else ["must be no more than 63 characters"]
    if not _LABEL_RE.fullmatch(text) or text[0] in "0123456789":
        must = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', "
            "start with an alphabetic character, and end with an alphanumeric character"
        )
        texts.append(_regex_text(must, "[a-z]([-a-z0-9]*[a-z0-9])?", "my-name", "abc-123"))
    return texts


def _path_segment(text: str) -> list[str]:
    return [f"may not contain '{char}'" for char in "/%" if char in text]


def _without_trailing_dash(prefix: str) -> str:
    """A prefix of a name with its last dash taken for something that may end a name."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix[-1] == "-" and prefix[-2] < "\x80" else prefix


def _too_long(limit: int, server: Server) -> str:
    return f"must be no more than {limit} {_unit(server)}"


def _unit(server: Server) -> str:
    return "bytes" if server.minor >= _LABELS_COUNT_BYTES else "characters"


def _regex_text(must: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{must} (e.g. {shown}regex used for validation is '{pattern}')"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
