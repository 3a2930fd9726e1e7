"""Parts of a CRD that a server accepts and ignores: fields that it does not know, and formats.

For most fields the server sends a warning. With strict validation, the default of kubectl, it refuses the request
instead. It drops fields below ``items`` and ``additionalProperties`` without a warning, because Go decodes these two
by functions of their own, which skip unknown fields.

Source: k8s.io/apiserver, pkg/endpoints/handlers/create.go (fieldValidation=Warn); apiextensions-apiserver,
pkg/registry/customresourcedefinition/strategy.go; recorded answers of servers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.crd_validation.definition import GATED
from crdcompat.apiserver.crd_validation.go_types import SELECTABLE_SINCE, STRUCTS
from crdcompat.apiserver.crd_validation.keywords import KNOWN, RULE_FIELDS
from crdcompat.apiserver.formats import is_unrecognized
from crdcompat.apiserver.versions import Server
from crdcompat.schema.paths import Pointer, value_at
from crdcompat.schema.structural import RULES

_MAPS = frozenset({"properties", "patternProperties", "definitions", "dependencies"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "items"})
_SINGLE = frozenset({"items", "not", "additionalProperties", "additionalItems"})
#: Field -> the minor that introduced it, if not every server has it.
_SINCE = {**RULE_FIELDS, "selectableFields": SELECTABLE_SINCE}
#: Above all minors: the minor of a field that no server knows.
_NEVER = 1000


class Ignored(Struct, frozen=True):
    """The ignored parts of a CRD: the server's ``warnings``, and the paths that it drops without a warning."""

    warnings: tuple[str, ...]
    dropped: tuple[str, ...]


def ignored_by(raw: Mapping[str, Any], server: Server) -> Ignored:
    """The parts that ``server`` ignores in a CRD that it accepts."""
    warnings, dropped = [], []
    for at in _fields(raw):
        name, path = str(at[-1]), _warned_path(at)
        is_unknown = server.minor < _SINCE.get(name, _NEVER)
        if is_unknown and not _decoded_apart(at):
            warnings.append(f'unknown field "{path}"')
        elif name in _SINCE and (is_unknown or (name in GATED and not server.does(GATED[name]))):
            dropped.append(path)
    warnings += (f'unrecognized format "{each}"' for each in dict.fromkeys(_unknown_formats(raw, server)))
    return Ignored(tuple(warnings), tuple(dropped))


def _decoded_apart(at: Pointer) -> bool:
    """Whether the field is below ``items`` or ``additionalProperties``; names of properties do not count."""
    keywords = (step for step, above in zip(at[:-1], (None, *at), strict=False) if above not in _MAPS)
    return any(step in ("items", "additionalProperties") for step in keywords)


def _unknown_formats(raw: Mapping[str, Any], server: Server) -> Iterator[str]:
    """The formats in all versions that the server does not recognize, in the order of the document."""
    spec = raw.get("spec")
    versions = spec.get("versions") if isinstance(spec, Mapping) else None
    for version in versions if isinstance(versions, list) else ():
        try:
            schema = value_at(version, ("schema", "openAPIV3Schema"))
        except LookupError:
            continue
        yield from _formats_below(schema, server)


def _formats_below(schema: Any, server: Server) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    type_, format_ = schema.get("type") or "", schema.get("format")
    if isinstance(type_, str) and isinstance(format_, str) and format_ and is_unrecognized(format_, type_, server):
        yield format_
    for keyword, value in schema.items():
        if keyword == "properties" and isinstance(value, Mapping):
            for each in value.values():
                yield from _formats_below(each, server)
        elif keyword in _SINGLE:
            yield from _formats_below(value, server)
        elif keyword in _LISTS and isinstance(value, list):
            for each in value:
                yield from _formats_below(each, server)


def _fields(raw: Mapping[str, Any]) -> Iterator[Pointer]:
    """The fields that no server knows, and those that only newer ones know."""
    yield from _in_struct("CustomResourceDefinition", raw, ())


def _in_struct(name: str, value: Any, at: Pointer) -> Iterator[Pointer]:
    """Such fields in the value of the Go struct ``name`` at a place."""
    if not isinstance(value, Mapping):
        return
    known = STRUCTS[name]
    for member, content in value.items():
        here = (*at, member)
        if content is None:
            continue
        if member not in known:
            yield here
            continue
        if member in _SINCE:
            yield here
        kind = known[member]
        inner = kind.removeprefix("[]").removeprefix("v1.")
        if inner == "JSONSchemaProps":
            yield from _in_schema(content, here)
        elif inner in STRUCTS and kind.startswith("[]") and isinstance(content, list):
            for index, each in enumerate(content):
                yield from _in_struct(inner, each, (*here, index))
        elif inner in STRUCTS:
            yield from _in_struct(inner, content, here)


def _in_schema(schema: Any, at: Pointer) -> Iterator[Pointer]:
    """Such keywords in a schema and in the schemas below it."""
    if not isinstance(schema, Mapping):
        return
    for keyword, value in schema.items():
        here = (*at, keyword)
        if keyword not in KNOWN:
            yield here
        elif keyword == RULES and isinstance(value, list):
            for index, rule in enumerate(value):
                yield from _in_rule(rule, (*here, index))
        elif keyword in _MAPS and isinstance(value, Mapping):
            for name, each in value.items():
                yield from _in_schema(each, (*here, name))
        elif keyword in _LISTS and isinstance(value, list):
            for index, each in enumerate(value):
                yield from _in_schema(each, (*here, index))
        elif keyword in _SINGLE:
            yield from _in_schema(value, here)


def _in_rule(rule: Any, at: Pointer) -> Iterator[Pointer]:
    """Such members of one item of x-kubernetes-validations."""
    for member, value in rule.items() if isinstance(rule, Mapping) else ():
        if member not in RULE_FIELDS or (value is not None and RULE_FIELDS[member] > RULE_FIELDS["rule"]):
            yield (*at, member)


def _warned_path(at: Pointer) -> str:
    """A path as these warnings write it: ``spec.versions[0].schema``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at).removeprefix(".")
