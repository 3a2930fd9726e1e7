"""A real recording as one of a fleet."""

from __future__ import annotations

from pathlib import Path

import pytest

from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.recorded_objects import Recorded, read_objects
from crdcompat.sources import open_objects


def test_an_insights_archive_names_its_cluster(shared: Path) -> None:
    path = shared / "data/recorded/insights-archive-sample.tar.gz"
    if not path.is_file():
        pytest.skip("no insights archive")
    facts = ClusterFacts()
    for item in read_objects(open_objects(str(path))):
        if isinstance(item, Recorded):
            facts.add(item)
    assert (facts.id, facts.version) == ("84ef291d-8f1b-4d28-ab34-cfddff941b84", "4.7.16")
