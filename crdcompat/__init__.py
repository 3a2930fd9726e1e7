"""crdcompat: can this release be rolled back? A CRD enum-compatibility and rollback-safety linter.

The Python interface is the eleven functions of ``__all__``; ``docs/api.md`` describes them with examples. The commands
and these functions share their workflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.version import __version__ as __version__

__all__ = [
    "baseline",
    "check",
    "diff",
    "judge",
    "judge_crd",
    "load_crds",
    "load_objects",
    "matrix",
    "simulate",
    "suggest_patch",
    "waive",
]

if TYPE_CHECKING:
    from crdcompat.api import (
        baseline,
        check,
        diff,
        judge,
        judge_crd,
        load_crds,
        load_objects,
        matrix,
        simulate,
        suggest_patch,
        waive,
    )
    from crdcompat.apiserver.admission import Verdict as Verdict
    from crdcompat.crds.reader import CrdSet as CrdSet
    from crdcompat.features.diff.diff_workflow import load as load
    from crdcompat.models.diff import DiffReport as DiffReport
    from crdcompat.models.simulation import SimulationReport as SimulationReport

_HOMES = {
    **dict.fromkeys(__all__, "crdcompat.api"),
    "load": "crdcompat.features.diff.diff_workflow",
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


def __dir__() -> list[str]:
    """The functions of the interface alone."""
    return sorted(__all__)
