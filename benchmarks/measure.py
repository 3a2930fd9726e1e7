"""Time whole processes, as a person or a commit hook waits for them. See README.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import archives

_HERE = Path(__file__).resolve().parent
_BUNDLE = _HERE.parents[1] / "shared/data/openshift-api-4.12-4.16.bundle"
_RESULTS = _HERE / "results.json"
_PYTHON = sys.executable
_CRDCOMPAT = str(Path(sys.executable).parent / "crdcompat")
_BASELINE = "python -c 'import typer'"
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # wait4 counts bytes on macOS, KiB elsewhere


@dataclass(frozen=True, slots=True)
class Work:
    """A command line, the exit codes it may end with, and what its runs took."""

    name: str
    command: tuple[str, ...]
    exit_codes: tuple[int, ...] = (0,)
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak_mib: list[float] = field(default_factory=list)

    def run(self, cwd: Path) -> None:
        """Run it once, to its end, and note what it took."""
        with tempfile.TemporaryFile() as errors:
            start = time.perf_counter()
            process = subprocess.Popen(
                self.command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
            _, status, usage = os.wait4(process.pid, 0)
            took = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode not in self.exit_codes:
                errors.seek(0)
                sys.exit(f"{self.name}: exit code {process.returncode}\n{errors.read().decode(errors='replace')}")
        self.seconds.append(took)
        self.cpu_seconds.append(usage.ru_utime + usage.ru_stime)
        self.peak_mib.append(usage.ru_maxrss * _MAXRSS_UNIT / 2**20)

    def forget(self) -> None:
        """Forget the runs so far."""
        for measured in (self.seconds, self.cpu_seconds, self.peak_mib):
            measured.clear()

    def summary(self, baseline: float) -> dict[str, str | float]:
        """The row of the table; ``baseline`` is the median that the ratio is to."""
        median = statistics.median(self.seconds)
        return {
            "work": self.name,
            "median_s": round(median, 4),
            "min_s": round(min(self.seconds), 4),
            "max_s": round(max(self.seconds), 4),
            "cpu_median_s": round(statistics.median(self.cpu_seconds), 4),
            "ratio": round(median / baseline, 2),
            "peak_mib": round(max(self.peak_mib), 1),
        }


_DIFF = (_CRDCOMPAT, "diff")
_SIMULATE = (_CRDCOMPAT, "simulate", "release-4.13", "release-4.16", "--objects")


def works(recordings: dict[str, Path]) -> tuple[Work, ...]:
    """Everything that is measured; ``recordings`` are those of ``archives.make``."""
    parse = (_PYTHON, str(_HERE / "archives.py"), "--parse")
    limits = [Work(f"parse 2,000 objects, {name}", (*parse, str(path))) for name, path in recordings.items()]
    replays = [
        Work(f"simulate 2,000 objects, {name}", (*_SIMULATE, str(path)), (1,)) for name, path in recordings.items()
    ]
    return (
        Work("python -c pass", (_PYTHON, "-c", "pass")),
        Work(_BASELINE, (_PYTHON, "-c", "import typer")),
        Work("crdcompat --version", (_CRDCOMPAT, "--version")),
        Work("crdcompat check (nothing staged)", (_CRDCOMPAT, "check")),
        Work("crdcompat diff release-4.13 release-4.14", (*_DIFF, "release-4.13", "release-4.14"), (0, 1)),
        Work("crdcompat diff release-4.15 release-4.16", (*_DIFF, "release-4.15", "release-4.16"), (0, 1)),
        Work("crdcompat matrix release-4.12 to 4.16", (_CRDCOMPAT, "matrix", "--branches", "release-4.1*"), (1,)),
        *limits,
        *replays,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=11, help="measured runs of each work (default: 11)")
    runs = parser.parse_args().runs
    if runs < 1:
        parser.error("--runs must be at least 1")
    if not _BUNDLE.is_file():
        sys.exit(f"benchmarks: no ../shared/{_BUNDLE.relative_to(_HERE.parents[1] / 'shared')} beside the project")
    with tempfile.TemporaryDirectory() as scratch:
        clone = Path(scratch) / "api"
        subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), str(clone)], check=True)
        measured = works(archives.make(Path(scratch)))
        for round_number in range(runs + 1):  # works take turns, so that a busy minute hits all of them
            for work in measured:
                work.run(clone)
                if round_number == 0:  # the first run fills the system's file cache and compiles Python's modules
                    work.forget()
    baseline = next(statistics.median(work.seconds) for work in measured if work.name == _BASELINE)
    rows = [work.summary(baseline) for work in measured]
    _print(rows, runs)
    machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
    _RESULTS.write_text(json.dumps({"runs": runs, "machine": machine, "results": rows}, indent=2) + "\n", "utf-8")


def _print(rows: list[dict[str, str | float]], runs: int) -> None:
    print(f"Whole processes, {runs} runs each, Python {platform.python_version()}")
    print(f"{'work':42} {'median':>8} {'min–max':>17} {'ratio':>6} {'CPU':>8} {'peak':>8}")
    for row in rows:
        spread = f"{row['min_s']:.3f}–{row['max_s']:.3f} s"
        print(
            f"{row['work']:42} {row['median_s']:6.3f} s {spread:>17} {row['ratio']:6.1f} {row['cpu_median_s']:6.3f} s"
            f" {row['peak_mib']:4.0f} MiB"
        )


if __name__ == "__main__":
    main()
