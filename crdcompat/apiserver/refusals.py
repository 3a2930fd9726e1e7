"""CRDs that the API server itself would refuse, and by which rule (reference section 11).

Such a CRD is never served, so no verdict under it means anything. The checks are those whose breach changes
what a schema means; texts and paths are the server's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from crdcompat.apiserver.decode import apply_defaults, prune
from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import FieldError, aggregate
from crdcompat.apiserver.undecodable import undecodable
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.manifests.crd import Crd, CrdVersion
from crdcompat.schema.paths import Pointer
from crdcompat.schema.re2 import syntax_error
from crdcompat.schema.structural import ABSENT, Node

_FORBIDDEN, _REQUIRED, _INVALID = "FieldValueForbidden", "FieldValueRequired", "FieldValueInvalid"
#: Keywords that shape a value: they must stand outside of anyOf, oneOf, allOf and not.
_SHAPING = ("type", "additionalProperties", "default", "nullable", "title", "description")
#: At the root of a version with a status subresource only these are allowed.
_ROOT_FORBIDDEN = ("allOf", "anyOf", "oneOf", "not", "enum", "nullable")
_JUNCTORS = frozenset({"allOf", "anyOf", "oneOf", "not"})
_MOST = 20

_Raw = Mapping[str, Any]
"""A schema as it stands in the manifest."""

#: A schema that nothing can be said against.
_GOOD: _Raw = {"type": "object"}
#: An error, and where in the CRD's document it stands.
_Fault = tuple[Pointer, FieldError]


def refusal(crd: Crd, version: CrdVersion, server: Server) -> str:
    """Why ``server`` would refuse ``crd``, in the words it answers; "" if nothing is known against it.

    Only ``version``'s schema is looked at, and for ``apiextensions.k8s.io/v1beta1`` none: there a schema need
    not be structural. What does not decode is the whole answer: nothing else is looked at then.
    """
    if (schema := _structural(crd, version)) is not None and (misfits := undecodable(schema)):
        return misfits[0][1]
    faults = (*_of_the_crd(crd), *islice(_of_the_version(crd, version, schema, server), _MOST))
    errors = [error for _, error in faults[:_MOST]]
    return aggregate("CustomResourceDefinition", "apiextensions.k8s.io", crd.name, errors, server)


def refusals(crd: Crd, server: Server, good: Crd | None = None) -> list[tuple[Pointer, str]]:
    """What ``server`` has against ``crd``, all its versions: the place in its document, and the sentence.

    ``good`` is a CRD that nothing is known against: what this one has alike is not looked at again.
    """
    schemas = []
    for version in crd.versions:
        schema, other = _structural(crd, version), good.version(version.name) if good is not None else None
        if schema is not None and other is not None and other.schema is not None:
            schema = _rest(schema, other.schema)
        schemas.append((version, schema))
    misfits = [
        ((*version.schema_pointer, *at), sentence)
        for version, schema in schemas
        for at, sentence in (undecodable(schema) if schema is not None else ())
    ]
    if misfits:
        return misfits[:_MOST]
    faults = [*_of_the_crd(crd)]
    for version, schema in schemas:
        faults += islice(_of_the_version(crd, version, schema, server), _MOST)
    return [(at, error.text(server)) for at, error in faults[:_MOST]]


def _structural(crd: Crd, version: CrdVersion) -> _Raw | None:
    """The schema, if there is one that has to be structural."""
    return version.schema if crd.raw.get("apiVersion") == "apiextensions.k8s.io/v1" else None


def _rest(schema: _Raw, good: _Raw) -> _Raw:
    """The schema without properties that ``good`` has alike; whole where that could hide something."""
    # A default is held against all that stands below it, and keywords count for one another.
    if "default" in schema or schema.keys() != good.keys():
        return schema
    made = dict(schema)
    if isinstance(properties := schema.get("properties"), dict) and isinstance(known := good["properties"], dict):
        made["properties"] = {
            name: _rest(sub, known[name]) if isinstance(sub, dict) and isinstance(known.get(name), dict) else sub
            for name, sub in properties.items()
            if name not in known or sub != known[name]
        }
    for keyword in ("items", "additionalProperties"):
        if isinstance(sub := schema.get(keyword), dict) and isinstance(known := good[keyword], dict):
            made[keyword] = _GOOD if sub == known else _rest(sub, known)
    return made


def update_refusal(current: Crd, target: Crd, stored_versions: Sequence[str], server: Server) -> str:
    """Why ``server`` would refuse to replace ``current`` by ``target``; "" if nothing is known against it.

    ``stored_versions`` is ``status.storedVersions`` of the CRD in the cluster. The server never looks at stored
    objects here: an older, stricter schema is always accepted (rollback-truth, facts 12 and 13).
    """
    return aggregate(
        "CustomResourceDefinition",
        "apiextensions.k8s.io",
        current.name,
        list(_of_the_update(current, target, stored_versions, server)),
        server,
    )


def _of_the_update(current: Crd, target: Crd, stored: Sequence[str], server: Server) -> Iterator[FieldError]:
    if target.scope != current.scope:
        yield FieldError(_INVALID, "spec.scope", target.scope, "field is immutable")
    if target.kind != current.kind:
        yield FieldError(_INVALID, "spec.names.kind", target.kind, "field is immutable")
    if current.prunes and not target.prunes:
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        yield FieldError(_INVALID, "spec.preserveUnknownFields", True, detail)
    for index, name in enumerate(stored):
        if target.version(name) is None:
            detail = "must appear in spec.versions"
            if server.does("stored_version_text"):
                detail = (
                    f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                    f"spec.versions until a storage migration ensures no data remains persisted in {name} and "
                    f"removes {name} from status.storedVersions"
                )
            yield FieldError(_INVALID, f"status.storedVersions[{index}]", name, detail)


def _of_the_crd(crd: Crd) -> Iterator[_Fault]:
    expected = f"{crd.plural}.{crd.group}"
    if crd.name != expected:
        detail = 'must be spec.names.plural+"."+spec.group'
        yield ("metadata", "name"), FieldError(_INVALID, "metadata.name", crd.name, detail)
    at: Pointer = ("spec", "versions")
    names = [version.name for version in crd.versions]
    if len(set(names)) < len(names):
        yield at, FieldError(_INVALID, "spec.versions", ABSENT, "must contain unique version names")
    if sum(version.storage for version in crd.versions) != 1:
        detail = "must have exactly one version marked as storage version"
        yield at, FieldError(_INVALID, "spec.versions", ABSENT, detail)
    if crd.scope not in ("Namespaced", "Cluster"):
        detail = 'supported values: "Cluster", "Namespaced"' if crd.scope else ""
        kind = "FieldValueNotSupported" if crd.scope else _REQUIRED
        yield ("spec", "scope"), FieldError(kind, "spec.scope", crd.scope, detail)


def _of_the_version(crd: Crd, version: CrdVersion, schema: _Raw | None, server: Server) -> Iterator[_Fault]:
    """The faults of a version; of its schema those of the part ``schema``, none if there is none to look at."""
    if schema is not None:
        for at, error in (*_of_the_root(version), *_node(schema, (), server, root=True)):
            yield (*version.schema_pointer, *at), error
    elif crd.raw.get("apiVersion") == "apiextensions.k8s.io/v1":
        field = f"spec.versions[{version.pointer[-1]}].schema.openAPIV3Schema"
        yield version.pointer, FieldError(_REQUIRED, field, "", "schemas are required")


def _of_the_root(version: CrdVersion) -> Iterator[_Fault]:
    node = version.node
    if node.type != "object":
        yield _fault((), "type", _INVALID if node.type else _REQUIRED, "must be object at the root", node.type)
    if node.additional is not None:
        yield _fault((), "additionalProperties", _FORBIDDEN, "must not be used at the root")
    for keyword in _ROOT_FORBIDDEN if version.has_status else ():
        if keyword in node.raw:
            allowed = (
                "only a list of keywords is allowed at the root of the schema if the status subresource is enabled"
            )
            yield (keyword,), FieldError(_INVALID, _field(()), ABSENT, f"{allowed}; {keyword} is not one of them")


def _node(raw: _Raw, at: Pointer, server: Server, *, root: bool = False) -> Iterator[_Fault]:
    """The faults of a schema and of all below it. Plain dicts: every CRD that is compared comes by here."""
    kind, properties, additional, items = map(raw.get, ("type", "properties", "additionalProperties", "items"))
    free = raw.get("x-kubernetes-int-or-string") is True or raw.get("x-kubernetes-preserve-unknown-fields") is True
    if not root and not free and not (kind and isinstance(kind, str)):
        yield _fault(at, "type", _REQUIRED, "must not be empty for specified object fields")
    if raw.get("uniqueItems") is True:
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield _fault(at, "uniqueItems", _FORBIDDEN, detail)
    if properties and isinstance(properties, dict) and isinstance(additional, dict):
        detail = "additionalProperties and properties are mutual exclusive"
        yield _fault(at, "additionalProperties", _FORBIDDEN, detail)
    if kind == "array" and not isinstance(items, dict):
        yield _fault(at, "items", _REQUIRED, "must be specified")
    if "pattern" in raw:
        yield from _pattern(raw, at)
    if raw.get("default") is not None:
        yield from _default(raw, at, server)
    for name, sub in sorted(_mapping(properties).items()):
        yield from _node(_mapping(sub), (*at, "properties", name), server, root=root and name == "metadata")
    if isinstance(additional, dict):
        yield from _node(additional, (*at, "additionalProperties"), server)
    if isinstance(items, dict):
        yield from _node(items, (*at, "items"), server)
    if not _JUNCTORS.isdisjoint(raw):
        yield from _branches(raw, at, within_int_or_string=_is_int_or_string(raw))


def _pattern(raw: _Raw, at: Pointer) -> Iterator[_Fault]:
    pattern = raw.get("pattern")
    if isinstance(pattern, str) and (reason := syntax_error(pattern)):
        detail = f"must be a valid regular expression, but isn't: {reason}"
        yield _fault(at, "pattern", _INVALID, detail, pattern)


def _default(raw: _Raw, at: Pointer, server: Server) -> Iterator[_Fault]:
    node = Node(raw)
    pruned: list[str] = []
    value = prune({"v": node.default}, Node({"properties": {"v": raw}}), None, pruned)
    holder = Node({"type": "object", "properties": {"v": raw}})
    apply_defaults(value, holder, "", [])
    if pruned:
        yield _fault(at, "default", _INVALID, "must not have unknown fields", node.default)
    errors: list[FieldError] = []
    SchemaValidator(node, server).validate(value.get("v"), "", None, errors, [])
    for error in errors:
        field = _field((*at, "default")) + ("" if error.field == "<nil>" else f".{error.field}")
        yield (*at, "default"), FieldError(error.type, field, error.value, error.detail)


def _branches(raw: _Raw, at: Pointer, *, within_int_or_string: bool) -> Iterator[_Fault]:
    for keyword in ("allOf", "anyOf", "oneOf"):
        branches = raw.get(keyword)
        for index, branch in enumerate(branches if isinstance(branches, list) else ()):
            below = (*at, keyword, index)
            yield from _branch(_mapping(branch), below, within_int_or_string=within_int_or_string)
    if isinstance(raw.get("not"), dict):
        yield from _branch(raw["not"], (*at, "not"), within_int_or_string=within_int_or_string)


def _branch(raw: _Raw, at: Pointer, *, within_int_or_string: bool) -> Iterator[_Fault]:
    for keyword in _SHAPING:
        # The one idiom that is allowed: anyOf integer, string beside x-kubernetes-int-or-string.
        if keyword in raw and not (keyword == "type" and within_int_or_string):
            yield _fault(at, keyword, _FORBIDDEN, "must be empty to be structural")
    yield from _pattern(raw, at)
    for name, sub in sorted(_mapping(raw.get("properties")).items()):
        inner = _mapping(sub)
        yield from _branch(inner, (*at, "properties", name), within_int_or_string=_is_int_or_string(inner))
    if isinstance(raw.get("items"), dict):
        yield from _branch(raw["items"], (*at, "items"), within_int_or_string=False)
    yield from _branches(raw, at, within_int_or_string=within_int_or_string)


def _fault(at: Pointer, keyword: str, kind: str, detail: str, value: Any = "") -> _Fault:
    """An error of one keyword of the schema at ``at``."""
    place = (*at, keyword)
    return place, FieldError(kind, _field(place), value, detail)


def _field(at: Pointer) -> str:
    """How the server writes a place in a schema: ``spec.validation.openAPIV3Schema.properties[spec].items``."""
    field, named = "spec.validation.openAPIV3Schema", False
    for part in at:
        field += f"[{part}]" if named or isinstance(part, int) else f".{part}"
        named = part == "properties" and not named
    return field


def _is_int_or_string(raw: _Raw) -> bool:
    return raw.get("x-kubernetes-int-or-string") is True


def _mapping(value: Any) -> _Raw:
    return value if isinstance(value, dict) else {}
