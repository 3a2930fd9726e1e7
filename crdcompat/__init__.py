"""crdcompat: can this release be rolled back? A CRD enum-compatibility and rollback-safety linter.

The Python interface is small: ``load`` a CRD set, ``diff`` two of them, ``simulate`` the rollback on recorded
objects, ``judge`` a single write. The commands are thin over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.version import __version__ as __version__

__all__ = ["CrdSet", "DiffReport", "SimulationReport", "Verdict", "diff", "judge", "load", "simulate"]

if TYPE_CHECKING:
    from crdcompat.apiserver.admission import Verdict
    from crdcompat.crds.reader import CrdSet
    from crdcompat.features.diff.workflow import diff, judge, load
    from crdcompat.features.simulate.workflow import simulate
    from crdcompat.models.diff import DiffReport
    from crdcompat.models.simulation import SimulationReport

_HOMES = {
    "load": "crdcompat.features.diff.workflow",
    "diff": "crdcompat.features.diff.workflow",
    "judge": "crdcompat.features.diff.workflow",
    "simulate": "crdcompat.features.simulate.workflow",
    "CrdSet": "crdcompat.crds.reader",
    "DiffReport": "crdcompat.models.diff",
    "SimulationReport": "crdcompat.models.simulation",
    "Verdict": "crdcompat.apiserver.admission",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: most commands need few of them."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
