"""Time whole processes, as a person or a commit hook waits for them, each beside a baseline program. See README.md."""

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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import archives
import trees

_HERE = Path(__file__).resolve().parent
_BUNDLE = _HERE.parents[1] / "shared/data/openshift-api-4.12-4.16.bundle"
_RESULTS = _HERE / "results.json"
_PYTHON = sys.executable
_CRDCOMPAT = str(Path(sys.executable).parent / "crdcompat")
_LIMITS = (_PYTHON, str(_HERE / "limits.py"))
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024  # wait4 counts bytes on macOS, KiB elsewhere
_GROWTH = (1, 4, 16)
#: Typer as pip installs it today, made by the Makefile; the program itself is held to a lighter one.
_TODAY = Path(sys.prefix) / "typer-of-today"
#: Python keeps what it compiled, as it does for a user: compiling anew each time would be most of the time.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@dataclass(frozen=True, slots=True)
class Work:
    """A command line, where it runs, the exit codes it may end with, and what its runs took.

    ``baseline`` is the program that the ratio is to, ``aim`` the most that the ratio should be, ``peak_aim`` the most
    memory, in MiB. ``modules``: a folder whose modules go before those installed.
    """

    name: str
    command: tuple[str, ...]
    at: Path
    exit_codes: tuple[int, ...] = (0,)
    baseline: Work | None = None
    aim: float | None = None
    peak_aim: float | None = None
    modules: Path | None = None
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak_mib: list[float] = field(default_factory=list)

    def run(self) -> None:
        """Run it once, to its end, and note what it took."""
        with tempfile.TemporaryFile() as errors:
            start = time.perf_counter()
            process = subprocess.Popen(
                self.command,
                cwd=self.at,
                env={**_ENVIRONMENT, **({"PYTHONPATH": str(self.modules)} if self.modules else {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
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

    def ratios(self) -> tuple[float | None, float | None]:
        """The median, over the rounds, of its time to the baseline's in the same round: by the clock, and of CPU."""
        if self.baseline is None:
            return None, None
        pairs = (self.seconds, self.baseline.seconds), (self.cpu_seconds, self.baseline.cpu_seconds)
        by_clock, of_cpu = (statistics.median(mine / its for mine, its in zip(*both, strict=True)) for both in pairs)
        return round(by_clock, 2), round(of_cpu, 2)

    def summary(self) -> dict[str, str | float | None]:
        """The row of the table."""
        ratio, cpu_ratio = self.ratios()
        return {
            "work": self.name,
            "median_s": round(statistics.median(self.seconds), 4),
            "min_s": round(min(self.seconds), 4),
            "max_s": round(max(self.seconds), 4),
            "cpu_median_s": round(statistics.median(self.cpu_seconds), 4),
            "baseline": self.baseline.name if self.baseline is not None else None,
            "ratio": ratio,
            "cpu_ratio": cpu_ratio,
            "aim": self.aim,
            "peak_mib": round(max(self.peak_mib), 1),
            "peak_aim_mib": self.peak_aim,
        }


def works(api: Path, grown: dict[int, Path], recordings: dict[str, Path]) -> Iterator[Work]:
    """Everything that is measured, each baseline before what is measured against it."""
    yield Work("python -c pass", (_PYTHON, "-c", "pass"), api)
    yield (version := Work("limit: a Typer app, --version", (*_LIMITS, "app", "--version"), api))
    yield (help_ := Work("limit: a Typer app, --help", (*_LIMITS, "app", "--help"), api))
    yield Work("--version", (_CRDCOMPAT, "--version"), api, baseline=version, aim=1.3)
    yield Work("--help", (_CRDCOMPAT, "--help"), api, baseline=help_, aim=1.3)
    yield Work("check, no CRD changed", (_CRDCOMPAT, "check"), api, baseline=version, aim=1.5)
    yield from _diffs(api)
    yield Work("matrix 4.12 to 4.16", (_CRDCOMPAT, "matrix", "--branches", "release-4.1*"), api, (1,), version)
    yield from _growth(grown, version)
    for name, path in recordings.items():
        yield (limit := Work(f"limit: 2,000 objects, {name}", (*_LIMITS, "listing", str(path)), api))
        command = (_CRDCOMPAT, "simulate", "release-4.13", "release-4.16", "--objects", str(path))
        yield Work(f"simulate 2,000 objects, {name}", command, api, (1,), limit, 2 if name == "mixed" else None)


def _diffs(api: Path) -> Iterator[Work]:
    for old, new, most in (("4.13", "4.14", None), ("4.15", "4.16", 120)):
        refs = (f"release-{old}", f"release-{new}")
        yield (limit := Work(f"limit: diff {old} {new}", (*_LIMITS, "diff", *(f"origin/{ref}" for ref in refs)), api))
        for form, how in (("text", ()), ("json", ()), ("json", ("--no-cache",))):
            name = f"diff {old} {new}, {form}" + ", nothing kept" * bool(how)
            command = (_CRDCOMPAT, "diff", *refs, "--format", form, *how)
            yield Work(name, command, api, (0, 1), limit, 2 if how else 1.5, most)


def _growth(grown: dict[int, Path], app: Work) -> Iterator[Work]:
    """One change in a tree and in growing ones, then a growing change; the limit lists both sides and reads the change.

    In the tree of four times release-4.16 the aim is held against what Typer is today, on both sides.
    """
    command = (_CRDCOMPAT, "check", "--base", "base")
    for copies, tree in grown.items():
        if copies == 4:
            yield Work("check, 1 CRD in 40 MB", command, tree, (0, 1), app)
            if _TODAY.is_dir():
                yield (today := Work("limit: an app, today's Typer", app.command, tree, modules=_TODAY))
                name = "check, 1 CRD in 40 MB, today's Typer"
                yield Work(name, command, tree, (0, 1), today, 2.5, modules=_TODAY)
        yield (limit := Work(f"limit: read 1 CRD in {copies}×", (*_LIMITS, "diff", "base", "one"), tree))
        yield Work(f"check, 1 CRD in {copies}×", command, tree, (0, 1), limit)
        yield Work(f"check, 1 CRD in {copies}×, nothing known", (*command, "--no-cache"), tree, (0, 1), limit)
    tree = grown[_GROWTH[0]]
    for branch, what in (("one", "1 CRD"), ("many", "64 CRDs")):
        yield (limit := Work(f"limit: read {what} changed", (*_LIMITS, "diff", "base", branch), tree))
        yield Work(f"check, {what} changed", (*command, "--head", branch), tree, (0, 1), limit)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each work (default: 5)")
    parser.add_argument("--only", default="", help="only works with this in their name, and their baselines")
    options = parser.parse_args()
    if options.runs < 1:
        parser.error("--runs must be at least 1")
    if not _BUNDLE.is_file():
        sys.exit(f"benchmarks: no ../shared/{_BUNDLE.relative_to(_HERE.parents[1] / 'shared')} beside the project")
    with tempfile.TemporaryDirectory() as scratch:
        _ENVIRONMENT["XDG_CACHE_HOME"] = str(Path(scratch) / "cache")
        print("Making trees and recordings…", file=sys.stderr)
        api = Path(scratch) / "api"
        subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), str(api)], check=True)
        trees.settle(api)
        grown = {copies: Path(scratch) / f"tree-{copies}" for copies in _GROWTH}
        recordings = {name: Path(scratch) / f"{name}.tar.gz" for name in archives.NAMES}
        everything = list(works(api, grown, recordings))
        chosen = {id(work) for work in everything if options.only in work.name}
        chosen |= {id(work.baseline) for work in everything if id(work) in chosen and work.baseline is not None}
        measured = [work for work in everything if id(work) in chosen]
        for copies, tree in grown.items():
            if any(work.at == tree for work in measured):
                trees.make(tree, copies)
        if any(str(path) in work.command for path in recordings.values() for work in measured):
            archives.make(Path(scratch))
        for round_number in range(options.runs + 1):  # works take turns, so that a busy minute hits all of them
            for work in measured:
                work.run()
                if round_number == 0:  # the first run fills the system's file cache and compiles Python's modules
                    work.forget()
    rows = [work.summary() for work in measured]
    _print(rows, options.runs)
    machine = {"python": platform.python_version(), "system": platform.platform(), "cpus": os.cpu_count()}
    _RESULTS.write_text(
        json.dumps({"runs": options.runs, "machine": machine, "results": rows}, indent=2) + "\n", "utf-8"
    )


def _print(rows: list[dict[str, str | float | None]], runs: int) -> None:
    print(f"Whole processes, {runs} runs each, Python {platform.python_version()}")
    print(f"{'work':42} {'median':>8} {'min–max':>17} {'ratio':>6} {'CPU':>6} {'aim':>5} {'CPU':>8} {'peak':>8}  to")
    for row in rows:
        spread = f"{row['min_s']:.3f}–{row['max_s']:.3f} s"
        shown = (f"{row[key]:.2f}" if row[key] is not None else "" for key in ("ratio", "cpu_ratio", "aim"))
        ratio, cpu_ratio, aim = shown
        print(
            f"{row['work']:42} {row['median_s']:6.3f} s {spread:>17} {ratio:>6} {cpu_ratio:>6} {aim:>5}"
            f" {row['cpu_median_s']:6.3f} s {row['peak_mib']:4.0f} MiB  {row['baseline'] or ''}"
        )


if __name__ == "__main__":
    main()
