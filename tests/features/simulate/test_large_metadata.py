"""Large input of a replay: huge managed fields take linear work, and a large list in an archive fits in memory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from helpers import Json, crd, obj, root, run, string, write
from operations import operations
from packed_sources import tar

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


#: The command line in a process that may take 2 GiB.
_LIMITED = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
from crdcompat.__main__ import main
main()
"""


def test_a_list_of_60_megabytes_in_an_archive_fits_in_2_gigabytes(tmp_path: Path) -> None:
    old, new = (write(tmp_path / f"{values}.yaml", crd(root(status=obj(p=string(*values))))) for values in ("A", "AB"))
    other = {"apiVersion": "v1", "kind": "ConfigMap", "data": dict.fromkeys(map(str, range(20)), "x" * 250)}
    items = [{**other, "metadata": {"name": f"c{number}", "namespace": "n"}} for number in range(12_000)]
    data = json.dumps({"apiVersion": "v1", "kind": "List", "items": [*items, _object(1)]}).encode()
    assert 60_000_000 < len(data) < 64 << 20
    recorded = tmp_path / "must-gather.tar.gz"
    recorded.write_bytes(tar({"must-gather/list.json": data}, "w:gz"))
    args = ("simulate", old, new, "--objects", recorded, "--kube-version", "1.31", "--format", "json")
    ran = subprocess.run([sys.executable, "-c", _LIMITED, *args], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (1, "")
    summary = json.loads(ran.stdout)["summary"]
    assert (summary["objects"]["simulated"], summary["verdicts"]["rejected"]) == (1, 1)
