"""One write, judged: what the API server does with a request between decoding it and etcd.

Order of steps and of errors: reference sections 2.1 to 2.3. A ``Resource`` is one version of a CRD on one
server, compiled once; its methods are the kinds of write.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import Any

from crdcompat.apiserver import metadata
from crdcompat.apiserver.cel import RuleEvaluator
from crdcompat.apiserver.correlation import Pair, same
from crdcompat.apiserver.decode import Decoded, decode
from crdcompat.apiserver.embedded import embedded_errors, has_embedded
from crdcompat.apiserver.eras import Server
from crdcompat.apiserver.errors import (
    INVALID,
    NOT_CHECKED,
    NOT_SUPPORTED,
    REQUIRED,
    TOO_LONG,
    TOO_MANY,
    TYPE_INVALID,
    FieldError,
    Unknown,
    aggregate,
)
from crdcompat.apiserver.gotext import quote
from crdcompat.apiserver.lists import duplicate_errors
from crdcompat.apiserver.merge import apply_merge, merge_patch, undeclared, with_replicas
from crdcompat.apiserver.scale import scale_errors
from crdcompat.apiserver.typed import typed_error
from crdcompat.apiserver.validate import SchemaValidator
from crdcompat.manifests.crd import Crd, CrdVersion
from crdcompat.records import dataclass
from crdcompat.schema.structural import Node

Object = dict[str, Any]

#: What is said of an object, passed in through the Python interface, that Python cannot walk (files: 200 levels).
TOO_DEEP = "nested too deeply to be judged"

_UNDECLARED = "field not declared in schema"
_BLOCKING = frozenset({REQUIRED, TOO_LONG, TOO_MANY, TYPE_INVALID})


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one write.

    ``code`` is the HTTP status: 200, 422 with ``errors`` and ``message`` (the aggregate), or 404 and 500 with a
    message alone; errors and message are empty when it is accepted. ``object`` is what is
    stored when accepted, else None. ``pruned`` and ``defaulted`` are the paths that decoding the request took
    away and added. ``unknown`` says what could not be judged: then ``accepted`` is None unless other errors
    reject the write anyway.
    """

    accepted: bool | None
    errors: tuple[FieldError, ...]
    message: str
    object: Object | None
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    code: int = 200


class Resource:
    """One version of a CRD as one server serves it."""

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
    def has_transition_rules(self) -> bool:
        """Whether any rule looks at the old object."""
        return self.node.anywhere(lambda schema: any("oldSelf" in str(rule.get("rule")) for rule in Node(schema).rules))

    @cached_property
    def _has_embedded(self) -> bool:
        return has_embedded(self.node)

    # -- the kinds of write -------------------------------------------------------------------------

    def read(self, stored: Object) -> Decoded:
        """A stored object as this server reads it: pruned, nulls dropped, defaulted; never validated."""
        return decode(stored, self.node, pruning=self.crd.prunes)

    def create(self, raw: Object, *, keep_status: bool = False) -> Verdict:
        """POST of ``raw``. ``keep_status`` judges the whole object, as stored ones are: status stays."""
        return self.create_decoded(self.read(raw), keep_status=keep_status)

    def update(self, raw: Object, stored: Object) -> Verdict:
        """PUT of ``raw`` over ``stored`` on the resource's main endpoint."""
        return self.update_decoded(self.read(raw), self.read(stored).object)

    def update_status(self, raw: Object, stored: Object) -> Verdict:
        """PUT of ``raw`` over ``stored`` on /status: only its status counts."""
        return self.update_status_decoded(self.read(raw), self.read(stored).object)

    def create_decoded(self, request: Decoded, *, keep_status: bool = False) -> Verdict:
        """``create`` of an object that is decoded already."""
        new = dict(request.object)
        if not keep_status:
            if self.version.has_status:
                new.pop("status", None)
            new["metadata"] = {**_meta(new), "generation": 1}
        return self._judge(new, None, request, status_write=False)

    def update_decoded(self, request: Decoded, old: Object) -> Verdict:
        """``update`` where both objects are decoded already."""
        new = dict(request.object)
        if self.version.has_status:
            new.pop("status", None)
            if "status" in old:
                new["status"] = old["status"]
        new["metadata"] = _carried(_meta(new), _meta(old), changed=self._content_changed(new, old))
        return self._judge(new, old, request, status_write=False)

    def update_status_decoded(self, request: Decoded, old: Object) -> Verdict:
        """``update_status`` where both objects are decoded already."""
        new = dict(old)
        new.pop("status", None)
        if "status" in request.object:
            new["status"] = request.object["status"]
        return self._judge(new, old, request, status_write=True)

    def merge_patch(self, patch: Any, stored: Object, *, status: bool = False) -> Verdict:
        """PATCH with a JSON merge patch, on the main endpoint or on /status."""
        return self._patched(merge_patch(self.read(stored).object, patch), stored, status=status)

    def apply(self, patch: Object, stored: Object, *, status: bool = False) -> Verdict:
        """PATCH by server-side apply, of a manager that owns nothing else; shapes that cannot be typed fail hard."""
        live = self.read(stored).object
        failed = self.untyped(patch, live)
        return failed or self._patched(apply_merge(live, patch, self.node), stored, status=status)

    def untyped(self, patch: Object, live: Object) -> Verdict | None:
        """The failure of a server-side apply whose patch, or the object as read, cannot be typed; None if both can."""
        missing = undeclared(patch, self.node)
        if missing:
            return self._failed(
                500, f"failed to create typed patch object ({self._who(live)}): {missing}: {_UNDECLARED}"
            )
        for what, obj in (("patch", patch), ("live", live)):
            wrong = typed_error(obj, self.node, self.server, strict=what == "patch")
            if wrong:
                return self._failed(500, f"failed to create typed {what} object ({self._who(live)}): {wrong}")
        return None

    def scale(self, replicas: Any, stored: Object) -> Verdict:
        """PUT of /scale: the replicas are written into the object, which is then judged as on the main endpoint."""
        live = self.read(stored).object
        path = self.version.scale.get("specReplicasPath") if self.version.scale is not None else None
        if not isinstance(path, str):
            return self.no_endpoint(stored)
        return self.update(with_replicas(live, path, replicas), stored)

    def no_endpoint(self, stored: Object) -> Verdict:
        """The answer of an endpoint that this CRD does not have (rollback-truth, fact 14)."""
        name = _meta(stored).get("name", "")
        return self._failed(404, f"{self.crd.plural}.{self.crd.group} {quote(str(name))} not found")

    def _patched(self, whole: Object, stored: Object, *, status: bool) -> Verdict:
        if status and not self.version.has_status:
            return self.no_endpoint(stored)
        return self.update_status(whole, stored) if status else self.update(whole, stored)

    def _who(self, obj: Object) -> str:
        meta = _meta(obj)
        place = f"{meta.get('namespace', '')}/{meta.get('name', '')}"
        return f"{place}; {self.api_version}, Kind={self.crd.kind}"

    @staticmethod
    def _failed(code: int, message: str) -> Verdict:
        return Verdict(False, (), message, None, code=code)

    def _content_changed(self, new: Object, old: Object) -> bool:
        left_out = {"metadata", "status"} if self.version.has_status else {"metadata"}
        return not same(
            {name: value for name, value in new.items() if name not in left_out},
            {name: value for name, value in old.items() if name not in left_out},
        )

    # -- validation ---------------------------------------------------------------------------------

    def _judge(self, new: Object, old: Object | None, request: Decoded, *, status_write: bool) -> Verdict:
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
                errors.extend(scale_errors(new, dict(self.version.scale), status_only=status_write))
        if not status_write and self._has_embedded:
            errors.extend(embedded_errors(new, self.node, self.server))
        errors.extend(self._duplicates(new, old, status_write=status_write))
        if self.server.does("cel") and self._rules.has_rules:
            if any(self._blocks_rules(error) for error in errors):
                errors.append(FieldError(INVALID, "<nil>", None, NOT_CHECKED))
            else:
                outcome = self._rules.evaluate(new, pair, ratchet=ratchet)
                errors.extend(outcome.errors)
                unknown.extend(outcome.unknown)
                warnings += outcome.warnings
        accepted = None if unknown and not errors else not errors
        name = _meta(new).get("name")
        return Verdict(
            accepted=accepted,
            errors=tuple(errors),
            message=aggregate(
                self.crd.kind, self.crd.group, name if isinstance(name, str) else "", errors, self.server
            ),
            object=new if accepted else None,
            pruned=request.pruned,
            defaulted=request.defaulted,
            warnings=warnings,
            unknown=tuple(unknown),
            code=422 if errors else 200,
        )

    def _blocks_rules(self, error: FieldError) -> bool:
        return error.type in _BLOCKING or (error.type == NOT_SUPPORTED and self.server.does("enum_blocks_cel"))

    def _type_meta(self, new: Object) -> Iterable[FieldError]:
        if new.get("kind") != self.crd.kind:
            yield FieldError(INVALID, "kind", new.get("kind", ""), f"must be {self.crd.kind}")
        if new.get("apiVersion") != self.api_version:
            yield FieldError(INVALID, "apiVersion", new.get("apiVersion", ""), f"must be {self.api_version}")

    def _metadata(self, new: Object, old: Object | None) -> list[FieldError]:
        if old is None:
            return metadata.validate_create(_meta(new), namespaced=self.crd.namespaced, server=self.server)
        return metadata.validate_update(_meta(new), _meta(old), self.server)

    def _schema(
        self, new: Object, pair: Pair | None, status_only: bool, unknown: list[Unknown]
    ) -> Iterable[FieldError]:
        errors: list[FieldError] = []
        if not status_only:
            self._whole.validate_root(new, pair, errors, unknown)
            return _distinct(errors)
        if self._status is not None and "status" in new:
            self._status.validate(new["status"], "", pair.key("status") if pair else None, errors, unknown)
        if not self.server.does("status_prefix"):
            return _distinct(errors)
        return [replace(error, field=_below_status(error.field)) for error in _distinct(errors)]

    def _duplicates(self, new: Object, old: Object | None, *, status_write: bool) -> list[FieldError]:
        if status_write and not self.server.does("status_list_uniqueness"):
            return []
        errors = list(duplicate_errors(new, self.node))
        # Servers have always tolerated stored duplicates, all or nothing.
        if errors and old is not None and any(True for _ in duplicate_errors(old, self.node)):
            return []
        return errors


def _distinct(errors: list[FieldError]) -> list[FieldError]:
    """The OpenAPI result keeps one error per sentence; the sentence does not show the value."""
    return list({(error.type, error.field, error.detail): error for error in reversed(errors)}.values())[::-1]


def _below_status(path: str) -> str:
    return "status" if path == "<nil>" else f"status.{path}"


def _meta(obj: Object) -> Object:
    meta = obj.get("metadata")
    return meta if isinstance(meta, dict) else {}


def _carried(new: Object, old: Object, *, changed: bool) -> Object:
    """Metadata of an update: what the server owns comes from the old object, the generation moves with content."""
    carried = dict(new)
    for name in ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"):
        carried.pop(name, None)
        if name in old:
            carried[name] = old[name]
    generation = old.get("generation")
    if isinstance(generation, int):
        carried["generation"] = generation + 1 if changed else generation
    return carried
