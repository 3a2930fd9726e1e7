"""The work of the installed program on real releases grows by no more than 15 %, or CHANGELOG.md says why.

Calls are counted, which do not depend on the machine or its load, and the peak of the memory of a matrix.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import Json

#: What a command cost when the numbers were written down (Python 3.11), in thousands of calls: after a change that
#: costs less, take them down; after one that has to cost more, take them up, and say in CHANGELOG.md what is gained.
_CALLS = {
    "diff release-4.13 release-4.14": 3_860,
    "diff release-4.15 release-4.16": 11_940,
    "check --base release-4.12 --head release-4.13": 2_280,
}
#: The same of a second run, which keeps what the first one read and judged.
_CALLS_AGAIN = {
    "diff release-4.13 release-4.14": 930,
    "servers release-4.16": 1_290,
}
#: MiB of a matrix of four releases.
_MEMORY = 100
_MARGIN = 1.15
_COUNTING = Path(__file__).parents[1] / "support/counting.py"


def _cost(what: str, openshift_api: Path, tmp_path: Path, *args: str) -> int:
    """The calls or the peak of the memory (``what``) of a command."""
    file = tmp_path / "cost.json"
    environment = os.environ | {"PYTHONHASHSEED": "0", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, str(_COUNTING), what, str(file), *args, "--format", f"json={tmp_path / 'out'}"]
    subprocess.run(command, cwd=openshift_api, env=environment, check=False, capture_output=True)
    found: Json = json.loads(file.read_text(encoding="utf-8"))
    assert found["code"] in (0, 1)
    return int(found["cost"])


@pytest.mark.parametrize("command", _CALLS)
def test_calls(openshift_api: Path, tmp_path: Path, command: str) -> None:
    more = () if command.startswith("check") else ("--no-cache",)
    calls = _cost("calls", openshift_api, tmp_path, *command.split(), *more)
    assert calls <= _CALLS[command] * 1000 * _MARGIN, f"{calls:,} calls: see the comment above the numbers"


@pytest.mark.parametrize("command", _CALLS_AGAIN)
def test_calls_of_a_second_run(openshift_api: Path, tmp_path: Path, command: str) -> None:
    _, calls = (_cost(what, openshift_api, tmp_path, *command.split()) for what in ("memory", "calls"))
    assert calls <= _CALLS_AGAIN[command] * 1000 * _MARGIN, f"{calls:,} calls: see the comment above the numbers"


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of the peak of memory is that of Linux")
def test_memory_of_a_matrix(openshift_api: Path, tmp_path: Path) -> None:
    releases = [f"release-4.{minor}" for minor in range(12, 16)]
    memory = _cost("memory", openshift_api, tmp_path, "matrix", *releases)
    assert memory <= _MEMORY * 1024 * _MARGIN, f"{memory / 1024:.0f} MiB: see the comment above the numbers"
