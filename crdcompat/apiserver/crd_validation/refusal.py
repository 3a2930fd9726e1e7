"""CRDs that the API server would refuse, and why (reference section 11).

A refused CRD is never served, so verdicts under it are meaningless. Only rules whose violation changes the meaning of
a schema are checked. Messages and paths are the server's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from crdcompat.apiserver.crd_validation.decoding import undecodable
from crdcompat.apiserver.crd_validation.structural import Fault, Schema, of_version, root_faults, schema_faults
from crdcompat.apiserver.errors import INVALID, NOT_SUPPORTED, REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.versions import Server
from crdcompat.apiserver.wording import aggregate
from crdcompat.crds.model import Crd, CrdVersion
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import ABSENT

_MAX_FAULTS = 20
#: A schema without faults.
_VALID: Schema = {"type": "object"}


def refusal(crd: Crd, version: CrdVersion, server: Server) -> str:
    """The message by which ``server`` would refuse ``crd``; "" if no rule is violated.

    Only the schema of ``version`` is checked, and none for ``apiextensions.k8s.io/v1beta1``, where a schema need not
    be structural. If the schema does not decode, that error is the whole message.
    """
    if (schema := _structural(crd, version)) is not None and (misfits := undecodable(schema)):
        return misfits[0][1]
    faults = (*_crd_faults(crd, server), *islice(_version_faults(crd, version, schema, server), _MAX_FAULTS))
    errors = [error for _, error in faults[:_MAX_FAULTS]]
    return aggregate("CustomResourceDefinition", "apiextensions.k8s.io", crd.name, errors)


def refusals(crd: Crd, server: Server, valid: Crd | None = None) -> list[tuple[Pointer, str]]:
    """The faults for which ``server`` would refuse ``crd``: pointer in its document, and message. All versions.

    ``valid`` is a CRD without faults: parts of ``crd`` that equal its parts are not checked again.
    """
    schemas = []
    for version in crd.versions:
        schema, other = _structural(crd, version), valid.version(version.name) if valid is not None else None
        if schema is not None and other is not None and other.schema is not None:
            schema = _without_equal_parts(schema, other.schema)
        schemas.append((version, schema))
    misfits = [
        ((*version.schema_pointer, *at), sentence)
        for version, schema in schemas
        for at, sentence in (undecodable(schema) if schema is not None else ())
    ]
    if misfits:
        return misfits[:_MAX_FAULTS]
    faults = [*_crd_faults(crd, server)]
    for version, schema in schemas:
        faults += islice(_version_faults(crd, version, schema, server), _MAX_FAULTS)
    return [(at, error.text()) for at, error in faults[:_MAX_FAULTS]]


def _structural(crd: Crd, version: CrdVersion) -> Schema | None:
    """The schema of a v1 CRD, which has to be structural; None if there is none."""
    return version.schema if crd.raw.get("apiVersion") == "apiextensions.k8s.io/v1" else None


def _without_equal_parts(schema: Schema, valid: Schema) -> Schema:
    """The schema without properties that equal those of ``valid``; unchanged if that could hide a fault."""
    # The server validates a default by the whole schema below it, and some keywords only in combination.
    if "default" in schema or schema.keys() != valid.keys():
        return schema
    reduced = dict(schema)
    if isinstance(properties := schema.get("properties"), dict) and isinstance(known := valid["properties"], dict):
        reduced["properties"] = {
            name: _without_equal_parts(sub, known[name])
            if isinstance(sub, dict) and isinstance(known.get(name), dict)
            else sub
            for name, sub in properties.items()
            if name not in known or sub != known[name]
        }
    for keyword in ("items", "additionalProperties"):
        if isinstance(sub := schema.get(keyword), dict) and isinstance(known := valid[keyword], dict):
            reduced[keyword] = _VALID if sub == known else _without_equal_parts(sub, known)
    return reduced


def update_refusal(current: Crd, target: Crd, stored_versions: Sequence[str], server: Server) -> str:
    """The message by which ``server`` would refuse to replace ``current`` by ``target``; "" if no rule is violated.

    ``stored_versions`` is ``status.storedVersions`` of the CRD in the cluster. The server does not check stored
    objects here, so it always accepts an older, stricter schema (rollback-truth, facts 12 and 13).
    """
    return aggregate(
        "CustomResourceDefinition",
        "apiextensions.k8s.io",
        current.name,
        list(_update_errors(current, target, stored_versions, server)),
    )


def _update_errors(current: Crd, target: Crd, stored: Sequence[str], server: Server) -> Iterator[FieldError]:
    if target.scope != current.scope:
        yield _error(("spec", "scope"), INVALID, target.scope, server, "field is immutable")
    if target.kind != current.kind:
        yield _error(("spec", "names", "kind"), INVALID, target.kind, server, "field is immutable")
    if current.prunes and not target.prunes:
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        yield _error(("spec", "preserveUnknownFields"), INVALID, True, server, detail)
    for index, name in enumerate(stored):
        if target.version(name) is None:
            detail = "must appear in spec.versions"
            if server.does("stored_version_text"):
                detail = (
                    f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                    f"spec.versions until a storage migration ensures no data remains persisted in {name} and "
                    f"removes {name} from status.storedVersions"
                )
            yield _error(("status", "storedVersions", index), INVALID, name, server, detail)


def _crd_faults(crd: Crd, server: Server) -> Iterator[Fault]:
    expected = f"{crd.plural}.{crd.group}"
    if crd.name != expected:
        detail = 'must be spec.names.plural+"."+spec.group'
        at: Pointer = ("metadata", "name")
        yield at, _error(at, INVALID, crd.name, server, detail)
    at = ("spec", "versions")
    names = [version.name for version in crd.versions]
    if len(set(names)) < len(names):
        yield at, _error(at, INVALID, ABSENT, server, "must contain unique version names")
    if sum(version.storage for version in crd.versions) != 1:
        detail = "must have exactly one version marked as storage version"
        yield at, _error(at, INVALID, ABSENT, server, detail)
    if crd.scope not in ("Namespaced", "Cluster"):
        at = ("spec", "scope")
        kind, keyword = (NOT_SUPPORTED, Keyword.ENUM) if crd.scope else (REQUIRED, Keyword.REQUIRED)
        yield at, FieldError(kind, at, keyword, crd.scope, server, ("Cluster", "Namespaced"))


def _version_faults(crd: Crd, version: CrdVersion, schema: Schema | None, server: Server) -> Iterator[Fault]:
    """The faults of a version. ``schema`` is the part of its schema to check, None if it has none."""
    if schema is not None:
        one_schema = all(other.schema == crd.versions[0].schema for other in crd.versions)
        for fault in (*root_faults(version, server), *schema_faults(schema, (), server, root=True)):
            at, error = fault if one_schema else of_version(fault, version)
            yield (*version.schema_pointer, *at), error
    elif crd.raw.get("apiVersion") == "apiextensions.k8s.io/v1":
        at = ("spec", "versions", version.pointer[-1], "schema", "openAPIV3Schema")
        yield version.pointer, _error(at, REQUIRED, "", server, "schemas are required")


def _error(at: Pointer, kind: str, value: object, server: Server, detail: str) -> FieldError:
    return FieldError(kind, at, Keyword.CRD, value, server, fixed_detail=detail)
