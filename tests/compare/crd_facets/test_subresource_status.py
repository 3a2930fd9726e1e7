"""The /status endpoint: how much depends on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from helpers import Json, both, crd, diff, obj, root, string

_PRESERVE = {"x-kubernetes-preserve-unknown-fields": True}


def _severities(tmp_path: Path, status: Json | None, **of_root: Any) -> list[tuple[str, str, str]]:
    """The findings about the endpoint where OLD has it and NEW does not, and in the other direction."""
    schema = root(spec=obj(a=string()), **({} if status is None else {"status": status})) | of_root
    sides = [crd(schema) for _ in range(2)]
    for side, subresources in zip(sides, ({"status": {}}, {}), strict=True):
        side["spec"]["versions"][0]["subresources"] = subresources
    found = []
    for way in (sides, sides[::-1]):
        for each in diff(*both(tmp_path, *way))["findings"]:
            if each["effect"] == "request-failed":
                found.append((each["rule"], each["direction"], each["severity"]))
    return found


@pytest.mark.parametrize(
    ("status", "severity"),
    [
        (obj(phase=string()), "error"),
        ({"type": "object", **_PRESERVE}, "error"),
        ({"type": "object", "additionalProperties": string()}, "error"),
        (None, "warning"),
        ({"type": "object"}, "warning"),
    ],
)
def test_an_endpoint_to_which_nothing_can_be_written_is_no_error(
    tmp_path: Path, status: Json | None, severity: str
) -> None:
    """Agent Sandbox: a SandboxTemplate had an empty status, which left with its endpoint."""
    assert _severities(tmp_path, status) == [
        ("subresource-status-removed", "upgrade", severity),
        ("subresource-status-added", "rollback", severity),
    ]


def test_a_root_that_keeps_every_field_keeps_an_undeclared_status(tmp_path: Path) -> None:
    assert _severities(tmp_path, None, **_PRESERVE) == [
        ("subresource-status-removed", "upgrade", "error"),
        ("subresource-status-added", "rollback", "error"),
    ]
