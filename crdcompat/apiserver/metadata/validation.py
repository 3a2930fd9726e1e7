"""Validation of ObjectMeta (docs/semantics.md#metadata): on create, on update, in embedded resources.

Source: k8s.io/apimachinery, ``pkg/api/validation`` and ``pkg/apis/meta/v1/validation``; the API extensions
server's ``schema/objectmeta``. None of these rules ratchets. Go visits maps in random order; errors here are in the
order of the keys.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from crdcompat.apiserver import gotext
from crdcompat.apiserver.field_errors import FORBIDDEN, INVALID, REQUIRED, TOO_LONG, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.metadata.decoding import OWNER_STRINGS, decode_object_meta
from crdcompat.apiserver.metadata.object_names import (
    dns_label_errors,
    label_key_errors,
    label_value_errors,
    path_segment_errors,
    subdomain_errors,
    utf8_size,
    without_trailing_dash,
)
from crdcompat.schema.paths import Trail, place_at
from crdcompat.schema.structural import ABSENT

if TYPE_CHECKING:
    from crdcompat.apiserver.server_versions import Server

_ROOT: Trail = (None, "metadata")
_ANNOTATIONS_LIMIT = 256 * 1024
_MANAGER_LIMIT = 128
_SUBRESOURCE_LIMIT = 256
_OWNER_FLAGS = ("controller", "blockOwnerDeletion")
_OPERATIONS, _FIELDS_TYPE = ("Apply", "Update"), "FieldsV1"
_GENERATED_BASE = 58  # the server truncates generateName to this length
_IMMUTABLE = "field is immutable"
_BYTES_IN_ANNOTATION_TEXT = 20  # the minor since which the text counts bytes; before: characters


def name_of_new(meta: Mapping[str, Any]) -> str:
    """The name of a new object. The server generates one from ``generateName``; here its random suffix is ``xxxxx``."""
    name, generate = (meta.get(member) or "" for member in ("name", "generateName"))
    return str(name or (generate and generate[:_GENERATED_BASE] + "xxxxx"))


def validate_create(meta: dict[str, Any], *, namespaced: bool, server: Server) -> list[FieldError]:
    """Errors of the (decoded) metadata of a new object.

    A missing namespace is no error, because it comes from the URL of the request.
    """
    errors: list[FieldError] = []
    name, generate = name_of_new(meta), meta.get("generateName", "")
    if generate:
        problems = subdomain_errors(without_trailing_dash(generate), server)
        errors += _invalid((_ROOT, "generateName"), generate, server, problems)
    if name:
        errors += _invalid((_ROOT, "name"), name, server, subdomain_errors(name, server))
    else:
        errors.append(_error(REQUIRED, (_ROOT, "name"), ABSENT, server, "name or generateName is required"))
    if namespaced:
        errors += _namespace(meta, _ROOT, server)
    errors += _common(meta, _ROOT, server)
    errors += _tracked_fields(meta, server)
    return errors


def validate_embedded(raw: Any, path: Trail, server: Server) -> list[FieldError]:
    """Errors of the metadata of an embedded resource. It needs no name; any path segment is a valid name.

    Members that do not decode are ignored: the server refuses a request with them earlier, and drops stored ones.
    """
    meta, _ = decode_object_meta(raw)
    name, generate = meta.get("name", ""), meta.get("generateName", "")
    errors = [*_invalid((path, "generateName"), generate, server, path_segment_errors(generate))]
    problems = [f"may not be '{name}'"] if name in (".", "..") else path_segment_errors(name)
    errors += _invalid((path, "name"), name, server, problems)
    errors += _namespace(meta, path, server)
    errors += _common(meta, path, server)
    errors += _managed_fields(meta, path, server)
    return errors


def _namespace(meta: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    namespace = meta.get("namespace", "")
    if namespace:
        yield from _invalid((path, "namespace"), namespace, server, dns_label_errors(namespace, server))


def _common(meta: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    """The rules that new objects and embedded resources share."""
    if meta.get("generation", 0) < 0:
        yield _error(INVALID, (path, "generation"), meta["generation"], server, "must be greater than or equal to 0")
    yield from _labels(meta, path, server)
    yield from _annotations(meta, path, server)
    yield from _owner_references(meta, path, server)
    yield from _finalizers(meta, path, server)


def validate_update(new: dict[str, Any], old: dict[str, Any], server: Server) -> list[FieldError]:
    """Errors of the (decoded) metadata of an update on the main endpoint or on /status.

    A member that only one side has counts as unchanged, because the server fills it from the URL or the old object; but
    an update cannot set the members of a deletion. Metadata that was stored before must be valid too.
    """
    errors: list[FieldError] = []
    if old.get("deletionTimestamp"):
        extra = sorted(set(new.get("finalizers", ())) - set(old.get("finalizers", ())))
        if extra:
            detail = f"no new finalizers can be added if the object is being deleted, found new finalizers {_go(extra)}"
            errors.append(_error(FORBIDDEN, (_ROOT, "finalizers"), ABSENT, server, detail))
    for name in ("name", "namespace", "uid"):
        if name in new and name in old and new[name] != old[name]:
            errors += _invalid((_ROOT, name), new[name], server, [_IMMUTABLE])
    if "deletionTimestamp" in new and "deletionTimestamp" not in old:
        moment = new["deletionTimestamp"]
        shown = moment.replace("T", " ").replace("Z", " +0000 UTC")
        both = (shown, gotext.quote(moment))
        errors.append(_error(INVALID, (_ROOT, "deletionTimestamp"), moment, server, _IMMUTABLE, both))
    grace = new.get("deletionGracePeriodSeconds")
    if grace is not None and grace != old.get("deletionGracePeriodSeconds"):
        errors += _invalid((_ROOT, "deletionGracePeriodSeconds"), grace, server, [_IMMUTABLE])
    errors += _common(new, _ROOT, server)
    errors += _tracked_fields(new, server)
    return errors


def _go(texts: list[str]) -> str:
    """A list of strings in Go syntax."""
    return f"[]string{{{', '.join(map(gotext.quote, texts))}}}"


def _error(
    kind: str, path: Trail, value: Any, server: Server, detail: str, shown: tuple[str, str] | None = None
) -> FieldError:
    """An error; ``shown`` is a value of a Go type as servers print it: in Go syntax (before 1.34), and as JSON."""
    pointer, keys = place_at(path)
    return FieldError(kind, pointer, Keyword.METADATA, value, server, shown, fixed_detail=detail, keys=keys)


def _invalid(path: Trail, value: Any, server: Server, texts: list[str]) -> Iterator[FieldError]:
    return (_error(INVALID, path, value, server, text) for text in texts)


def _labels(meta: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    for key, value in sorted(meta.get("labels", {}).items()):
        yield from _invalid((path, "labels"), key, server, label_key_errors(key, server))
        yield from _invalid((path, "labels"), value, server, label_value_errors(value, server))


def _annotations(meta: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    annotations = meta.get("annotations", {})
    for key in sorted(annotations):
        yield from _invalid((path, "annotations"), key, server, label_key_errors(key.lower(), server))
    if sum(utf8_size(key) + utf8_size(value) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        yield _limit_error((path, "annotations"), _ANNOTATIONS_LIMIT, server)


def _limit_error(path: Trail, limit: int, server: Server) -> FieldError:
    if server.does("bytes_text"):
        detail = f"may not be more than {limit} bytes"
    else:
        unit = "bytes" if server.minor >= _BYTES_IN_ANNOTATION_TEXT else "characters"
        detail = f"must have at most {limit} {unit}"
    return _error(TOO_LONG, path, ABSENT, server, detail)


def _owner_references(meta: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    path = (path, "ownerReferences")  # the server gives no index
    owners = meta.get("ownerReferences", [])
    controller = ""
    for owner in owners:
        api_version, kind, name, _ = (owner.get(member, "") for member in OWNER_STRINGS)
        group, version = _group_version(api_version)
        if not version:
            yield _error(INVALID, (path, "apiVersion"), api_version, server, "version must not be empty")
        for member in ("kind", "name", "uid"):
            if not owner.get(member):
                empty = "must not be empty" if server.does("owner_text") else f"{member} must not be empty"
                yield _error(INVALID, (path, member), "", server, empty)
        if (group, version, kind) == ("", "v1", "Event"):
            disallowed = "/v1, Kind=Event is disallowed from being an owner"
            yield _error(INVALID, path, owner, server, disallowed, (_owner_syntax(owner), _owner_json(owner)))
        if owner.get("controller"):
            this = f"{kind}/{name}"
            if controller:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {this}'
                )
                shown = (
                    f"[]v1.OwnerReference{{{', '.join(map(_owner_syntax, owners))}}}",
                    f"[{','.join(map(_owner_json, owners))}]",
                )
                yield _error(INVALID, path, owners, server, detail, shown)
            controller = controller or this


def _owner_json(owner: dict[str, Any]) -> str:
    """An owner reference as JSON, in the order of the Go struct."""
    members = (
        f'"{name}":{gotext.compact_json(owner[name])}' for name in (*OWNER_STRINGS, *_OWNER_FLAGS) if name in owner
    )
    return f"{{{','.join(members)}}}"


def _owner_syntax(owner: dict[str, Any]) -> str:
    """An owner reference in Go syntax. Pointers to flags have random addresses there."""
    names = {"apiVersion": "APIVersion", "kind": "Kind", "name": "Name", "uid": "UID"}
    texts = [f"{names[name]}:{gotext.quote(owner.get(name, ''))}" for name in OWNER_STRINGS]
    flags = [f"{name[0].upper()}{name[1:]}:(*bool)({'0x0' if name in owner else 'nil'})" for name in _OWNER_FLAGS]
    return f"v1.OwnerReference{{{', '.join((*texts, *flags))}}}"


def _group_version(text: str) -> tuple[str, str]:
    group, slash, version = text.partition("/")
    if "/" in version:
        return "", ""
    return (group, version) if slash else ("", text)


def _finalizers(meta: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    finalizers = meta.get("finalizers", [])
    for finalizer in finalizers:
        yield from _invalid((path, "finalizers"), finalizer, server, label_key_errors(finalizer, server))
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        detail = "finalizer orphan and foregroundDeletion cannot be both set"
        yield _error(
            INVALID,
            (path, "finalizers"),
            finalizers,
            server,
            detail,
            (_go(finalizers), gotext.compact_json(finalizers)),
        )


def _tracked_fields(meta: dict[str, Any], server: Server) -> Iterator[FieldError]:
    """Errors of an object's own managed fields. The server makes new ones where any entry does not decode."""
    entries = meta.get("managedFields", ())
    if all(
        entry.get("operation") in _OPERATIONS and entry.get("apiVersion") and entry.get("fieldsType") == _FIELDS_TYPE
        for entry in entries
    ):
        yield from _managed_fields(meta, _ROOT, server)


def _managed_fields(meta: dict[str, Any], path: Trail, server: Server) -> Iterator[FieldError]:
    for index, entry in enumerate(meta.get("managedFields", ())):
        at = ((path, "managedFields"), index)
        operation, fields_type = entry.get("operation", ""), entry.get("fieldsType", "")
        manager = entry.get("manager", "")
        if operation not in _OPERATIONS:
            yield _error(INVALID, (at, "operation"), operation, server, "must be `Apply` or `Update`")
        if fields_type not in ("", _FIELDS_TYPE):
            yield _error(INVALID, (at, "fieldsType"), fields_type, server, "must be `FieldsV1`")
        if utf8_size(manager) > _MANAGER_LIMIT:
            yield _limit_error((at, "manager"), _MANAGER_LIMIT, server)
        place = 0
        for char in "" if manager.isascii() and manager.isprintable() else manager:
            if char != " " and unicodedata.category(char)[0] in "CZ":
                detail = f"invalid character U+{ord(char):04X} (at position {place})"
                yield _error(INVALID, (at, "manager"), manager, server, detail)
            place += utf8_size(char)
        if utf8_size(entry.get("subresource", "")) > _SUBRESOURCE_LIMIT:
            yield _limit_error((at, "subresource"), _SUBRESOURCE_LIMIT, server)
