"""crdcompat: can this release be rolled back? A CRD enum-compatibility and rollback-safety linter.

The Python interface is small: ``load`` a CRD set, ``diff`` two of them, ``simulate`` the rollback on recorded
objects, ``judge`` a single write. The commands are thin over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.version import __version__ as __version__

__all__ = ["CrdSet", "DiffReport", "SimulationReport", "Verdict", "diff", "judge", "load", "simulate"]

if TYPE_CHECKING:
    from crdcompat.apiserver.verdict import Verdict
    from crdcompat.jobs.api import diff, judge, load
    from crdcompat.jobs.simulation import simulate
    from crdcompat.manifests.crdset import CrdSet
    from crdcompat.report.diff_model import DiffReport
    from crdcompat.report.simulation_model import SimulationReport

_HOMES = {
    "load": "crdcompat.jobs.api",
    "diff": "crdcompat.jobs.api",
    "judge": "crdcompat.jobs.api",
    "simulate": "crdcompat.jobs.simulation",
    "CrdSet": "crdcompat.manifests.crdset",
    "DiffReport": "crdcompat.report.diff_model",
    "SimulationReport": "crdcompat.report.simulation_model",
    "Verdict": "crdcompat.apiserver.verdict",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: most commands need few of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
