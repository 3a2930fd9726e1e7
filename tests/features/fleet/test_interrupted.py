"""A fleet whose run is killed at random moments, and goes on from its journal: the report is that of one whole run.

Each kill has its own moment: after a random number of journal lines, and a random short time. The lines are the same in
every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) kills 50 runs.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fleets import MODES, gather, releases, widget
from helpers import run

KILLS = int(os.environ.get("CRDCOMPAT_FUZZ", "400")) // 400
_RECORDINGS = 24


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The arguments of a run over a fleet."""
    folder = tmp_path_factory.mktemp("fleet")
    crds = releases(folder / "crds")
    for number in range(_RECORDINGS):
        modes = "AB" if number % 3 else "A"
        gather(
            folder / f"fleet/{number:02}.tar.gz", *(widget(f"w{item}", modes[item % len(modes)]) for item in range(40))
        )
    old, *targets, new = (f"path:{crds[name]}" for name in MODES)
    named = [part for target in targets for part in ("--target", target)]
    return ["simulate", old, new, *named, "--fleet", str(folder / "fleet"), "--format", "json"]


@pytest.fixture(scope="module")
def whole(command: list[str]) -> str:
    return run(*command, "--jobs", "1").out


def _killed(command: list[str], journal: Path, lines: int, delay: float) -> None:
    """Start a run, and kill all its processes some time after the journal has that many lines."""
    started = [sys.executable, "-m", "crdcompat", *command, "--resume", str(journal)]
    process = subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < lines):
        time.sleep(0.001)
    time.sleep(delay)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.mark.parametrize("number", range(KILLS))
def test_a_killed_run_goes_on(command: list[str], whole: str, tmp_path: Path, number: int) -> None:
    moments, journal = random.Random(number), tmp_path / "journal"
    jobs = ("--jobs", str(1 + number % 2))
    for _ in range(1 + number % 3):
        _killed([*command, *jobs], journal, moments.randrange(_RECORDINGS), moments.random() / 20)
    resumed = run(*command, *jobs, "--resume", journal)
    assert resumed.out == whole
    assert journal.read_bytes().count(b"\n") == 1 + _RECORDINGS
