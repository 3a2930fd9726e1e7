"""Reads the JSON report of diff that is to be verified."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import orjson

from crdcompat.errors import SourceError, UsageError
from crdcompat.models.report import FORMAT, Release
from crdcompat.models.verification import Claim, ClaimingReport
from crdcompat.render.report_schema import schema_text

Json = dict[str, Any]


def read_report(file: str) -> ClaimingReport:
    """The report in a file; ``-`` is standard input.

    Raises SourceError for what cannot be read, UsageError for the report of another command.
    """
    data = _parsed(file)
    command = data.get("command") if isinstance(data, dict) else None
    if data == [] or command is None or data.get("format") != FORMAT:
        raise SourceError(f"{file}: not a JSON report of crdcompat (crdcompat diff OLD NEW --format json={file})")
    if command != "diff":
        raise UsageError(
            f"{file}: the report of {command}; verify takes that of diff, whose releases can be read again"
        )
    _check(data, file)
    claims = tuple(_claim(finding) for finding in data["findings"])
    return ClaimingReport(file, _release(data["old"]), _release(data["new"]), claims)


def _parsed(file: str) -> Any:
    try:
        return orjson.loads(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes())
    except OSError as error:
        raise SourceError(f"{file}: {error.strerror}") from None
    except orjson.JSONDecodeError as error:
        raise SourceError(f"{file}: not JSON: {error}") from None


def _check(data: Json, file: str) -> None:
    """Raises SourceError if the report is not what the schema of reports says."""
    from jsonschema import Draft202012Validator

    for error in Draft202012Validator(orjson.loads(schema_text())).iter_errors(data):
        raise SourceError(f"{file}: not a report as crdcompat writes it: {error.json_path}: {error.message[:200]}")


def _release(data: Json) -> Release:
    return Release(data["name"], data["commit"], data["kubernetes"])


def _claim(finding: Json) -> Claim:
    witness = finding["witness"]
    return Claim(
        id=finding["id"],
        rule=finding["rule"],
        direction=finding["direction"],
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
    )
