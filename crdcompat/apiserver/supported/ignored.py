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

from crdcompat.apiserver.crd_validation.decoded_keywords import KNOWN, RULE_FIELDS, schemas_in
from crdcompat.apiserver.crd_validation.definition import GATED
from crdcompat.apiserver.crd_validation.go_types import SELECTABLE_SINCE, STRUCTS
from crdcompat.apiserver.formats import is_unrecognized
from crdcompat.apiserver.server_versions import Server
from crdcompat.schema.paths import Pointer, value_at
from crdcompat.schema.structural import RULES

#: Keywords whose schemas Go decodes by functions of their own.
_APART = frozenset({"items", "additionalProperties"})
#: Field -> the minor that introduced it, if not every server has it.
_SINCE = {**RULE_FIELDS, "selectableFields": SELECTABLE_SINCE}
#: Above all minors: the minor of a field that no server knows.
_NEVER = 1000

#: The place of a field, and whether it is below a keyword of ``_APART``.
_Field = tuple[Pointer, bool]


class Ignored(Struct, frozen=True):
    """The ignored parts of a CRD: the server's ``warnings``, and the paths that it drops without a warning."""

    warnings: tuple[str, ...]
    dropped: tuple[str, ...]


class Ignorable(Struct, frozen=True):
    """The parts of a CRD that some server ignores: fields, and formats with the types of their values."""

    fields: tuple[_Field, ...]
    formats: tuple[tuple[str, str], ...]

    def by(self, server: Server) -> Ignored:
        """The parts that ``server`` ignores, if it accepts the CRD."""
        warnings, dropped = [], []
        for at, apart in self.fields:
            name, path = str(at[-1]), _warned_path(at)
            is_unknown = server.minor < _SINCE.get(name, _NEVER)
            if is_unknown and not apart:
                warnings.append(f'unknown field "{path}"')
            elif name in _SINCE and (is_unknown or (name in GATED and not server.does(GATED[name]))):
                dropped.append(path)
        unknown = (name for name, type_ in self.formats if is_unrecognized(name, type_, server))
        warnings += (f'unrecognized format "{each}"' for each in dict.fromkeys(unknown))
        return Ignored(tuple(warnings), tuple(dropped))


def ignorable(raw: Mapping[str, Any]) -> Ignorable:
    """The parts of a CRD that some server ignores."""
    return Ignorable(tuple(_fields(raw)), tuple(dict.fromkeys(_formats(raw))))


def _formats(raw: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The formats in all versions, with the types beside them, in the order of the document."""
    spec = raw.get("spec")
    versions = spec.get("versions") if isinstance(spec, Mapping) else None
    for version in versions if isinstance(versions, list) else ():
        try:
            schema = value_at(version, ("schema", "openAPIV3Schema"))
        except LookupError:
            continue
        yield from _formats_below(schema)


def _formats_below(schema: Any) -> Iterator[tuple[str, str]]:
    for holder, at, _ in _keywords(schema, ()):
        type_, format_ = holder.get("type") or "", holder.get("format")
        if at[-1] == "format" and isinstance(type_, str) and isinstance(format_, str) and format_:
            yield format_, type_


def _fields(raw: Mapping[str, Any]) -> Iterator[_Field]:
    """The fields that no server knows, and those that only newer ones know."""
    yield from _in_struct("CustomResourceDefinition", raw, ())


def _in_struct(name: str, value: Any, at: Pointer) -> Iterator[_Field]:
    """Such fields in the value of the Go struct ``name`` at a place."""
    if not isinstance(value, Mapping):
        return
    known = STRUCTS[name]
    for member, content in value.items():
        here = (*at, member)
        if content is None:
            continue
        if member not in known:
            yield here, False
            continue
        if member in _SINCE:
            yield here, False
        kind = known[member]
        inner = kind.removeprefix("[]").removeprefix("v1.")
        if inner == "JSONSchemaProps":
            yield from _in_schema(content, here)
        elif inner in STRUCTS and kind.startswith("[]") and isinstance(content, list):
            for index, each in enumerate(content):
                yield from _in_struct(inner, each, (*here, index))
        elif inner in STRUCTS:
            yield from _in_struct(inner, content, here)


def _in_schema(schema: Any, at: Pointer) -> Iterator[_Field]:
    """Such keywords in a schema and in the schemas below it."""
    for holder, here, apart in _keywords(schema, at):
        keyword = here[-1]
        if keyword not in KNOWN:
            yield here, apart
        elif keyword == RULES and isinstance(holder[RULES], list):
            for index, rule in enumerate(holder[RULES]):
                yield from (((*here, index, member), apart) for member in _members(rule))


def _members(rule: Any) -> Iterator[str]:
    """Such members of one item of x-kubernetes-validations."""
    for member, value in rule.items() if isinstance(rule, Mapping) else ():
        if member not in RULE_FIELDS or (value is not None and RULE_FIELDS[member] > RULE_FIELDS["rule"]):
            yield member


def _keywords(schema: Any, at: Pointer, *, apart: bool = False) -> Iterator[tuple[Mapping[str, Any], Pointer, bool]]:
    """The keywords of a schema and of those below it, in order: schema, place, and whether it is below ``_APART``."""
    if not isinstance(schema, Mapping):
        return
    for keyword, value in schema.items():
        here = (*at, keyword)
        yield schema, here, apart
        for steps, each in schemas_in(keyword, value):
            yield from _keywords(each, (*here, *steps), apart=apart or keyword in _APART)


def _warned_path(at: Pointer) -> str:
    """A path as these warnings write it: ``spec.versions[0].schema``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at).removeprefix(".")
