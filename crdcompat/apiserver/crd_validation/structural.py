"""The rules of structural schemas, which v1 CRDs must obey; with the server's messages.

Source: apiextensions-apiserver, pkg/apiserver/schema/validation.go and pkg/apis/apiextensions/validation; reference
section 11.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crdcompat.apiserver.decode import apply_defaults, prune
from crdcompat.apiserver.errors import FORBIDDEN, INVALID, REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.apiserver.versions import Server
from crdcompat.crds.model import CrdVersion
from crdcompat.schema.paths import Pointer
from crdcompat.schema.re2 import syntax_error
from crdcompat.schema.structural import ABSENT, Node, mapping_of

Schema = Mapping[str, Any]
"""A schema as in the manifest."""

Fault = tuple[Pointer, FieldError]
"""An error, and its pointer in the schema."""

#: Keywords that are forbidden inside anyOf, oneOf, allOf and not, because they shape the value; what they have to be.
_SHAPING = {
    "type": "empty",
    "additionalProperties": "undefined",
    "default": "undefined",
    "nullable": "false",
    "title": "empty",
    "description": "empty",
}
#: Keywords that are forbidden at the root of a version with a status subresource.
_ROOT_FORBIDDEN = ("allOf", "anyOf", "oneOf", "not", "enum", "nullable")
_JUNCTORS = frozenset({"allOf", "anyOf", "oneOf", "not"})
#: The path of the schema in the server's internal form of a CRD whose versions have the same schema.
_SCHEMA: Pointer = ("spec", "validation", "openAPIV3Schema")


def root_faults(version: CrdVersion, server: Server) -> Iterator[Fault]:
    """The faults of the root of a schema."""
    node = version.node
    if node.type != "object":
        kind, detail = (
            (INVALID, "must be object at the root") if node.type else (REQUIRED, "must not be empty at the root")
        )
        yield _fault((), "type", kind, server, detail, node.type)
    if node.additional is not None:
        yield _fault((), "additionalProperties", FORBIDDEN, server, "must not be used at the root")
    for keyword in _ROOT_FORBIDDEN if version.has_status else ():
        if keyword in node.raw:
            allowed = (
                "only a list of keywords is allowed at the root of the schema if the status subresource is enabled"
            )
            yield (keyword,), _error((), INVALID, ABSENT, server, f"{allowed}; {keyword} is not one of them")


def schema_faults(
    raw: Schema, at: Pointer, server: Server, *, root: bool = False, of: str = "object fields"
) -> Iterator[Fault]:
    """The faults of a schema and of all schemas below it. Works on plain dicts, because it runs for every CRD.

    ``of`` is what the schema describes, in the server's words.
    """
    kind, properties, additional, items = map(raw.get, ("type", "properties", "additionalProperties", "items"))
    free = raw.get("x-kubernetes-int-or-string") is True or raw.get("x-kubernetes-preserve-unknown-fields") is True
    if not root and not free and not (kind and isinstance(kind, str)):
        yield _fault(at, "type", REQUIRED, server, f"must not be empty for specified {of}")
    if raw.get("uniqueItems") is True:
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield _fault(at, "uniqueItems", FORBIDDEN, server, detail)
    if properties and isinstance(properties, dict) and isinstance(additional, dict):
        detail = "additionalProperties and properties are mutual exclusive"
        yield _fault(at, "additionalProperties", FORBIDDEN, server, detail)
    if kind == "array" and not isinstance(items, dict):
        yield _fault(at, "items", REQUIRED, server, "must be specified")
    if "pattern" in raw:
        yield from _pattern(raw, at, server)
    if raw.get("default") is not None:
        yield from _default(raw, at, server)
    for name, sub in sorted(mapping_of(properties).items()):
        yield from schema_faults(mapping_of(sub), (*at, "properties", name), server, root=root and name == "metadata")
    if isinstance(additional, dict):
        yield from schema_faults(additional, (*at, "additionalProperties"), server)
    if isinstance(items, dict):
        yield from schema_faults(items, (*at, "items"), server, of="array items")
    if not _JUNCTORS.isdisjoint(raw):
        yield from _branches(raw, at, server, within_int_or_string=_is_int_or_string(raw))


def _pattern(raw: Schema, at: Pointer, server: Server) -> Iterator[Fault]:
    pattern = raw.get("pattern")
    if isinstance(pattern, str) and (reason := syntax_error(pattern)):
        detail = f"must be a valid regular expression, but isn't: {reason}"
        yield _fault(at, "pattern", INVALID, server, detail, pattern)


def _default(raw: Schema, at: Pointer, server: Server) -> Iterator[Fault]:
    node = Node(raw)
    pruned: list[str] = []
    parent = Node({"properties": {"v": raw}})
    prune({"v": _without_metadata(node.default, node)}, parent, None, pruned)
    value = prune({"v": node.default}, parent, None, [])
    holder = Node({"type": "object", "properties": {"v": raw}})
    apply_defaults(value, holder, "", [])
    if pruned:
        yield _fault(at, "default", INVALID, server, "must not have unknown fields", node.default)
    errors: list[FieldError] = []
    SchemaValidator(node, server).validate(value.get("v"), None, None, errors, [])
    for error in errors:
        place = (*at, "default")
        yield place, _error(place, error.type, error.value, server, keyword=Keyword.DEFAULT, demand=error)


def _without_metadata(value: Any, node: Node | None) -> Any:
    """The value without the metadata of embedded resources: a default may have unknown fields there."""
    if node is None:
        return value
    if isinstance(value, list):
        return [_without_metadata(item, node.items) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: member for name, member in value.items() if not (node.embedded and name == "metadata")}
    return {name: _without_metadata(member, node.child(name)) for name, member in kept.items()}


def _branches(raw: Schema, at: Pointer, server: Server, *, within_int_or_string: bool) -> Iterator[Fault]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = raw.get(keyword)
        for index, branch in enumerate(branches if isinstance(branches, list) else ()):
            below = (*at, keyword, index)
            yield from _branch(mapping_of(branch), below, server, within_int_or_string=within_int_or_string)
    if isinstance(raw.get("not"), dict):
        yield from _branch(raw["not"], (*at, "not"), server, within_int_or_string=within_int_or_string)


def _branch(raw: Schema, at: Pointer, server: Server, *, within_int_or_string: bool) -> Iterator[Fault]:
    for keyword, wanted in _SHAPING.items():
        value = raw.get(keyword)
        forbidden = value not in (None, "", False)
        if keyword == "additionalProperties" and value is False:
            forbidden = not server.does("additional_false_in_junctors")
        # The one exception: anyOf of the types integer and string with x-kubernetes-int-or-string.
        if forbidden and not (keyword == "type" and within_int_or_string):
            yield _fault(at, keyword, FORBIDDEN, server, f"must be {wanted} to be structural")
    yield from _pattern(raw, at, server)
    for name, sub in sorted(mapping_of(raw.get("properties")).items()):
        inner = mapping_of(sub)
        yield from _branch(inner, (*at, "properties", name), server, within_int_or_string=_is_int_or_string(inner))
    if isinstance(raw.get("items"), dict):
        yield from _branch(raw["items"], (*at, "items"), server, within_int_or_string=False)
    yield from _branches(raw, at, server, within_int_or_string=within_int_or_string)


def of_version(fault: Fault, version: CrdVersion) -> Fault:
    """The fault in a CRD whose versions have different schemas: its path names the version."""
    at, error = fault
    pointer = ("spec", "versions", version.pointer[-1], "schema", _SCHEMA[-1], *error.pointer[len(_SCHEMA) :])
    return at, error._replace(pointer=pointer, base=len(pointer), keys=_keys(pointer))


def _fault(at: Pointer, keyword: str, kind: str, server: Server, detail: str, value: Any = "") -> Fault:
    """A fault of one keyword of the schema at ``at``."""
    place = (*at, keyword)
    return place, _error(place, kind, value, server, detail)


def _error(
    at: Pointer,
    kind: str,
    value: Any,
    server: Server,
    detail: str | None = None,
    *,
    keyword: Keyword = Keyword.CRD,
    demand: Any = None,
) -> FieldError:
    pointer = (*_SCHEMA, *at)
    return FieldError(kind, pointer, keyword, value, server, demand, detail, base=len(pointer), keys=_keys(pointer))


def _keys(pointer: Pointer) -> tuple[int, ...]:
    """The indices of the steps that are property names (``spec.validation.openAPIV3Schema.properties[spec]``)."""
    keys: list[int] = []
    named = False
    for index, step in enumerate(pointer):
        if named:
            keys.append(index)
        named = step == "properties" and not named
    return tuple(keys)


def _is_int_or_string(raw: Schema) -> bool:
    return raw.get("x-kubernetes-int-or-string") is True
