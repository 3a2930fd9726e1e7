"""demo: compares the built-in releases, and replays the rollback of the built-in recording."""

from __future__ import annotations

from crdcompat.crds.reader import CrdReader
from crdcompat.features.diff import diff_workflow
from crdcompat.features.simulate.simulate_workflow import simulate
from crdcompat.models.diff import DiffReport
from crdcompat.models.simulation import SimulationReport
from crdcompat.package_data import data_dir
from crdcompat.recordings.recorded_objects import read_objects
from crdcompat.sources.files import PathTree


def demo() -> tuple[DiffReport, SimulationReport]:
    """The comparison of 4.13 and 4.14, and the rollback to 4.13, on the fixtures in the package."""
    folder = data_dir("fixtures") / "demo"
    reader = CrdReader()
    old, new = (reader.read(PathTree(name, str(folder / name))) for name in ("release-4.13", "release-4.14"))
    return diff_workflow.diff(old, new), simulate(
        old, new, read_objects(PathTree("recorded", str(folder / "recorded")))
    )
