"""judge: single writes from files, and many from NDJSON requests (design, section 7)."""

from __future__ import annotations

import sys
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict, metadata_of
from crdcompat.apiserver.crd_validation.refusal import refusal
from crdcompat.apiserver.redaction import redacted_verdict
from crdcompat.apiserver.requests import escape_not_yaml, number_out_of_range
from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.versions import DEFAULT_SERVER, NEWEST_SERVER, Server, kubernetes_server
from crdcompat.crds.model import Crd, NotACrdError, is_crd, read_crd
from crdcompat.errors import CrdcompatError, Problem, SourceError, UsageError
from crdcompat.features.judge.lines import Line, read_line, without_numbers
from crdcompat.features.judge.shown import Shown, verdict_text
from crdcompat.features.judge.stored import changed_besides
from crdcompat.features.judge.verdict import CRD_OPERATIONS, judge_crd, judge_write, resource_of
from crdcompat.features.simulate.workflow import error_data
from crdcompat.render.escape import Style, finish, json_text, say, warn
from crdcompat.vocabulary import ExitCode
from crdcompat.yaml.documents import Document, read_documents

_ASSUMED = "the newest known version (--kube-version or --openshift-version sets it)"


class Question(Struct, frozen=True):
    """One write to judge: file names of the CRD and the objects, and on which server; ``redact``: hide its values.

    Without ``new`` the CRD itself is judged; ``old`` is then the file of the installed CRD.
    """

    crd: str
    new: str | None
    old: str | None
    op: str
    version: str | None
    server: Server | None
    ratcheting: bool | None
    redact: bool = False


def answer(question: Question, style: Style | None) -> int:
    """Print the answer, as text in a style or as JSON without one. Returns the exit code.

    Raises CrdcompatError for input that cannot be judged.
    """
    server = question.server or NEWEST_SERVER
    server = Server(server.minor, server.openshift, question.ratcheting)
    verdict, shown = (_on_crd if question.new is None else _on_object)(question, server)
    if style is None:
        if question.server is None:
            warn(f"judged by {server}, {_ASSUMED}")
        say(json_text(_data(verdict), orjson.OPT_INDENT_2))
    else:
        for line in finish(verdict_text(verdict, shown, style)):
            sys.stdout.write(f"{line}\n")
    return _exit_code(verdict)


def _on_object(question: Question, server: Server) -> tuple[Verdict, Shown]:
    new = _one_object(question.new or "")
    old = _one_object(question.old) if question.old else None
    version = question.version or str(new.get("apiVersion", "")).rpartition("/")[2] or None
    resource = _served(question.crd, resource_of(_crd_for(question.crd, new), version, server))
    verdict = judge_write(resource, question.op, new, old)
    name = metadata_of(new).get("name") or metadata_of(old or {}).get("name") or ""
    return redacted_verdict(verdict, resource.node) if question.redact else verdict, Shown(
        server=_named(question, server),
        write=f"{question.op} of {resource.crd.kind} {json_text(name)}, {resource.crd.name}/{resource.version.name}",
        besides=changed_besides(resource, question.op, new, verdict),
        drops_status=question.op == "create"
        and "status" in new
        and "status" not in (verdict.object or {"status": None}),
    )


def _on_crd(question: Question, server: Server) -> tuple[Verdict, Shown]:
    """The answer to a new CRD or an update of an installed one."""
    new = _only_crd(question.crd)
    old = _only_crd(question.old, new) if question.old else None
    verdict = judge_crd("updateCRD" if old else "createCRD", new, old, server)
    return verdict, Shown(_named(question, server), f"{'update' if old else 'create'} of the CRD {_name_of(new)}")


def _named(question: Question, server: Server) -> str:
    """The server, and whether it is only assumed."""
    return str(server) if question.server is not None else f"{server}, {_ASSUMED}"


def _exit_code(verdict: Verdict) -> ExitCode:
    if verdict.accepted is None:
        return ExitCode.NOT_DONE
    return ExitCode.CLEAN if verdict.accepted else ExitCode.FOUND


def answer_requests(source: str, *, redact: bool = False) -> int:
    """Answer every line of ``source`` (``-``: standard input) in order; the exit code is 0 if all were judged."""
    code = 0
    if source == "-":
        return _answer_lines(sys.stdin.buffer, redact=redact)
    try:
        with Path(source).open("rb") as lines:
            code = _answer_lines(lines, redact=redact)
    except OSError as error:
        raise SourceError(f"{source}: {error.strerror}") from None
    return code


def _answer_lines(lines: BinaryIO, *, redact: bool) -> int:
    code = 0
    out = sys.stdout.buffer
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            answered = _answer_request(read_line(line), redact=redact)
        except orjson.JSONDecodeError as error:
            answered = _unanswered(None, f"line {number} is not JSON: {error}")
        except CrdcompatError as error:
            answered = _unanswered(_id_of(line), str(error))
        if "request" in (item["what"] for item in answered["unknown"]):
            code = ExitCode.NOT_DONE
        out.write(json_text(answered, orjson.OPT_APPEND_NEWLINE).encode())
    out.flush()
    return code


def _answer_request(line: Line, *, redact: bool) -> dict[str, Any]:
    request = line.request
    if not isinstance(request, dict):
        raise UsageError("the request is not an object")
    operation = request.get("op", "create")
    if not isinstance(operation, str):
        raise UsageError("the request's `op` is not a string")
    crd, version, kube = request.get("crd"), request.get("version"), request.get("kube") or DEFAULT_SERVER.kubernetes
    if line.number and operation == "scale":
        raise UsageError(f"the number {line.number} does not fit into a float64")
    if operation in CRD_OPERATIONS:
        if not isinstance(kube, str):
            raise UsageError('the request\'s `kube` is not a string such as "1.31"')
        server = kubernetes_server(kube)
        verdict = judge_crd(operation, request.get("new"), request.get("old"), server, as_sent=True)
        if line.number and verdict.object is not None:
            verdict = replace(verdict, object=without_numbers(verdict.object))
        return {"id": request.get("id"), **_data(verdict)}
    if not isinstance(crd, str) or not isinstance(kube, str):
        raise UsageError('the request names no CRD file in `crd`, or `kube` is not a string such as "1.31"')
    if not isinstance(version, (str, type(None))):
        raise UsageError("the request's `version` is not a string")
    namespace = request.get("namespace") or ""
    if not isinstance(namespace, str):
        raise UsageError("the request's `namespace`, of the URL of a create, is not a string")
    ratcheting = request.get("ratcheting")
    if not isinstance(ratcheting, (bool, type(None))):
        raise UsageError("the request's `ratcheting` is not true or false")
    if version is None and isinstance(request.get("new"), dict):
        version = str(request["new"].get("apiVersion", "")).rpartition("/")[2] or None
    new = _as_decoded(request.get("new"))
    kind = new.get("kind") if isinstance(new, dict) else None
    resource = _resource(crd, kind if isinstance(kind, str) else None, version, kube, ratcheting)
    verdict = _undecodable(resource, operation, line) or judge_write(
        resource, operation, new, _as_decoded(request.get("old")), namespace=namespace
    )
    shown = redacted_verdict(verdict, resource.node) if redact else verdict
    return {"id": request.get("id"), **_data(shown)}


def _undecodable(resource: Resource, operation: str, line: Line) -> Verdict | None:
    """The refusal of a body by its spelling alone. An apply takes a number out of range as a string."""
    is_yaml = operation.startswith("apply")
    if is_yaml and line.has_surrogates:
        return escape_not_yaml()
    if line.number and not is_yaml:
        return number_out_of_range(resource, line.number, is_patch=operation.startswith("mergePatch"))
    return None


@lru_cache(maxsize=1024)
def _resource(crd: str, kind: str | None, version: str | None, kube: str, ratcheting: bool | None) -> Resource:
    server = kubernetes_server(kube)
    server = Server(server.minor, server.openshift, ratcheting)
    return _served(crd, resource_of(_crd_for(crd, {"kind": kind}), version, server))


def _served(file: str, resource: Resource) -> Resource:
    """The resource, if a server would serve it at all. Raises SourceError with the rule that its CRD breaks."""
    refused = refusal(resource.crd, resource.server)
    if refused:
        raise SourceError(f"{file}: the API server refuses this CRD: {refused}")
    return resource


def _as_decoded(value: Any) -> Any:
    """Integers beyond int64 are floats to the API server."""
    if isinstance(value, dict):
        return {key: _as_decoded(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_as_decoded(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)
    return value


def _data(verdict: Verdict) -> dict[str, Any]:
    return {
        "accepted": verdict.accepted,
        "code": verdict.code,
        "errors": [error_data(error) for error in verdict.errors],
        "aggregate": verdict.message,
        "result": verdict.object,
        "pruned_paths": list(verdict.pruned),
        "defaulted_paths": list(verdict.defaulted),
        "warnings": list(verdict.warnings),
        "unknown": [{"field": u.field, "what": u.what, "reason": u.reason} for u in verdict.unknown],
    }


def _unanswered(request_id: Any, reason: str) -> dict[str, Any]:
    return {
        "id": request_id,
        "accepted": None,
        "code": 0,
        "errors": [],
        "aggregate": "",
        "result": None,
        "pruned_paths": [],
        "defaulted_paths": [],
        "warnings": [],
        "unknown": [{"field": "", "what": "request", "reason": reason}],
    }


def _id_of(line: bytes) -> Any:
    request = read_line(line).request
    return request.get("id") if isinstance(request, dict) else None


def _documents(file: str) -> list[Document]:
    from crdcompat.sources.files import PathTree

    tree = PathTree(file, file)
    found: list[Document] = []
    for entry, data in tree.read(tree.entries()):
        for item in read_documents(data, entry.path):
            if isinstance(item, Problem):
                raise SourceError(f"{file}:{item.line or 1}: {item.message}")
            found.append(item)
    if tree.problems:
        raise SourceError(f"{file}: {tree.problems[0].message}")
    return found


def _one_object(file: str) -> dict[str, Any]:
    documents = _documents(file)
    if len(documents) != 1:
        raise UsageError(f"{file}: judge takes one object, there are {len(documents)}")
    if not isinstance(documents[0].data, dict):
        raise UsageError(f"{file}: not an object")
    return documents[0].data


def _crd_for(file: str, obj: dict[str, Any]) -> Crd:
    """The CRD in ``file``; of several the one of the object's kind."""
    try:
        crds = [read_crd(document.data) for document in _documents(file) if is_crd(document.data)]
    except NotACrdError as error:
        raise SourceError(f"{file}: not a readable CRD: {error}") from None
    chosen = [crd for crd in crds if crd.kind == obj.get("kind")] or crds
    if not chosen:
        raise UsageError(f"{file}: there is no CustomResourceDefinition in it")
    return chosen[0]


def _only_crd(file: str, like: dict[str, Any] | None = None) -> dict[str, Any]:
    """The CRD in ``file``; of several the one with the name of ``like``. The server judges it, whatever is in it."""
    found = [document.data for document in _documents(file) if is_crd(document.data)]
    if like is not None and len(found) > 1:
        found = [crd for crd in found if _name_of(crd) == _name_of(like)]
    if len(found) != 1:
        raise UsageError(f"{file}: judge takes one CustomResourceDefinition, there are {len(found)}")
    chosen: dict[str, Any] = found[0]
    return chosen


def _name_of(crd: dict[str, Any]) -> Any:
    metadata = crd.get("metadata")
    return metadata.get("name") if isinstance(metadata, dict) else None
