"""Progress on a terminal: bars with totals on standard error, gone at the end; nothing anywhere else."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
from changes import widget
from fleets import gather
from fleets import widget as recorded
from helpers import both
from rich.console import Console

from crdcompat.cli.progress import Bars, FleetProgress, pace, progress
from crdcompat.vocabulary.steps import listening, step, stepping

#: Runs the program as if a second had passed at once; the last line is whether rich was imported.
_AT_ONCE = """
import sys
from crdcompat.cli import progress
progress._SECONDS_BEFORE = progress._SECONDS_BETWEEN = 0
from crdcompat.__main__ import main
try: main()
finally: print('rich' in sys.modules)
"""


def _on_terminal(cwd: Path, *args: str, kind: str = "xterm") -> tuple[list[str], str]:
    """The lines of standard output, a pipe, and the bytes of standard error, a terminal."""
    ours, theirs = pty.openpty()
    words = [sys.executable, "-c", _AT_ONCE, *args]
    env = {**os.environ, "TERM": kind, "NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(words, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=theirs, text=True, check=False)
    os.close(theirs)
    found = b""
    while part := _part(ours):
        found += part
    os.close(ours)
    return done.stdout.splitlines(), found.decode()


def _screen(codes: str) -> tuple[str, int]:
    """What a terminal shows after these bytes, and the line of the cursor."""
    lines, row = [""], 0
    for code in re.findall(r"\x1b\[[?0-9;]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", codes):
        if code == "\n":
            row += 1
            lines += [""] * (row >= len(lines))
        elif code.endswith("A") and code.startswith("\x1b"):
            row -= int(code[2:-1])
        elif code == "\x1b[2K":
            lines[row] = ""
        elif not code.startswith(("\x1b", "\r")):
            lines[row] += code
    return "".join(lines).strip(), row


def _part(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # Linux: the other end is closed
        return b""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    both(tmp_path, widget("A"), widget("A", "B"))
    gather(tmp_path / "fleet/one.tar.gz", recorded("w", "A"))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "counted"),
    [
        (("diff", "old", "new"), "CRD variants compared"),
        (("matrix", "old", "new"), "Pairs of releases compared"),
        (("simulate", "old", "new", "--objects", "fleet/one.tar.gz", "--kube-version", "1.30"), "Objects replayed"),
        (("simulate", "old", "new", "--fleet", "fleet", "--jobs", "1", "--kube-version", "1.30"), "Recordings judged"),
    ],
)
def test_bars_are_shown_and_leave_nothing(folder: Path, command: tuple[str, ...], counted: str) -> None:
    out, err = _on_terminal(folder, *command)
    assert counted in err and out[-1] == "True"
    if counted != "Objects replayed":
        assert re.search(rf"{counted} .*0 of 1", err), "the total is known"
    assert _screen(err) == ("", 0), "nothing is left, and the cursor is where it was"
    plain, silent = _on_terminal(folder, *command, "--no-progress")
    assert (plain[:-1], plain[-1], silent) == (out[:-1], "False", "")
    assert _on_terminal(folder, *command, "-q")[1] == ""


@pytest.mark.parametrize("kind", ["dumb", "unknown"])
def test_a_terminal_that_cannot_erase_gets_no_bars(folder: Path, kind: str) -> None:
    out, err = _on_terminal(folder, "diff", "old", "new", kind=kind)
    assert (out[-1], err) == ("False", "")


def test_a_pipe_gets_no_bars_and_rich_is_not_imported(folder: Path) -> None:
    words = [sys.executable, "-c", _AT_ONCE, "diff", "old", "new"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout.splitlines()[-1]) == ("", "False")


def test_a_bar_shows_its_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.cli.progress._SECONDS_BEFORE", 0)
    monkeypatch.setattr("crdcompat.cli.progress._SECONDS_BETWEEN", 0)
    bars = Bars()
    for done in range(4):
        bars.count("Recordings judged", done, 4_000)
    assert bars._shown is not None
    console = Console(width=120)
    with console.capture() as captured:
        console.print(bars._shown.get_renderable())
    bars.close()
    assert re.search(r"Recordings judged .* 3 of 4,000 [\d,]+/s, \d+:\d\d:\d\d left", captured.get())


def test_short_work_imports_no_rich(folder: Path) -> None:
    """A second has to pass first."""
    bars = Bars()
    bars.count("x", 1, 2)
    assert bars._shown is None
    bars.close()


def test_steps_are_counted_for_the_listener_inside() -> None:
    found: list[tuple[str, int, int | None]] = []
    with listening(lambda *counted: found.append(counted)):
        assert list(stepping("ab", "letters", 2)) == ["a", "b"]
        assert list(stepping("", "none")) == []
        fleet = FleetProgress(2)
        for outcome in ("read", "failed"):
            fleet.done(outcome)
    step("outside", 1)
    assert found == [
        ("letters", 0, 2), ("letters", 1, 2), ("letters", 2, 2), ("none", 0, 0), ("Recordings judged", 0, 2),
        ("Recordings judged", 1, 2), ("Recordings that could not be read", 1, None), ("Recordings judged", 2, 2),
    ]  # fmt: skip


def test_the_pace_and_the_time_left() -> None:
    assert pace(4.4, 3900) == "4/s, 1:05:00 left"
    assert pace(1234.5, 0.4) == "1,234/s, 0:00:00 left"
    assert pace(0.25, 61) == "15/min, 0:01:01 left"
    assert [pace(None, 3), pace(0, 3), pace(2, None)] == ["", "", "2/s"]


def test_without_a_terminal_nobody_listens(capsys: pytest.CaptureFixture[str]) -> None:
    with progress():
        step("x", 1, 2)
    assert capsys.readouterr().err == ""
