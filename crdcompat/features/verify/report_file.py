"""Reads the JSON report of diff that is to be verified."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson

from crdcompat.errors import SourceError, UsageError
from crdcompat.models.release import Release
from crdcompat.models.report import FORMAT
from crdcompat.models.verification import Claim, ClaimingReport
from crdcompat.program import typed
from crdcompat.render.data.schema import schema_of_reports
from crdcompat.vocabulary.installers import judged_as
from crdcompat.yaml.validated import first_error

Json = dict[str, Any]


def read_report(file: str) -> ClaimingReport:
    """The report in a file; ``-`` is standard input.

    Raises SourceError for what cannot be read, UsageError for the report of another command.
    """
    text = _bytes(file)
    data = _parsed(file, text)
    command = data.get("command") if isinstance(data, dict) else None
    if data == [] or command is None or data.get("format") != FORMAT:
        raise SourceError(f"{file}: not a JSON report of crdcompat ({typed()} diff OLD NEW --format json={file})")
    if command != "diff":
        raise UsageError(
            f"{file}: a report of {command}: verify takes a report of diff, whose releases it can read again"
        )
    check_report(data, file, text)
    claims = tuple(_claim(finding) for finding in data["findings"])
    return ClaimingReport(file, _release(data["old"]), _release(data["new"]), claims)


def _bytes(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror}") from None


def _parsed(file: str, text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise SourceError(f"{file}: not JSON: {error}") from None


def check_report(data: Json, file: str, text: bytes) -> None:
    """Raises SourceError with the line if the report is not what the schema of reports says."""
    wrong = first_error(file, data, text, schema_of_reports())
    if wrong is not None:
        raise SourceError(f"{wrong} (a report as crdcompat writes it is wanted; make it again)")


def _release(data: Json) -> Release:
    return Release(data["name"], data["commit"], data["kubernetes"])


def _claim(finding: Json) -> Claim:
    witness = finding["witness"]
    return Claim(
        id=finding["id"],
        rule=finding["rule"],
        direction=finding["direction"],
        judged_as=judged_as(finding["direction"], finding.get("window")),
        effect=finding["effect"],
        crd=finding["crd"],
        version=finding["version"],
        path=finding["path"],
        contexts=tuple(finding["contexts"]),
        witness=witness["object"],
        errors=tuple(witness["errors"]),
        pruned=tuple(witness["pruned"]),
        defaulted=tuple(witness["defaulted"]),
        reason=witness["reason"] or "",
        stored=witness.get("stored"),
        files=frozenset((place["side"], place["file"]) for place in finding["locations"]),
    )
