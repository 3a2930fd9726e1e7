"""judge --requests: one answer for each line of NDJSON (docs/judging.md#how-a-write-is-sent).

A line that cannot be answered has an answer that says so. Nothing in a line ends the batch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.ownership import Applier
from crdcompat.apiserver.redaction import redacted_verdict
from crdcompat.apiserver.requests import escape_not_yaml, number_out_of_range
from crdcompat.apiserver.sending import Sending
from crdcompat.apiserver.server_versions import DEFAULT_SERVER, Server, kubernetes_server
from crdcompat.apiserver.strategy import TOO_DEEP, Resource
from crdcompat.errors import CrdcompatError, SourceError, UsageError
from crdcompat.features.judge.judged_files import crd_for, in_json, served
from crdcompat.features.judge.one_write import verdict_data
from crdcompat.features.judge.request_lines import Line, read_line, without_numbers
from crdcompat.features.judge.write_verdict import CRD_OPERATIONS, judge_crd, judge_write, resource_of
from crdcompat.render.escape import json_text
from crdcompat.vocabulary import ExitCode
from crdcompat.vocabulary.judging import FieldValidation

MAX_LINE = 16 << 20
"""Bytes of a line that are read. A server takes bodies of up to 3 MiB."""


def answer_requests(source: str, *, redact: bool = False) -> int:
    """Answer every line of ``source`` (``-``: standard input) in order, each as soon as it is judged.

    The exit code is 0 if all were judged, 2 if not. Raises SourceError for a file that cannot be read.
    """
    if source == "-":
        return _answer_lines(sys.stdin.buffer, redact=redact)
    try:
        opened = Path(source).open("rb")  # noqa: SIM115 - an error while lines are answered is none of this file
    except OSError as error:
        raise SourceError(f"{source}: {error.strerror}") from None
    with opened as lines:
        return _answer_lines(lines, redact=redact)


def _answer_lines(lines: BinaryIO, *, redact: bool) -> int:
    code = ExitCode.CLEAN
    out = sys.stdout.buffer
    for number, line in enumerate(_lines(lines), 1):
        if not line.strip():
            continue
        answered, text = _answered(line, number, redact=redact)
        if answered["accepted"] is None:
            code = ExitCode.NOT_DONE
        out.write(text)
        out.flush()  # a reader at the other end of a pipe may wait for this answer before it asks again
    return code


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is longer than MAX_LINE, the beginning, which is longer than MAX_LINE, too."""
    while line := source.readline(MAX_LINE + 1):
        rest = line
        while len(rest) > MAX_LINE and not rest.endswith(b"\n"):
            rest = source.readline(MAX_LINE + 1)
        yield line


def _answered(line: bytes, number: int, *, redact: bool) -> tuple[dict[str, Any], bytes]:
    """The answer to a line, also to one that nothing can answer, and its text."""
    request_id = None
    try:
        if len(line) > MAX_LINE:
            raise UsageError(f"line {number} is longer than {MAX_LINE} bytes")
        read = read_line(line)
        request_id = read.request.get("id") if isinstance(read.request, dict) else None
        answered = {"id": request_id, **_answer_request(read, line, redact=redact)}
        return answered, _written(answered)
    except orjson.JSONDecodeError as error:
        reason = f"line {number} is not JSON: {error}"
    except CrdcompatError as error:
        reason = str(error)
    except RecursionError:
        reason = TOO_DEEP
    except MemoryError:
        reason = "the memory does not suffice"
    except Exception as error:  # a fault of the program must not take the answers of other lines with it
        fault = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        reason = f"crdcompat failed at this request ({fault}): this is a bug; please report it with the request"
    answered = _unanswered(request_id, reason)
    try:
        return answered, _written(answered)
    except RecursionError:  # of the id
        answered = _unanswered(None, reason)
        return answered, _written(answered)


def _written(answered: dict[str, Any]) -> bytes:
    return json_text(answered, orjson.OPT_APPEND_NEWLINE).encode()


def _answer_request(line: Line, text: bytes, *, redact: bool) -> dict[str, Any]:
    request = line.request
    if not isinstance(request, dict):
        raise UsageError("the request is not an object")
    operation = request.get("op", "create")
    if not isinstance(operation, str):
        raise UsageError("the request's `op` is not a string")
    crd, version, kube = request.get("crd"), request.get("version"), request.get("kube") or DEFAULT_SERVER.kubernetes
    if line.number and operation in ("scale", "mergePatchScale", "jsonPatchScale"):
        raise UsageError(f"the number {line.number} does not fit into a float64")
    if operation in CRD_OPERATIONS:
        if not isinstance(kube, str):
            raise UsageError('the request\'s `kube` is not a string such as "1.31"')
        server = kubernetes_server(kube)
        verdict = judge_crd(operation, request.get("new"), request.get("old"), server, as_sent=True)
        if line.number and verdict.object is not None:
            verdict = replace(verdict, object=without_numbers(verdict.object))
        return verdict_data(verdict)
    if not isinstance(crd, str) or not isinstance(kube, str):
        raise UsageError('the request names no CRD file in `crd`, or `kube` is not a string such as "1.31"')
    if crd == "-":
        raise UsageError("the request's `crd` is standard input, which may hold the requests: name a file")
    if not isinstance(version, (str, type(None))):
        raise UsageError("the request's `version` is not a string")
    namespace = request.get("namespace") or ""
    if not isinstance(namespace, str):
        raise UsageError("the request's `namespace`, of the URL of a create, is not a string")
    ratcheting = request.get("ratcheting")
    if not isinstance(ratcheting, (bool, type(None))):
        raise UsageError("the request's `ratcheting` is not true or false")
    new = _as_decoded(request.get("new"))
    like = request.get("old") if "Scale" in operation or operation == "scale" else new
    if version is None and isinstance(like, dict):
        version = str(like.get("apiVersion", "")).rpartition("/")[2] or None
    kind = like.get("kind") if isinstance(like, dict) else None
    resource = _resource(crd, kind if isinstance(kind, str) else None, version, kube, ratcheting)
    old, applier, sending = _as_decoded(request.get("old")), _applier(request), _sending(request, text)
    verdict = _undecodable(resource, operation, line) or judge_write(
        resource, operation, new, old, namespace=namespace, applier=applier, sending=sending
    )
    shown = redacted_verdict(verdict, resource.node) if redact else verdict
    return verdict_data(shown)


def _applier(request: dict[str, Any]) -> Applier | None:
    """Who applies, if the request names the field manager. Raises UsageError."""
    manager, force = request.get("manager"), request.get("force", False)
    if not isinstance(manager, (str, type(None))) or not isinstance(force, bool):
        raise UsageError("the request's `manager` is not a string, or `force` is not true or false")
    return None if manager is None else Applier(manager, force)


def _sending(request: dict[str, Any], text: bytes) -> Sending:
    """The client's options. What the body has twice is looked for if the request says what to do about it."""
    validation, dry_run = request.get("fieldValidation"), request.get("dryRun", False)
    if validation not in (None, *FieldValidation) or not isinstance(dry_run, bool):
        known = ", ".join(FieldValidation)
        raise UsageError(f"the request's `fieldValidation` is not one of {known}, or `dryRun` is not true or false")
    if validation is None:
        return Sending(dry_run=dry_run)
    return Sending(FieldValidation(validation), dry_run, in_json(text, "new"))


def _undecodable(resource: Resource, operation: str, line: Line) -> Verdict | None:
    """The refusal of a body by its spelling alone. An apply takes a number out of range as a string."""
    is_yaml = operation.startswith("apply")
    if is_yaml and line.has_surrogates:
        return escape_not_yaml()
    if line.number and not is_yaml:
        return number_out_of_range(resource, line.number, is_patch="Patch" in operation)
    return None


@lru_cache(maxsize=1024)
def _resource(crd: str, kind: str | None, version: str | None, kube: str, ratcheting: bool | None) -> Resource:
    server = kubernetes_server(kube)
    server = Server(server.minor, server.openshift, ratcheting)
    return served(crd, resource_of(crd_for(crd, {"kind": kind}), version, server))


def _as_decoded(value: Any) -> Any:
    """Integers beyond int64 are floats to the API server."""
    if isinstance(value, dict):
        return {key: _as_decoded(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_as_decoded(item) for item in value]
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return float(value)
    return value


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
