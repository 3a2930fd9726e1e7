"""CRDs that the API server would refuse, and why (docs/semantics.md#refused-crds).

Messages and paths are the server's. ``refusals`` is about a CRD that a release ships: it is created, and its CEL rules
are compiled. ``refusal`` is about a CRD whose objects are judged: it is installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.answer import faults_of
from crdcompat.apiserver.crd_validation.crd_decoding import undecodable_definition
from crdcompat.apiserver.crd_validation.definition import Definition, definition_of, fault
from crdcompat.apiserver.crd_validation.expressions import CONTRIBUTED
from crdcompat.apiserver.crd_validation.memo import Memo
from crdcompat.apiserver.crd_validation.plain import doubtful
from crdcompat.apiserver.crd_validation.shown import brief
from crdcompat.apiserver.crd_validation.spec import PRESERVES, approval_faults, metadata_faults, stored_version_text
from crdcompat.apiserver.field_errors import FORBIDDEN, INVALID, FieldError
from crdcompat.apiserver.server_versions import NEWEST_SERVER, Server
from crdcompat.apiserver.wording import aggregate
from crdcompat.crds.model import GROUP, KIND, V1, Crd
from crdcompat.schema.answers import ANSWERS, json_of
from crdcompat.schema.equality import ById
from crdcompat.schema.paths import Pointer
from crdcompat.schema.structural import RULES

_MAX_FAULTS = 20
_KNOWN: Memo[list[Fault]] = Memo()


class Fault(Struct, frozen=True):
    """A fault of a CRD: its place in the document, the server's message, and its first line without place and value.

    ``type`` is the type of the error. ``rule_at`` is the place of a rule that a fault of its whole schema names.
    """

    at: Pointer
    text: str
    detail: str
    type: str = INVALID
    rule_at: Pointer = ()

    @property
    def one_line(self) -> str:
        """The message, or its first line without place and value: that of a rule that does not compile is a page."""
        return self.detail if "\n" in self.text else self.text


def refusal(crd: Crd, server: Server) -> str:
    """The message by which ``server`` would refuse to serve ``crd``; "" if no rule is violated.

    A server compiles the CEL rules of an installed CRD when it validates an object, and ignores their cost: a rule
    that does not compile is an error of each write, which ``cel`` gives. So rules are not compiled here.
    ``apiextensions.k8s.io/v1beta1`` is not checked: there a schema need not be structural. If the CRD does not decode,
    that error is the whole message.
    """
    if crd.raw.get("apiVersion") != V1:
        return ""
    raw = _named(crd)
    if misfits := undecodable_definition(raw, server):
        return misfits[0][1]
    found = faults_of(definition_of(raw, server), None, expressions=False)[:_MAX_FAULTS]
    return aggregate(KIND, GROUP, crd.name, [*map(_brief, found)])


def refusals(crd: Crd, server: Server, valid: Crd | None = None, *, assumed: bool = False) -> list[Fault]:
    """The faults for which ``server`` would refuse to create ``crd``, with those of its CEL rules: one for each cause.

    ``valid`` is a CRD without faults: of a CRD with an equal spec only the metadata is checked. ``assumed``: nothing
    says on which server the CRD is installed, and only faults that the newest server finds, too, count.
    """
    if crd.raw.get("apiVersion") != V1:
        return []
    if valid is not None and valid.raw.get("spec") == crd.raw.get("spec"):
        return metadata_refusals(crd, server)
    found = faults_of_crd(crd, server)
    if found and assumed:
        everywhere = {each.at for each in faults_of_crd(crd, NEWEST_SERVER)}
        found = [each for each in found if each.at in everywhere]
    return without_totals(found)[:_MAX_FAULTS]


def metadata_refusals(crd: Crd, server: Server) -> list[Fault]:
    """The faults of the metadata alone for which ``server`` would refuse to create ``crd``."""
    if crd.raw.get("apiVersion") != V1:
        return []
    raw = {**crd.raw, "spec": {"group": crd.group, "names": {"plural": crd.raw["spec"]["names"].get("plural")}}}
    if misfits := undecodable_definition(raw, server):
        return [Fault(at, text, text) for at, text in misfits if at[:1] == ("metadata",)]
    form = definition_of(raw, server)
    return [_fault(form, error) for error in (*metadata_faults(form, None), *approval_faults(form, None))]


def faults_of_crd(crd: Crd, server: Server) -> list[Fault]:
    """`faults`, found once for equal CRDs: a matrix asks each server about each release."""
    return _KNOWN.of(crd, server, partial(faults, crd.raw, server))


def faults(raw: Mapping[str, Any], server: Server) -> list[Fault]:
    """All faults for which ``server`` would refuse a new CRD.

    A fault of a rule, or of the total cost of the rules, shows no schema, and the doubtful part has the same costs. The
    whole CRD is asked about others, which may show a schema, and where only the doubtful parts of versions may be
    equal: places of faults depend on that.
    """
    found = _kept(ById(doubtful(raw)), server)
    if found and not (all(RULES in fault.at or _is_of_total(fault) for fault in found) and _has_one_schema(raw)):
        found = _kept(ById(raw), server)
    return list(found)


def without_totals(found: Sequence[Fault]) -> list[Fault]:
    """The faults, one place for each cause: what costs too much in total is a fault of the schema.

    A server names the most expensive rules beside the total; here they stand behind it, at its place. Where a rule
    alone costs too much, its cost is in the total, too: then the faults of the total are left out.
    """
    alone = {_schema_of(each.at) for each in found if _is_cost(each) and RULES in each.at and not contributes(each)}
    left = [each for each in found if not (_is_of_total(each) and _schema_of(each.at) in alone)]
    places = [(*_schema_of(each.at), _SCHEMA) if contributes(each) else each.at for each in left]
    return sorted(map(_at, left, places), key=contributes)


def _at(fault: Fault, place: Pointer) -> Fault:
    return fault if place == fault.at else replace(fault, at=place, rule_at=fault.at)


def contributes(fault: Fault) -> bool:
    """Whether a fault names a rule only because its schema costs too much in total."""
    return fault.type == FORBIDDEN and fault.detail == CONTRIBUTED


def _is_of_total(fault: Fault) -> bool:
    return contributes(fault) or (_is_cost(fault) and fault.at[-1] == _SCHEMA)


def _is_cost(fault: Fault) -> bool:
    return fault.type == FORBIDDEN and _SCHEMA in fault.at


def _schema_of(at: Pointer) -> Pointer:
    return at[: at.index(_SCHEMA)]


_SCHEMA = "openAPIV3Schema"


def _has_one_schema(raw: Mapping[str, Any]) -> bool:
    """Whether the versions of a CRD have one and the same schema."""
    spec = raw.get("spec")
    versions = spec.get("versions") if isinstance(spec, dict) else None
    if not isinstance(versions, list) or not all(isinstance(version, dict) for version in versions):
        return False
    return all(version.get("schema") == versions[0].get("schema") for version in versions[1:])


@lru_cache(512)
def _kept(crd: ById[Mapping[str, Any]], server: Server) -> list[Fault]:
    raw = crd.value
    asked = partial(json_of, repr(server), raw)
    return ANSWERS.of("faults of a CRD", asked, list[Fault], partial(_faults, raw, server))


def _faults(raw: Mapping[str, Any], server: Server) -> list[Fault]:
    if misfits := undecodable_definition(raw, server):
        return [Fault(at, text, text) for at, text in misfits]
    form = definition_of(raw, server)
    return [_fault(form, error) for error in faults_of(form, None)]


def _fault(form: Definition, error: FieldError) -> Fault:
    return Fault(
        form.document_pointer(error.pointer), _brief(error).text(), error.detail.partition("\n")[0], error.type
    )


def _brief(error: FieldError) -> FieldError:
    """The error with a value that is not too long for a report."""
    return error._replace(value=brief(error.value))


def _named(crd: Crd) -> Mapping[str, Any]:
    """The document of an installed CRD, which has a name."""
    metadata = crd.raw.get("metadata")
    if isinstance(metadata, dict) and not metadata.get("name"):
        return {**crd.raw, "metadata": {**metadata, "name": crd.name}}
    return crd.raw


def update_refusal(current: Crd, target: Crd, stored_versions: Sequence[str], server: Server) -> str:
    """The message by which ``server`` would refuse to replace ``current`` by ``target``; "" if no rule is violated.

    Only rules about the change itself count. ``stored_versions`` is ``status.storedVersions`` of the CRD in the
    cluster. The server does not check stored objects here, so it always accepts an older, stricter schema
    (docs/semantics.md#changed-crds).
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
