"""Fields that the next release declares where this one preserves any value."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import Json, array, both, crd, diff, obj, only, prove, root, string

_FREE = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TYPES = array(obj(when={"type": "string", "format": "date-time"}, code={"x-kubernetes-int-or-string": True}))


@pytest.mark.parametrize(
    ("half", "declared", "severity"),
    [
        ("status", _TYPES, "info"),
        ("status", array(obj(level=string("INFO", "ERROR"))), "warning"),
        ("status", array({**obj(level=string()), "required": ["level"]}), "warning"),
        ("spec", _TYPES, "warning"),
    ],
    ids=["types of a status", "an enum", "a required field", "a spec"],
)
def test_controllers_write_the_types_that_are_declared(
    tmp_path: Path, half: str, declared: Json, severity: str
) -> None:
    """istio 1.23 -> 1.24: ``status.conditions`` becomes a list of objects; nothing else was ever written there."""
    old, new = root(**{half: _FREE}), root(**{half: {**_FREE, **obj(messages=declared)}})
    finding = only(diff(*both(tmp_path, old, new)), rule="free-field-declared", direction="upgrade")
    prove(finding, crd(old), crd(new))
    assert (finding["path"], finding["severity"]) == (f"{half}.messages", severity)
    assert ("no controller writes that" in finding["message"]) == (severity == "info")
