"""The example of the README, run on the real releases."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from offline import PROJECT


def test_readme_example_is_real(openshift_api: Path) -> None:
    """Cut lines and all: every line shown is printed, in this order."""
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    prompt, *shown = readme.partition("```console\n$ ")[2].partition("\n```")[0].splitlines()
    command = [sys.executable, "-m", *prompt.split(), "--repo", str(openshift_api)]
    printed = iter(subprocess.run(command, cwd=PROJECT, text=True, capture_output=True).stdout.splitlines())
    for line in shown:
        if line not in ("", "[…]"):
            start, cut, _ = line.partition("…")
            assert any(got.startswith(start) if cut else got == line for got in printed), f"not printed: {line}"
