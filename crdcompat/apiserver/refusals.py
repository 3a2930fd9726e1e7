"""CRDs that the API server itself would refuse, and by which rule (reference section 11).

Such a CRD is never served, so no verdict under it means anything. The checks are those whose breach changes
what a schema means; texts and paths are the server's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crdcompat.apiserver.decode import apply_defaults, prune
from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import FieldError, aggregate
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.manifests.crd import Crd, CrdVersion
from crdcompat.schema.re2 import PatternError, compile_pattern
from crdcompat.schema.structural import ABSENT, Node

_FORBIDDEN, _REQUIRED, _INVALID = "FieldValueForbidden", "FieldValueRequired", "FieldValueInvalid"
#: Keywords that shape a value: they must stand outside of anyOf, oneOf, allOf and not.
_SHAPING = ("type", "additionalProperties", "default", "nullable", "title", "description")
#: At the root of a version with a status subresource only these are allowed.
_ROOT_FORBIDDEN = ("allOf", "anyOf", "oneOf", "not", "enum", "nullable")
_MOST = 20


def refusal(crd: Crd, version: CrdVersion, server: Server) -> str:
    """Why ``server`` would refuse ``crd``, as the aggregate it answers; "" if nothing is known against it.

    Only ``version``'s schema is looked at, and for ``apiextensions.k8s.io/v1beta1`` none: there a schema need
    not be structural.
    """
    errors: list[FieldError] = []
    for error in (*_of_the_crd(crd), *_of_the_schema(crd, version, server)):
        errors.append(error)
        if len(errors) == _MOST:
            break
    return aggregate("CustomResourceDefinition", "apiextensions.k8s.io", crd.name, errors, server)


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


def _of_the_crd(crd: Crd) -> Iterator[FieldError]:
    expected = f"{crd.plural}.{crd.group}"
    if crd.name != expected:
        yield FieldError(_INVALID, "metadata.name", crd.name, 'must be spec.names.plural+"."+spec.group')
    names = [version.name for version in crd.versions]
    if len(set(names)) < len(names):
        yield FieldError(_INVALID, "spec.versions", ABSENT, "must contain unique version names")
    if sum(version.storage for version in crd.versions) != 1:
        yield FieldError(_INVALID, "spec.versions", ABSENT, "must have exactly one version marked as storage version")
    if crd.scope not in ("Namespaced", "Cluster"):
        detail = 'supported values: "Cluster", "Namespaced"'
        yield FieldError(
            _REQUIRED if not crd.scope else "FieldValueNotSupported",
            "spec.scope",
            crd.scope,
            detail if crd.scope else "",
        )


def _of_the_schema(crd: Crd, version: CrdVersion, server: Server) -> Iterator[FieldError]:
    if crd.raw.get("apiVersion") != "apiextensions.k8s.io/v1":
        return
    at = "spec.validation.openAPIV3Schema"
    if version.schema is None:
        yield FieldError(
            _REQUIRED, f"spec.versions[{version.pointer[-1]}].schema.openAPIV3Schema", "", "schemas are required"
        )
        return
    node = version.node
    if node.type != "object":
        yield FieldError(
            _REQUIRED if not node.type else _INVALID, f"{at}.type", node.type, "must be object at the root"
        )
    if node.additional is not None:
        yield FieldError(_FORBIDDEN, f"{at}.additionalProperties", "", "must not be used at the root")
    if version.has_status:
        for keyword in _ROOT_FORBIDDEN:
            if keyword in node.raw:
                allowed = (
                    "only a list of keywords is allowed at the root of the schema if the status subresource is enabled"
                )
                yield FieldError(_INVALID, at, ABSENT, f"{allowed}; {keyword} is not one of them")
    yield from _node(node, at, server, root=True)


def _node(node: Node, at: str, server: Server, *, root: bool = False) -> Iterator[FieldError]:
    raw = node.raw
    if not root and not node.type and not node.int_or_string and not node.preserve:
        yield FieldError(_REQUIRED, f"{at}.type", "", "must not be empty for specified object fields")
    if raw.get("uniqueItems") is True:
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield FieldError(_FORBIDDEN, f"{at}.uniqueItems", "", detail)
    if node.properties and isinstance(node.additional, Node):
        detail = "additionalProperties and properties are mutual exclusive"
        yield FieldError(_FORBIDDEN, f"{at}.additionalProperties", "", detail)
    if node.type == "array" and node.items is None:
        yield FieldError(_REQUIRED, f"{at}.items", "", "must be specified")
    yield from _pattern(node, at)
    yield from _default(node, at, server)
    for name, sub in node.properties.items():
        yield from _node(sub, f"{at}.properties[{name}]", server, root=root and name in ("metadata",))
    if isinstance(node.additional, Node):
        yield from _node(node.additional, f"{at}.additionalProperties", server)
    if node.items is not None:
        yield from _node(node.items, f"{at}.items", server)
    yield from _branches(node, at, within_int_or_string=node.int_or_string)


def _pattern(node: Node, at: str) -> Iterator[FieldError]:
    pattern = node.raw.get("pattern")
    if isinstance(pattern, str) and isinstance(compiled := compile_pattern(pattern), PatternError):
        detail = f"must be a valid regular expression, but isn't: {compiled.reason}"
        yield FieldError(_INVALID, f"{at}.pattern", pattern, detail)


def _default(node: Node, at: str, server: Server) -> Iterator[FieldError]:
    if node.default is ABSENT:
        return
    pruned: list[str] = []
    value = prune({"v": node.default}, Node({"properties": {"v": node.raw}}), None, pruned)
    holder = Node({"type": "object", "properties": {"v": node.raw}})
    apply_defaults(value, holder, "", [])
    if pruned:
        yield FieldError(_INVALID, f"{at}.default", node.default, "must not have unknown fields")
    errors: list[FieldError] = []
    SchemaValidator(node, server).validate(value.get("v"), "", None, errors, [])
    for error in errors:
        field = f"{at}.default" + ("" if error.field == "<nil>" else f".{error.field}")
        yield FieldError(error.type, field, error.value, error.detail)


def _branches(node: Node, at: str, *, within_int_or_string: bool) -> Iterator[FieldError]:
    for keyword, branches in (("allOf", node.all_of), ("anyOf", node.any_of), ("oneOf", node.one_of)):
        for index, branch in enumerate(branches):
            yield from _branch(branch, f"{at}.{keyword}[{index}]", within_int_or_string=within_int_or_string)
    if node.not_ is not None:
        yield from _branch(node.not_, f"{at}.not", within_int_or_string=within_int_or_string)


def _branch(node: Node, at: str, *, within_int_or_string: bool) -> Iterator[FieldError]:
    for keyword in _SHAPING:
        # The one idiom that is allowed: anyOf integer, string beside x-kubernetes-int-or-string.
        if keyword in node.raw and not (keyword == "type" and within_int_or_string):
            yield FieldError(_FORBIDDEN, f"{at}.{keyword}", "", "must be empty to be structural")
    yield from _pattern(node, at)
    for name, sub in node.properties.items():
        yield from _branch(sub, f"{at}.properties[{name}]", within_int_or_string=sub.int_or_string)
    if node.items is not None:
        yield from _branch(node.items, f"{at}.items", within_int_or_string=False)
    yield from _branches(node, at, within_int_or_string=within_int_or_string)
