"""What a server makes of a request by how it is sent: its size, its kind and version, fields that it does not know.

Source: k8s.io/apiserver, ``pkg/endpoints/handlers`` (``create.go``, ``update.go``, ``patch.go``); etcd's limits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.apply import root_type
from crdcompat.apiserver.field_errors import INVALID, FieldError, Unknown
from crdcompat.apiserver.field_sets import fields_of
from crdcompat.apiserver.gotext import compact_json, json_kind, quote
from crdcompat.apiserver.keywords import Keyword
from crdcompat.vocabulary import HIDDEN
from crdcompat.vocabulary.judging import FieldValidation

if TYPE_CHECKING:
    from crdcompat.apiserver.strategy import Resource
    from crdcompat.schema.paths import Object

MAX_BODY = 3 << 20
"""Bytes of a request that a server reads."""
_MAX_REQUEST, _MAX_MESSAGE = 3 << 19, 2 << 20
"""Bytes of a request to etcd that etcd refuses, and that the server's client does not send."""
#: Bytes beside the object in a request to etcd, at least and at most.
_LEAST_BESIDE, _MOST_BESIDE = 200, 1500
_SUMMARY = 30
_STRICT = "strict decoding error: "


class Duplicate(Struct, frozen=True):
    """A field that a body has twice, the last one counts: its ``path`` ("": the body is YAML), and its ``line``."""

    key: str
    path: str = ""
    line: int = 1

    @property
    def in_yaml(self) -> str:
        """The duplicate in the words of the YAML reader."""
        return f"line {self.line}: key {quote(self.key)} already set in map"


class Sending(Struct, frozen=True):
    """How a client sends a request. ``duplicates``: what the body has twice, which its value no longer shows."""

    validation: FieldValidation = FieldValidation.WARN
    dry_run: bool = False
    duplicates: tuple[Duplicate, ...] = ()

    def warnings(self, resource: Resource, *, is_apply: bool = False) -> tuple[str, ...]:
        """The warnings about duplicates."""
        if self.validation is not FieldValidation.WARN or not resource.server.does("field_warnings"):
            return ()
        return tuple(
            each.in_yaml if is_apply or not each.path else f"duplicate field {quote(each.path)}"
            for each in self.duplicates
        )

    def is_strict(self, resource: Resource) -> bool:
        """Whether unknown and duplicate fields are refused."""
        return self.validation is FieldValidation.STRICT and resource.server.does("field_warnings")


PLAIN = Sending()


def refused(code: int, message: str, redacted: str = "") -> Verdict:
    """A refusal without errors of fields."""
    return Verdict(False, (), None, code=code, failure=message, redacted_failure=redacted)


def _sent(value: Any) -> bytes:
    """A value as a client sends it."""
    try:
        return orjson.dumps(value)
    except TypeError:  # integers beyond 64 bits, and lone surrogates
        return compact_json(value).encode()


def too_large(body: Any) -> Verdict | None:
    """The refusal of a body for its size, sent as compact JSON."""
    if len(_sent(body)) <= MAX_BODY:
        return None
    return refused(413, f"Request entity too large: limit is {MAX_BODY}")


def unrecognized(resource: Resource, raw: Object) -> Verdict | None:
    """The refusal of an object without a kind, or with an apiVersion or a kind that is none."""
    kind, version = raw.get("kind"), raw.get("apiVersion")
    sent = _sent(raw).decode()
    wrong = next(
        ((k, v) for k, v in (("apiVersion", version), ("kind", kind)) if not isinstance(v, (str, type(None)))), None
    )
    if wrong is not None:
        error = f"json: cannot unmarshal {json_kind(wrong[1])} into Go struct field .{wrong[0]} of type string"
        said = f"couldn't get version/kind; json parse error: {error}"
    elif isinstance(version, str) and version.count("/") > 1:
        said = f"unexpected GroupVersion string: {version}"
    elif not kind:
        said = f"Object 'Kind' is missing in '{sent}'"
    else:
        return None
    head = f"the object provided is unrecognized (must be of type {resource.crd.kind}): "
    summary = sent if len(sent) <= _SUMMARY else f"{sent[:_SUMMARY]} ..."
    return refused(400, f"{head}{said} ({summary})", head + HIDDEN)


def other_version(resource: Resource, raw: Object) -> Verdict | None:
    """The refusal of an object of another API version than the URL's. One of another kind is a 422."""
    version = raw.get("apiVersion") or ""
    if version == resource.api_version:
        return None
    data, wanted = f"the API version in the data ({version})", f"the expected API version ({resource.api_version})"
    return refused(400, f"{data} does not match {wanted}")


def other_type(resource: Resource, patch: Object) -> Verdict | None:
    """The refusal of an apply whose body is of another kind or API version than the URL's."""
    version, kind = (each if isinstance(each := patch.get(name), str) else "" for name in ("apiVersion", "kind"))
    if (version, kind) == (resource.api_version, resource.crd.kind):
        return None
    if version.count("/") > 1:
        version, kind = "/", ""
    return refused(400, f"invalid object type: {version if '/' in version else f'/{version}'}, Kind={kind}")


def not_strict(resource: Resource, raw: Object, sending: Sending) -> Verdict | None:
    """The refusal of an object with unknown or duplicate fields, if the client wants it."""
    if not sending.is_strict(resource):
        return None
    if found := _faults(sending, resource.read(raw).pruned):
        kind = resource.crd.kind
        return refused(400, f"{kind} in version {quote(resource.version.name)} cannot be handled as a {kind}: {found}")
    return None


def not_strict_apply(resource: Resource, sending: Sending) -> Verdict | None:
    """The refusal of an apply with duplicate fields, if the client wants it; it has no unknown ones in any case."""
    if not sending.duplicates or not sending.is_strict(resource):
        return None
    lines = "".join(f"\n  {each.in_yaml}" for each in sending.duplicates)
    return refused(400, f"error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:{lines}")


def not_strict_patch(resource: Resource, whole: Object, sending: Sending) -> Verdict | None:
    """The refusal of a patch after which an object has unknown or duplicate fields, if the client wants it."""
    if not sending.is_strict(resource):
        return None
    found = _faults(sending, resource.read(whole).pruned)
    return unfit_patch(resource, whole, found) if found else None


def unfit_patch(resource: Resource, whole: Object, fault: str) -> Verdict:
    """The refusal of a patch for the object that it makes."""
    sent = compact_json(whole)
    error = FieldError(INVALID, ("patch",), Keyword.METADATA, sent, resource.server, fixed_detail=fault)
    return Verdict(False, (error,), None, code=422)


def _faults(sending: Sending, pruned: tuple[str, ...]) -> str:
    lines = "".join(f"\n  {each.in_yaml}" for each in sending.duplicates if not each.path)
    faults = [
        *([f"yaml: unmarshal errors:{lines}"] if lines else []),
        *(f"duplicate field {quote(each.path)}" for each in sending.duplicates if each.path),
        *(f"unknown field {quote(path)}" for path in pruned),
    ]
    return _STRICT + ", ".join(faults) if faults else ""


def in_etcd(verdict: Verdict, resource: Resource, sending: Sending) -> Verdict:
    """The verdict, unless etcd refuses the object for its size; a dry run asks no etcd.

    The server adds managedFields, whose size is known only roughly: between the bounds the answer is unknown.
    """
    if verdict.object is None or sending.dry_run:
        return verdict
    size = len(_sent(verdict.object))
    if size + _LEAST_BESIDE > _MAX_MESSAGE:
        desc = f"trying to send message larger than max ({size + _LEAST_BESIDE} vs. {_MAX_MESSAGE})"
        return refused(500, f"rpc error: code = ResourceExhausted desc = {desc}")
    if size + _LEAST_BESIDE > _MAX_REQUEST:
        return refused(500, "etcdserver: request is too large")
    if size < _MAX_REQUEST // 6 or size + _MOST_BESIDE + _owned(verdict.object, resource) <= _MAX_REQUEST:
        return verdict
    reason = (
        f"with the managedFields that the server adds, it may have more than the {_MAX_REQUEST} bytes that etcd takes"
    )
    return replace(verdict, accepted=None, object=None, unknown=(Unknown("", "size", reason),))


def _owned(obj: Object, resource: Resource) -> int:
    """Bytes that an entry of managedFields for the whole object has, at most."""
    steps = {path[:depth] for path in fields_of(obj, root_type(resource.node)) for depth in range(1, len(path) + 1)}
    return sum(2 * len(step[-1] if isinstance(step[-1], str) else str(step[-1])) + 12 for step in steps)
