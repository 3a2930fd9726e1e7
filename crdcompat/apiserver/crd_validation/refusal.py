"""CRDs that the API server itself would refuse, and by which rule (reference section 11).

Such a CRD is never served, so no verdict under it means anything. The checks are those whose breach changes
what a schema means; texts and paths are the server's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from crdcompat.apiserver.crd_validation.decoding import undecodable
from crdcompat.apiserver.crd_validation.structural import Fault, Schema, root_faults, schema_faults
from crdcompat.apiserver.errors import INVALID, NOT_SUPPORTED, REQUIRED, FieldError
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.versions import Server
from crdcompat.apiserver.wording import aggregate
from crdcompat.crds.model import Crd, CrdVersion
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import ABSENT

_MOST = 20
#: A schema that nothing can be said against.
_GOOD: Schema = {"type": "object"}


def refusal(crd: Crd, version: CrdVersion, server: Server) -> str:
    """Why ``server`` would refuse ``crd``, in the words it answers; "" if nothing is known against it.

    Only ``version``'s schema is looked at, and for ``apiextensions.k8s.io/v1beta1`` none: there a schema need
    not be structural. What does not decode is the whole answer: nothing else is looked at then.
    """
    if (schema := _structural(crd, version)) is not None and (misfits := undecodable(schema)):
        return misfits[0][1]
    faults = (*_of_the_crd(crd, server), *islice(_of_the_version(crd, version, schema, server), _MOST))
    errors = [error for _, error in faults[:_MOST]]
    return aggregate("CustomResourceDefinition", "apiextensions.k8s.io", crd.name, errors)


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
    faults = [*_of_the_crd(crd, server)]
    for version, schema in schemas:
        faults += islice(_of_the_version(crd, version, schema, server), _MOST)
    return [(at, error.text()) for at, error in faults[:_MOST]]


def _structural(crd: Crd, version: CrdVersion) -> Schema | None:
    """The schema, if there is one that has to be structural."""
    return version.schema if crd.raw.get("apiVersion") == "apiextensions.k8s.io/v1" else None


def _rest(schema: Schema, good: Schema) -> Schema:
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
    )


def _of_the_update(current: Crd, target: Crd, stored: Sequence[str], server: Server) -> Iterator[FieldError]:
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


def _of_the_crd(crd: Crd, server: Server) -> Iterator[Fault]:
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


def _of_the_version(crd: Crd, version: CrdVersion, schema: Schema | None, server: Server) -> Iterator[Fault]:
    """The faults of a version; of its schema those of the part ``schema``, none if there is none to look at."""
    if schema is not None:
        for at, error in (*root_faults(version, server), *schema_faults(schema, (), server, root=True)):
            yield (*version.schema_pointer, *at), error
    elif crd.raw.get("apiVersion") == "apiextensions.k8s.io/v1":
        at = ("spec", "versions", version.pointer[-1], "schema", "openAPIV3Schema")
        yield version.pointer, _error(at, REQUIRED, "", server, "schemas are required")


def _error(at: Pointer, kind: str, value: object, server: Server, words: str) -> FieldError:
    return FieldError(kind, at, Keyword.CRD, value, server, words=words)
