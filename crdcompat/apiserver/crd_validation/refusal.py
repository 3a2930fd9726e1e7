"""CRDs that the API server would refuse, and why (reference section 11).

A refused CRD is never served, so verdicts under it are meaningless. Messages and paths are the server's. The CEL rules
of these CRDs are not compiled.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from crdcompat.apiserver.crd_validation.answer import GROUP, KIND, faults_of
from crdcompat.apiserver.crd_validation.definition import definition_of, fault
from crdcompat.apiserver.crd_validation.envelope import undecodable_definition
from crdcompat.apiserver.crd_validation.spec import PRESERVES, stored_version_text
from crdcompat.apiserver.errors import INVALID, FieldError
from crdcompat.apiserver.versions import Server
from crdcompat.apiserver.wording import aggregate
from crdcompat.crds.model import Crd
from crdcompat.schema.paths import Pointer

_MAX_FAULTS = 20
_V1 = "apiextensions.k8s.io/v1"


def refusal(crd: Crd, server: Server) -> str:
    """The message by which ``server`` would refuse ``crd``; "" if no rule is violated.

    ``apiextensions.k8s.io/v1beta1`` is not checked: there a schema need not be structural. If the CRD does not decode,
    that error is the whole message. CEL rules are not compiled.
    """
    if crd.raw.get("apiVersion") != _V1:
        return ""
    raw = named(crd)
    if misfits := undecodable_definition(raw, server):
        return misfits[0][1]
    return aggregate(
        KIND, GROUP, crd.name, faults_of(definition_of(raw, server), None, expressions=False)[:_MAX_FAULTS]
    )


def refusals(crd: Crd, server: Server, valid: Crd | None = None) -> list[tuple[Pointer, str]]:
    """The faults for which ``server`` would refuse ``crd``: pointer in its document, and message.

    ``valid`` is a CRD without faults: a CRD with an equal spec is not checked again.
    """
    if crd.raw.get("apiVersion") != _V1 or (valid is not None and valid.raw.get("spec") == crd.raw.get("spec")):
        return []
    raw = named(crd)
    if misfits := undecodable_definition(raw, server):
        return misfits[:_MAX_FAULTS]
    form = definition_of(raw, server)
    return [
        (form.document_pointer(error.pointer), error.text())
        for error in faults_of(form, None, expressions=False)[:_MAX_FAULTS]
    ]


def named(crd: Crd) -> Mapping[str, Any]:
    """The document, with the name that a manifest without one gets."""
    metadata = crd.raw.get("metadata")
    if isinstance(metadata, dict) and not metadata.get("name"):
        return {**crd.raw, "metadata": {**metadata, "name": crd.name}}
    return crd.raw


def update_refusal(current: Crd, target: Crd, stored_versions: Sequence[str], server: Server) -> str:
    """The message by which ``server`` would refuse to replace ``current`` by ``target``; "" if no rule is violated.

    Only rules about the change itself count. ``stored_versions`` is ``status.storedVersions`` of the CRD in the
    cluster. The server does not check stored objects here, so it always accepts an older, stricter schema
    (rollback-truth, facts 12 and 13).
    """
    return aggregate(KIND, GROUP, current.name, [*_update_errors(current, target, stored_versions, server)])


def _update_errors(current: Crd, target: Crd, stored: Sequence[str], server: Server) -> Iterator[FieldError]:
    if target.scope != current.scope:
        yield fault(INVALID, ("spec", "scope"), target.scope, "field is immutable", server)
    if target.kind != current.kind:
        yield fault(INVALID, ("spec", "names", "kind"), target.kind, "field is immutable", server)
    if current.prunes and not target.prunes:
        yield fault(INVALID, ("spec", "preserveUnknownFields"), True, PRESERVES, server)
    for index, name in enumerate(stored):
        if target.version(name) is None:
            detail = stored_version_text(name, server)
            yield fault(INVALID, ("status", "storedVersions", index), name, detail, server)
