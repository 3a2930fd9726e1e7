"""CPU and peak memory of a comparison of each bomb of ``tests/support/bombs.py``, as processes of their own.

    python benchmarks/budgets.py [PART OF A NAME…]

A process gets 60 seconds of CPU and 3 GB of addresses. ``limit`` marks what is over the aim of 5 s and 400 MB.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from bombs import BOMBS

#: The aim: seconds of CPU and MB of memory.
_SECONDS, _MEGABYTES = 5.0, 400.0
_MOST_SECONDS, _MOST_BYTES = 60, 3 << 30


class Cost(NamedTuple):
    """What one process cost: its exit code (negative: killed by a signal), seconds of CPU, megabytes at its peak."""

    code: int
    seconds: float
    megabytes: float


def measured(name: str, folder: Path) -> tuple[int, Cost]:
    """The bytes of the larger side of a bomb, and the cost of its comparison."""
    bomb = BOMBS[name]
    sizes = []
    for side, definition in zip(("old", "new"), bomb.make(bomb.size), strict=True):
        (folder / side).mkdir(exist_ok=True)
        sizes.append((folder / side / "crd.json").write_text(json.dumps(definition)))
    with (folder / "report").open("wb") as out:
        command = [sys.executable, "-m", "crdcompat", "diff", "old", "new", "--no-cache", "--format", "json"]
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=subprocess.DEVNULL, preexec_fn=_limited)
        _, status, used = os.wait4(process.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    return max(sizes), Cost(code, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def _limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))


def main(*parts: str) -> int:
    """Print the table; the exit code is 1 if a bomb is over the aim."""
    over = 0
    print(f"{'bomb':28}{'size':>14}{'KB':>8}{'exit':>6}{'CPU s':>8}{'MB':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, bomb in BOMBS.items():
            if parts and not any(part in name for part in parts):
                continue
            size, cost = measured(name, Path(folder))
            bad = cost.seconds > _SECONDS or cost.megabytes > _MEGABYTES or cost.code not in (0, 1, 2)
            over += bad
            shown = (
                f"{name:28}{bomb.size:>14,}{size // 1000:>8,}{cost.code:>6}{cost.seconds:>8.2f}{cost.megabytes:>8.0f}"
            )
            print(f"{shown}{'  limit' if bad else ''}", flush=True)
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
