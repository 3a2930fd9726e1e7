"""Install the project without a network, from the wheels that ``make test`` collects."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT / "tests/data"
#: The real data; not every clone has it.
SHARED = PROJECT.parent / "shared"
_WHEELHOUSE = Path(sys.prefix) / "wheelhouse"
_INSTALLED_FROM = (
    "crdcompat",
    "rules",
    "fixtures",
    "pyproject.toml",
    "version_from_git.py",
    "README.md",
    "LICENSE",
    ".pre-commit-hooks.yaml",
)
_OTHERS_SETTINGS = ("CRDCOMPAT_", "GIT_", "PIP_", "PRE_COMMIT", "PYTHON", "VIRTUALENV_", "VIRTUAL_ENV", "XDG_")


def need_wheelhouse() -> None:
    """Skip the test where no wheels were collected; fail it in CI, where every test must run."""
    if any(_WHEELHOUSE.glob("*.whl")):
        return
    reason = "no wheels to install from in this Python environment: `make test` collects them"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def offline_environment(home: Path) -> dict[str, str]:
    """An environment with an empty home, in which pip finds the collected wheels and nothing else."""
    home.mkdir(parents=True)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OTHERS_SETTINGS)}
    return {
        **kept,
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_FIND_LINKS": str(_WHEELHOUSE),
        "PIP_NO_CACHE_DIR": "1",
        "PIP_NO_INDEX": "1",
        "VIRTUALENV_NO_DOWNLOAD": "1",
        "VIRTUALENV_NO_PERIODIC_UPDATE": "1",
    }


def copy_project(to: Path) -> Path:
    """Copy the sources for an installation: with uncommitted changes, without build products."""
    to.mkdir(parents=True)
    for name in _INSTALLED_FROM:
        source = PROJECT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, to / name)
    return to
