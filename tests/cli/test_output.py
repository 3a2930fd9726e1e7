"""Standard output that cannot take the report: full, closed, or of a locale without its characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from changes import widget
from helpers import both, spawn

PROGRAM = Path(sys.executable).with_name("crdcompat")


def _shell(command: str) -> tuple[int, str]:
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk_is_no_crash(tmp_path: Path, form: str) -> None:
    old, new = both(tmp_path, widget("A"), widget("A", "B"))
    code, err = _shell(f"{PROGRAM} diff {old} {new} --format {form} >/dev/full")
    assert (code, err) == (2, "crdcompat: standard output cannot be written: No space left on device\n")


def test_closed_output_keeps_the_exit_code(tmp_path: Path) -> None:
    old, new = both(tmp_path, widget("A"), widget("A", "B"))
    assert _shell(f"{PROGRAM} diff {old} {new} >&-") == (1, "")
    assert _shell(f"{PROGRAM} diff {old} {new} >/dev/null 2>&-")[0] == 1


@pytest.mark.parametrize(
    "command", [["--help"], ["diff", "--help"], ["rules"], ["explain", "enum-value-added"], ["demo"]]
)
def test_any_locale(command: list[str]) -> None:
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PATH": os.environ["PATH"]}
    ran = spawn(*command, env=plain)
    assert (ran.code, ran.err) == (spawn(*command, env={**plain, "PYTHONUTF8": "1"}).code, "")
    assert ran.out


def test_a_report_in_a_file_is_named_and_makes_no_folder(tmp_path: Path) -> None:
    old, new = both(tmp_path, widget("A"), widget("A", "B"))
    ran = spawn("diff", old, new, "--format", f"json={tmp_path / 'report.json'}")
    assert (ran.code, ran.out, ran.err) == (1, "", f"crdcompat: wrote {tmp_path / 'report.json'}\n")
    missing = tmp_path / "none/report.json"
    ran = spawn("diff", old, new, "--format", f"json={missing}")
    assert (ran.code, ran.err) == (2, f"crdcompat: cannot write {missing}: No such file or directory\n")
    assert not missing.parent.exists()


def test_a_report_can_go_to_a_pipe(tmp_path: Path) -> None:
    old, new = both(tmp_path, widget("A"), widget("A", "B"))
    assert '"enum-value-added"' in spawn("diff", old, new, "--format", "json=/dev/stdout").out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_messages_that_nobody_can_read_keep_the_exit_code(tmp_path: Path) -> None:
    """Python's own exit code for them is 1, which reads as findings."""
    old, new = both(tmp_path, widget("A"), widget("A", "B"))
    assert _shell(f"{PROGRAM} diff {old} {new} >/dev/full 2>/dev/full")[0] == 2
    assert _shell(f"{PROGRAM} diff {old} {tmp_path / 'none'} 2>/dev/full")[0] == 2
    assert _shell(f"{PROGRAM} nonsense 2>/dev/full")[0] == 2
    assert _shell(f"{PROGRAM} diff {old} {new} --format json={tmp_path / 'report.json'} 2>/dev/full")[0] == 1


def test_output_that_may_not_grow_is_no_crash(tmp_path: Path) -> None:
    old, new = both(tmp_path, widget("A"), widget("A", "B"))
    code, err = _shell(f"ulimit -f 0; {PROGRAM} diff {old} {new} >{tmp_path / 'out'}")
    assert (code, err) == (2, "crdcompat: standard output cannot be written: File too large\n")
