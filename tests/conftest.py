"""What several test modules share: the real data beside the project, and git without the user's settings."""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import settings
from offline import SHARED
from operations import work as work
from twice import check_twice as check_twice

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")
gc.set_threshold(200_000)  # as in the program, and for the same reason: what is read is large, and lives long

_BUNDLE, _PROJECTS = "data/openshift-api-4.12-4.16.bundle", "data/projects/projects.bundle"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The directory of shared data beside the project."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared beside the project")
    return SHARED


@pytest.fixture(scope="session")
def openshift_api(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of openshift/api, release-4.12 to release-4.16; only release-4.16 is a local branch."""
    bundle = shared / _BUNDLE
    if not bundle.is_file():
        pytest.skip(f"no ../shared/{_BUNDLE}")
    return _cloned(bundle, tmp_path_factory.mktemp("openshift") / "api")


@pytest.fixture(scope="session")
def projects(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of releases of other projects, as tags <project>/<release>."""
    bundle = shared / _PROJECTS
    if not bundle.is_file():
        pytest.skip(f"no ../shared/{_PROJECTS}")
    return _cloned(bundle, tmp_path_factory.mktemp("projects") / "crds", "--bare")


def _cloned(bundle: Path, clone: Path, *options: str) -> Path:
    isolated = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", "clone", "--quiet", *options, str(bundle), str(clone)], env=isolated, check=True)
    return clone


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the client of clusters would have waited: no test waits in real time."""
    seconds: list[float] = []
    monkeypatch.setattr("crdcompat.sources.retrying.pause", seconds.append)
    return seconds


@pytest.fixture(autouse=True, scope="session")
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Nothing is written into the user's cache directory, by what runs before the first test either."""
    made = tmp_path_factory.mktemp("caches")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(made))
        patch.setenv("PIP_NO_COMPILE", "1")  # of what tests install, they import a part
        yield made


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, _caches: Path) -> Path:
    """The user's cache directory: one of its own for each test."""
    made = Path(mkdtemp(dir=_caches))  # pytest's own would list those of all other tests to find a name
    monkeypatch.setenv("XDG_CACHE_HOME", str(made))
    return made


@pytest.fixture(autouse=True)
def _isolated_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the user's git configuration, the repository of a hook, or the CI that runs the tests."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("CI", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI", "PROW_JOB_ID", "PRE_COMMIT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", os.devnull)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "Test")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "test@example.com")
