"""How many recorded objects of many clusters are judged in a second, and what memory that takes. See README.md.

python benchmarks/fleet.py                   500 and 50 synthetic must-gathers, then copies of the real one
python benchmarks/fleet.py --clusters 100    fewer
python benchmarks/fleet.py --mixed 1000000   only this: as many objects in front of one release, half of them in
                                             copies of the real must-gather, half of the real insights archive
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import archives

_HERE = Path(__file__).resolve().parent
_SHARED = _HERE.parents[1] / "shared/data"
_BUNDLE = _SHARED / "openshift-api-4.12-4.16.bundle"
_REAL = _SHARED / "recorded/must-gather-4.18.tar.gz"
_INSIGHTS = _SHARED / "recorded/insights-archive-sample.tar.gz"
_CRDCOMPAT = str(Path(sys.executable).parent / "crdcompat")
_TARGETS = ("release-4.15", "release-4.14", "release-4.13", "release-4.12")
_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
_OBJECTS_EACH = 60
_OBJECTS_OF_REAL, _OBJECTS_OF_INSIGHTS = 1320, 168
_CLUSTER_ID = re.compile(rb'"?clusterID"?: "?(?P<id>[0-9a-f-]{36})')


@dataclass(frozen=True, slots=True)
class Took:
    """What one run over a fleet took, and the largest resident memory of the parent, of a worker, of any of them."""

    name: str
    clusters: int
    objects: int
    seconds: float
    cpu_seconds: float
    parent: float
    worker: float
    largest: float


def synthetic(folder: Path, clusters: int) -> Path:
    """Must-gathers of modest size: 60 objects of a real cluster, by other names in each, every one its own cluster."""
    folder.mkdir()
    known = list(archives.objects())
    version = next(item for item in known if "/clusterversions/version" in item[0])
    others = [item for item in known if item is not version]
    for number in range(clusters):
        start = number * 7 % len(others)
        some = [*others[start:], *others[:start]][: _OBJECTS_EACH - 1]
        files = [(version[0], _of_cluster(version[1], number)), *archives.renamed(some, number * _OBJECTS_EACH)]
        archives.write(folder / f"cluster-{number:04}.tar.gz", files)
    return folder


def copies(folder: Path, clusters: int) -> Path:
    """The real must-gather, each copy of another cluster."""
    folder.mkdir()
    _copy(_REAL, folder, range(clusters))
    return folder


def _copy(recording: Path, folder: Path, numbers: range) -> None:
    """Copies of a recording with other ids of the cluster."""
    data = gzip.decompress(recording.read_bytes())
    found = _CLUSTER_ID.search(data)
    assert found is not None
    for number in numbers:
        own = b"00000000-0000-4000-8000-%012d" % number  # as long as any id: the archive stays as it is
        path = folder / f"{recording.name.partition('.')[0]}-{number}.tar.gz"
        path.write_bytes(gzip.compress(data.replace(found["id"], own), compresslevel=1))


def mixed(folder: Path, objects: int) -> Path:
    """As many objects, half of them in must-gathers, half in insights archives; each recording is a cluster."""
    folder.mkdir()
    gathered = objects // 2 // _OBJECTS_OF_REAL
    _copy(_REAL, folder, range(gathered))
    _copy(_INSIGHTS, folder, range(gathered, gathered + objects // 2 // _OBJECTS_OF_INSIGHTS))
    return folder


def _of_cluster(data: bytes, number: int) -> bytes:
    return _CLUSTER_ID.sub(b"clusterID: 00000000-0000-4000-8000-%012d" % number, data)


def measure(name: str, fleet: Path, repo: Path, jobs: int, *, targets: Sequence[str] = _TARGETS) -> Took:
    """Run simulate over a fleet as a process of its own, and look at the memory of it and its workers meanwhile."""
    report = fleet.with_suffix(".json")
    more = [part for target in targets[1:] for part in ("--target", target)]
    command = [_CRDCOMPAT, "simulate", targets[0], "release-4.16", *more, "--fleet", str(fleet)]
    command += ["--jobs", str(jobs), "--repo", str(repo), "--format", f"json={report}"]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    peaks: dict[int, float] = {}
    while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
        for pid in (process.pid, *_children(process.pid)):
            peaks[pid] = max(peaks.get(pid, 0.0), _peak_mib(pid))
        time.sleep(0.02)
    took = time.perf_counter() - start
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        said = report.read_text(encoding="utf-8")[:3000] if report.is_file() else "no report"
        sys.exit(f"{name}: exit code {process.returncode}: {said}")
    summary = json.loads(report.read_text(encoding="utf-8"))["summary"]
    largest = usage.ru_maxrss * _MAXRSS_UNIT / 2**20
    parent = peaks.pop(process.pid, 0.0)
    return Took(
        name, summary["clusters"], summary["objects"], took, usage.ru_utime + usage.ru_stime,
        parent, max(peaks.values(), default=0.0), largest,
    )  # fmt: skip


def _children(pid: int) -> list[int]:
    """The processes that any thread of a process has started."""
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(child) for child in task.read_text().split()]
    return found


def _peak_mib(pid: int) -> float:
    """What Linux says of a process; elsewhere 0."""
    with contextlib.suppress(OSError, ValueError):
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) / 1024 if found else 0.0
    return 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clusters", type=int, default=500, help="synthetic must-gathers (default: 500)")
    parser.add_argument("--copies", type=int, default=8, help="copies of the real must-gather (default: 8)")
    parser.add_argument("--mixed", type=int, metavar="OBJECTS", help="measure only a mixed fleet of as many objects")
    asked = parser.parse_args()
    if not _BUNDLE.is_file() or not _REAL.is_file():
        sys.exit("benchmarks: no ../shared beside the project")
    with tempfile.TemporaryDirectory() as scratch:
        top = Path(scratch)
        subprocess.run(["git", "clone", "--quiet", str(_BUNDLE), str(top / "api")], check=True)
        print(f"{'work':42} {'clock':>9} {'CPU':>9} {'objects/s':>10} {'parent':>8} {'worker':>8} {'largest':>8}")
        if asked.mixed:
            fleet = mixed(top / "mixed", asked.mixed)
            for jobs in (2, 1):
                name = f"{asked.mixed} objects mixed, --jobs {jobs}"
                _print(measure(name, fleet, top / "api", jobs, targets=_TARGETS[:1]))
            return
        few, many = synthetic(top / "few", max(asked.clusters // 10, 1)), synthetic(top / "many", asked.clusters)
        real = copies(top / "real", asked.copies)
        for name, fleet, jobs in (
            (f"{asked.clusters // 10} synthetic, 2 processes", few, 2),
            (f"{asked.clusters} synthetic, 2 processes", many, 2),
            (f"{asked.clusters} synthetic, 1 process", many, 1),
            (f"{asked.copies} real must-gathers, 1 process", real, 1),
            (f"{asked.copies} real must-gathers, 2 processes", real, 2),
        ):
            _print(measure(name, fleet, top / "api", jobs))


def _print(took: Took) -> None:
    print(
        f"{took.name:42} {took.seconds:7.2f} s {took.cpu_seconds:7.2f} s {took.objects / took.seconds:10.0f}"
        f" {took.parent:4.0f} MiB {took.worker:4.0f} MiB {took.largest:4.0f} MiB",
        flush=True,
    )


if __name__ == "__main__":
    main()
