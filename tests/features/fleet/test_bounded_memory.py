"""The memory of a fleet run: it does not grow with the clusters."""

from __future__ import annotations

import tracemalloc
from itertools import count
from pathlib import Path

import pytest
from fleets import cluster_version, gather, plan, releases, uuid, widget
from msgspec.structs import replace

from crdcompat.features.fleet.fleet_judge import FleetJudge, Plan
from crdcompat.features.fleet.fleet_workflow import simulate_fleet
from crdcompat.features.fleet.recording_outcome import Outcome, decode, encode
from crdcompat.features.fleet.recordings import Fleet, Listing
from crdcompat.render.escape import Style
from crdcompat.render.write import write_reports


class Repeating(FleetJudge):
    """A judge that reads the first recording, and answers for the others with its outcome, each another cluster."""

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self._numbers = count()
        self._known: Outcome | None = None

    def __call__(self, path: str) -> bytes:
        self._known = self._known or decode(super().__call__(path))
        return encode(replace(self._known, id=uuid(next(self._numbers))))


def _peak(judge: FleetJudge, recording: Path, clusters: int, folder: Path) -> int:
    """The most bytes that Python has at a time for a run with its reports."""
    names = (str(recording), *(f"{number}.tar.gz" for number in range(1, clusters)))
    tracemalloc.start()
    try:
        report = simulate_fleet(judge, Fleet(Listing(names)))
        write_reports(report, [f"{name}={folder / name}" for name in ("json", "html", "text")], Style(), redact=True)
        assert len(report.clusters) == clusters
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_with_clusters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.sources.files.MAX_FILE_BYTES", 1 << 16)  # a file is read into so large a buffer
    recording = gather(tmp_path / "a.tar.gz", cluster_version(uuid(1)), *(widget(f"w{n}", "A", "D") for n in range(9)))
    judge = Repeating(plan(releases(tmp_path / "crds")))
    _peak(judge, recording, 2, tmp_path)  # modules, templates
    few, many = (_peak(judge, recording, clusters, tmp_path) for clusters in (100, 300))
    # Bytes for each cluster: the filters of the page; 540 where no other test ran before in the process.
    assert (many - few) / 200 < 800
