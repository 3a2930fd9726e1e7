"""A real recording of a cluster, rolled back to every release, and held against its own CRDs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from helpers import RELEASES, WRITES

import crdcompat
from crdcompat.apiserver.server_versions import Server
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import Problem
from crdcompat.models.simulation import SimulationReport
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.sources import open_objects

VERDICTS = {"accepted", "rejected", "loses-data", "unknown"}


@pytest.fixture(scope="module")
def must_gather(shared: Path) -> Path:
    path = shared / "data/recorded/must-gather-4.18.tar.gz"
    if not path.is_file():
        pytest.skip(f"no {path.name} in ../shared")
    return path


@pytest.fixture(scope="module")
def objects(must_gather: Path) -> list[Recorded]:
    found = list(read_objects(open_objects(str(must_gather))))
    assert not [item for item in found if isinstance(item, Problem)]
    return [item for item in found if isinstance(item, Recorded)]


@pytest.fixture(scope="module")
def own(must_gather: Path) -> CrdSet:
    """The CRDs that the recording itself holds."""
    found = crdcompat.load(f"recording:{must_gather}")
    assert not found.problems
    assert len(found.documents) > 100
    return found


def _few(objects: Iterable[Recorded], most: int = 8) -> Iterator[Recorded]:
    """Of each kind a few, as recorded: some kinds have hundreds of large objects."""
    seen: Counter[str] = Counter()
    for item in objects:
        kind = item.data.get("kind", "") if isinstance(item.data, dict) else ""
        seen[kind] += 1
        if seen[kind] <= most:
            yield item


def _reported(report: SimulationReport, asked: int) -> Counter[str]:
    """The report's verdicts, each of which must say why."""
    counts: Counter[str] = Counter()
    for item in report.objects:
        assert set(item.writes) == {*WRITES}, item.name
        for name, write in item.writes.items():
            where = (item.crd, item.name, name)
            assert write.verdict in VERDICTS, where
            counts[write.verdict] += 1
            if write.verdict == "rejected":
                assert write.errors or write.message, where
                assert write.message, where
            if write.verdict == "unknown":
                assert write.note, where
            if write.verdict == "loses-data":
                assert item.pruned, where
            if write.verdict == "accepted":
                assert not item.pruned and not write.errors, where
        assert item.repair.verdict in ("not-needed", "main", "status", "deadlock", "unknown")
    for missed in report.not_simulated:
        assert missed.reason
    # The same object in two places of the recording counts once.
    assert len(report.objects) + len(report.not_simulated) <= asked
    return counts


#: Release -> whether its server rejects status writes of the ClusterVersion, whose capabilities are those of 4.18.
_CAPABILITIES = {"4.12": True, "4.13": True, "4.14": True, "4.15": True, "4.16": False}


@pytest.mark.parametrize("release", RELEASES)
def test_rolled_back_to(objects: list[Recorded], own: CrdSet, openshift_api: Path, release: str) -> None:
    old = crdcompat.load(f"origin/release-{release}", repo=str(openshift_api))
    asked = list(_few(objects))
    report = crdcompat.simulate(old, own, asked)
    counts = _reported(report, len(asked))
    assert counts["accepted"] > 500
    assert counts["loses-data"] > 0
    assert counts["unknown"] == 0
    (version,) = (item for item in report.objects if item.crd == "clusterversions.config.openshift.io")
    rejected = version.writes["status-update"].verdict == "rejected"
    assert rejected is _CAPABILITIES[release]
    assert (counts["rejected"] > 0) is _CAPABILITIES[release]
    # Nothing else of this cluster is in the way.
    others = [item.crd for item in report.objects if any(w.verdict == "rejected" for w in item.writes.values())]
    assert others == ["clusterversions.config.openshift.io"] * _CAPABILITIES[release]


def test_every_object_rolled_back_to_4_13(objects: list[Recorded], own: CrdSet, openshift_api: Path) -> None:
    """All of the recording, not a few of each kind."""
    old = crdcompat.load("origin/release-4.13", repo=str(openshift_api))
    report = crdcompat.simulate(old, own, objects)
    counts = _reported(report, len(objects))
    assert len(report.objects) >= 333
    assert sum(counts.values()) == len(report.objects) * len(WRITES)
    reasons = Counter(item.reason.partition(":")[0] for item in report.not_simulated)
    assert reasons["its CRD is in neither release"] > 700  # core objects: pods, config maps, …


@pytest.mark.parametrize("server", [Server(31, (4, 18)), Server(26)], ids=str)
def test_under_its_own_crds_nothing_is_rejected(objects: list[Recorded], own: CrdSet, server: Server) -> None:
    """The cluster stored these objects under these CRDs: whoever rejects or prunes one of them is wrong."""
    asked = objects if server.openshift else list(_few(objects))
    report = crdcompat.simulate(own, own, asked, server=server)
    counts = _reported(report, len(asked))
    assert counts.keys() == {"accepted"}
    assert not [item.name for item in report.objects if item.pruned or item.repair.verdict != "not-needed"]
    assert len(report.objects) >= (515 if server.openshift else 140)
