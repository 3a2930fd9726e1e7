"""The programs in benchmarks/ that reach into the package: each still finds there what it measures."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

_BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.mark.usefixtures("shared")  # the bundle beside the project
def test_the_table_of_facets_counts_what_is_proved() -> None:
    command = [sys.executable, str(_BENCHMARKS / "facets.py"), "release-4.12", "release-4.13"]
    table = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    rows = {row.split()[0]: int(row.split()[-1]) for row in table.splitlines()[2:]}
    assert rows["enum"] > 0
    assert rows["property"] > 0


def test_the_fitted_exponent_does_not_depend_on_a_slow_first_run() -> None:
    exponent = _module("growth").exponent
    sizes = (1, 100, 1_000, 10_000)
    linear = [0.2, 0.23, 0.5, 3.2]
    assert exponent(sizes, linear) == pytest.approx(1.0, abs=0.05)
    assert exponent(sizes, [0.35, *linear[1:]]) < 1.25
    assert exponent(sizes, [0.2, 0.2, 0.5, 30.0]) == pytest.approx(2.0, abs=0.05)


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, _BENCHMARKS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # its frozen values look up their own module
    spec.loader.exec_module(module)
    return module
