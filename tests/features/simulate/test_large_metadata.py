"""An object with huge managed fields: the work grows with their number, and no faster."""

from __future__ import annotations

from pathlib import Path

from helpers import Json, crd, obj, root, run, string, write
from operations import operations

GROWTH = 10_000


def _object(fields: int) -> Json:
    owned: Json = {f"f:k{number}": {"f:a": {}, "f:b": {"f:c": {}}} for number in range(fields)}
    entry = {"manager": "m", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1"}
    meta = {"name": "a", "namespace": "default", "managedFields": [{**entry, "fieldsV1": {"f:spec": owned}}]}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, "status": {"p": "B"}}


def test_the_replay_of_huge_managed_fields_is_linear(tmp_path: Path) -> None:
    sides = [write(tmp_path / f"{values}.yaml", crd(root(status=obj(p=string(*values))))) for values in ("A", "AB")]
    calls = []
    for fields in (0, GROWTH, 2 * GROWTH):  # the first run loads modules
        recorded = write(tmp_path / f"{fields}.json", _object(fields))
        with operations() as done:
            ran = run("simulate", *sides, "--objects", recorded, "--kube-version", "1.31", "--format", "json")
        assert ran.code == 1
        calls.append(done.calls)
    assert calls[2] <= 2.2 * calls[1]
    assert calls[2] - calls[1] <= 60 * GROWTH
