"""Which writes fail by which of an object's values."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from helpers import Json, both, crd, obj, root, run, simulate, string, write

_REST = "spec-update, metadata-update, finalizer-removal, apply"
_BAD_BOTH: Json = {"spec": {"mode": "B"}, "status": {"phase": "B"}}


@pytest.mark.parametrize(
    ("kube", "expected"),
    [
        ("1.27", {"spec.mode": "every write fails", "status.phase": "every write fails"}),
        ("1.29", {"spec.mode": f"{_REST} fail", "status.phase": "every write fails"}),
        ("1.32", {"status.phase": "status-update, status-update-touching fail"}),
        ("1.33", {"status.phase": "status-update-touching fails"}),
    ],
)
def test_each_value_fails_the_writes_whose_errors_name_it(tmp_path: Path, kube: str, expected: dict[str, str]) -> None:
    """The schema breaks at both values. Which writes a server judges by which of them depends on its version."""
    schemas = (root(spec=obj(mode=string(*values)), status=obj(phase=string(*values))) for values in ("A", "AB"))
    old, new = both(tmp_path, *map(crd, schemas))
    meta = {"name": "a", "namespace": "b"}
    recording = write(
        tmp_path / "a.json", {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, **_BAD_BOTH}
    )
    asked = old, new, "--objects", recording, "--kube-version", kube
    assert [cause["path"] for cause in simulate(*asked, code=1)["summary"]["causes"]] == [*expected]
    lines = run("simulate", *asked).out.partition(": BLOCKED")[2].splitlines()
    said = {one.split()[-1]: two.partition(": ")[2] for one, two in pairwise(lines) if "rejects" in two}
    assert said == expected
