"""demo: the built-in releases compared, and the rollback of the built-in recording."""

from __future__ import annotations

from crdcompat.data import data_dir
from crdcompat.jobs import api
from crdcompat.jobs.simulation import simulate
from crdcompat.manifests.crdset import CrdReader
from crdcompat.manifests.objects import read_objects
from crdcompat.report.diff_model import DiffReport
from crdcompat.report.simulation_model import SimulationReport
from crdcompat.sources.files import PathTree


def demo() -> tuple[DiffReport, SimulationReport]:
    """The 4.13 -> 4.14 comparison and the 4.14 -> 4.13 replay, on the fixtures that come with the program."""
    folder = data_dir("fixtures") / "demo"
    reader = CrdReader()
    old, new = (reader.read(PathTree(name, str(folder / name))) for name in ("release-4.13", "release-4.14"))
    return api.diff(old, new), simulate(old, new, read_objects(PathTree("recorded", str(folder / "recorded"))))
