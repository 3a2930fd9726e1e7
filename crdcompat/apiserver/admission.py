"""Admission of a write: the checks of the API server on the object it would store, in its order.

Source: docs/semantics.md#order-of-checks.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from typing import Any

from msgspec import Struct

from crdcompat.apiserver import metadata
from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.correlation import Pair
from crdcompat.apiserver.decode import Decoded
from crdcompat.apiserver.extensions import duplicate_errors, embedded_errors, has_embedded
from crdcompat.apiserver.field_errors import (
    INVALID,
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    FieldError,
    Unknown,
)
from crdcompat.apiserver.gotext import quote
from crdcompat.apiserver.keywords import Keyword
from crdcompat.apiserver.scale import scale_errors
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.apiserver.wording import aggregate
from crdcompat.crds.model import Crd, CrdVersion
from crdcompat.schema.answers import json_of
from crdcompat.schema.paths import Object
from crdcompat.schema.structural import Node
from crdcompat.schema.work import WORK

_BLOCKING = frozenset({REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})
#: What a write costs, beside a visit of each value.
_STEPS_OF_A_WRITE = 20


class Verdict(Struct, frozen=True):
    """The answer to one write.

    ``code`` is the HTTP status: 200, 422 with ``errors``, or 404 and 500 with a ``failure`` alone; ``subject`` is the
    object's kind, group and name. ``object`` is the object to store if the write is accepted, else None. ``pruned``
    and ``defaulted`` are the paths that decoding of the request removed and added. ``unknown`` lists the constraints
    that could not be judged: ``accepted`` is then None, or False if other errors reject the write.
    ``redacted_failure`` replaces a failure that quotes a value of the object, where values are to be hidden.
    """

    accepted: bool | None
    errors: tuple[FieldError, ...]
    object: Object | None
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    code: int = 200
    subject: tuple[str, str, str] = ("", "", "")
    failure: str = ""
    redacted_failure: str = ""

    @property
    def message(self) -> str:
        """The message for the client: the aggregate of the errors, or the failure; "" if the write is accepted."""
        return self.failure or aggregate(*self.subject, self.errors)


class Admission:
    """The checks of one version of a CRD on one server, compiled once."""

    def __init__(self, crd: Crd, version: CrdVersion, server: Server) -> None:
        self.crd = crd
        self.version = version
        self.server = server
        self.node = version.node
        self.api_version = f"{crd.group}/{version.name}"

    @cached_property
    def _whole(self) -> SchemaValidator:
        return SchemaValidator(self.node, self.server)

    @cached_property
    def _status(self) -> SchemaValidator | None:
        node = self.node.properties.get("status")
        return SchemaValidator(node, self.server) if node is not None else None

    @cached_property
    def _rules(self) -> RuleEvaluator:
        return RuleEvaluator(self.node, self.server)

    @cached_property
    def has_embedded(self) -> bool:
        """Whether any node is an embedded resource."""
        return has_embedded(self.node)

    @cached_property
    def identity(self) -> bytes:
        """A digest of all that the answers to writes depend on; stored objects may be of any version of the CRD.

        Raises TypeError for integers of more than 64 bits.
        """
        crd, version = self.crd, self.version
        versions = [(each.name, each.served) for each in crd.versions]
        facts = (type(self).__name__, self.server, self.api_version, crd.plural, crd.kind, crd.namespaced, crd.prunes)
        text = repr((*facts, versions, version.has_status, version.scale)).encode()
        return blake2b(text + json_of(*(each.node.raw for each in crd.versions))).digest()

    def question(self, *about: Any) -> bytes:
        """What an answer about this resource and ``about`` depends on, as the input of a kept answer."""
        return repr((self.identity, about)).encode()

    def admit(self, new: Object, old: Object | None, request: Decoded, *, status_write: bool) -> Verdict:
        """The answer to a write that would store ``new``; ``old`` is the stored object, None for a create.

        ``request`` is the decoded object of the request. ``status_write`` is True for writes to /status.
        """
        WORK.spend(_STEPS_OF_A_WRITE)
        unknown: list[Unknown] = []
        warnings = tuple(
            f"unknown field {quote(path)}" for path in request.pruned if self.server.does("field_warnings")
        )
        errors = list(self._type_meta(new))
        pair = Pair(new, old, self.node) if old is not None else None
        status_only = status_write and self.server.does("status_scope")
        ratchet = old is not None and self.server.does("ratchet_status" if status_write else "ratchet_main")
        if not errors:
            errors.extend(self._metadata(new, old))
            errors.extend(self._schema(new, pair if ratchet else None, status_only, unknown))
            if self.version.scale is not None:
                errors.extend(scale_errors(new, dict(self.version.scale), self.server, status_only=status_write))
        if not status_write and self.has_embedded:
            errors.extend(embedded_errors(new, self.node, self.server))
        errors.extend(self._duplicates(new, old, status_write=status_write))
        if self.server.does("cel") and self._rules.has_rules:
            if any(self._blocks_rules(error) for error in errors):
                errors.append(FieldError(INVALID, (), Keyword.NOT_CHECKED, None, self.server))
            else:
                outcome = self._rules.evaluate(new, pair, ratchet=ratchet)
                errors.extend(outcome.errors)
                unknown.extend(outcome.unknown)
                warnings += outcome.warnings
        accepted = None if unknown and not errors else not errors
        name, kind = metadata_of(new).get("name"), new.get("kind")
        group, slash, _ = str(new.get("apiVersion", "")).rpartition("/")
        return Verdict(
            accepted=accepted,
            errors=tuple(errors),
            object=new if accepted else None,
            pruned=request.pruned,
            defaulted=request.defaulted,
            warnings=warnings,
            unknown=tuple(unknown),
            code=422 if errors else 200,
            subject=(
                kind if isinstance(kind, str) else self.crd.kind,
                group if slash or "apiVersion" in new else self.crd.group,
                name if isinstance(name, str) else "",
            ),
        )

    def broken_rules(self, new: Object) -> tuple[FieldError, ...]:
        """The errors of the rules that an object breaks, even if schema errors keep the server from evaluating them."""
        return tuple(self._rules.evaluate(new, None, ratchet=False).errors) if self.server.does("cel") else ()

    def _blocks_rules(self, error: FieldError) -> bool:
        return error.type in _BLOCKING or (error.type == NOT_SUPPORTED and self.server.does("enum_blocks_cel"))

    def _type_meta(self, new: Object) -> Iterable[FieldError]:
        for name, wanted in (("kind", self.crd.kind), ("apiVersion", self.api_version)):
            if new.get(name) != wanted:
                value, detail = new.get(name, ""), f"must be {wanted}"
                yield FieldError(INVALID, (name,), Keyword.TYPE_META, value, self.server, fixed_detail=detail)

    def _metadata(self, new: Object, old: Object | None) -> list[FieldError]:
        if old is None:
            return metadata.validate_create(metadata_of(new), namespaced=self.crd.namespaced, server=self.server)
        return metadata.validate_update(metadata_of(new), metadata_of(old), self.server)

    def _schema(
        self, new: Object, pair: Pair | None, status_only: bool, unknown: list[Unknown]
    ) -> Iterable[FieldError]:
        errors: list[FieldError] = []
        if not status_only:
            self._whole.validate_root(new, pair, errors, unknown)
            return _distinct(errors)
        if self._status is None or "status" not in new:
            return []
        self._status.validate(new["status"], None, pair.key("status") if pair else None, errors, unknown)
        keys = (1,) if isinstance(self._status.node.additional, Node) else ()
        return [error._replace(pointer=("status", *error.pointer), base=1, keys=keys) for error in _distinct(errors)]

    def _duplicates(self, new: Object, old: Object | None, *, status_write: bool) -> list[FieldError]:
        if status_write and not self.server.does("status_list_uniqueness"):
            return []
        errors = list(duplicate_errors(new, self.node, self.server))
        # Every server version ignores all duplicates of a write if the stored object has any.
        if errors and old is not None and any(True for _ in duplicate_errors(old, self.node, self.server)):
            return []
        return errors


def _distinct(errors: list[FieldError]) -> list[FieldError]:
    """One error per type, field and detail: the OpenAPI result drops equal sentences, which do not show the value."""
    if len(errors) < 2:
        return errors
    return list({(error.type, error.field, error.detail): error for error in reversed(errors)}.values())[::-1]


#: The members of metadata that a server sets in every object.
SERVER_SET = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields", "selfLink")


def metadata_of(obj: Object) -> Object:
    """The metadata of an object; {} if it is absent or no object."""
    meta = obj.get("metadata")
    return meta if isinstance(meta, dict) else {}
