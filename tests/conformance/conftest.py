"""Real API servers for the tests, what the tests keep of real releases, and what the end of a run says of servers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import Recorded, kubeconfig, serving
from differences import Bench
from helpers import PAIRS, Json, diff
from referees import each_minor, pool


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cache of all these tests, in all workers: many compare the same releases, as a user does."""
    top = tmp_path_factory.getbasetemp()
    made = (top.parent if "PYTEST_XDIST_WORKER" in os.environ else top) / "answers"
    made.mkdir(mode=0o700, exist_ok=True)
    return made


@pytest.fixture(autouse=True, scope="module")
def _answers(answers: Path) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(answers))
        yield


@pytest.fixture(autouse=True)
def cache(answers: Path) -> Path:
    """The cache of the user: not one for each test, as elsewhere."""
    return answers


@pytest.fixture(scope="session")
def reports(openshift_api: Path, answers: Path) -> dict[str, Json]:
    """The report of each pair, by its older release."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(answers))
        return {old: diff(f"release-{old}", f"release-{new}", cwd=openshift_api) for old, new in PAIRS}


@pytest.fixture(scope="module", params=each_minor())
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A running API server of one minor."""
    with pool() as servers:
        yield Bench(servers.server(request.param), request.param)


@pytest.fixture
def server(shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorded]:
    """The recorded answers of a real API server on the loopback; the context ``prod`` leads to it."""
    live = shared / "data/live-api"
    if not live.is_dir():
        pytest.skip("no recorded answers")
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(Recorded(live)) as found:
        assert isinstance(found, Recorded)
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(tmp_path / "kubeconfig.yaml", found.server_port)))
        yield found


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which servers were asked, and about what."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    notes = sorted({str(text) for report in reports for name, text in report.user_properties if name == "referee"})
    if notes:
        terminalreporter.section("real API servers")
        for note in notes:
            terminalreporter.write_line(note)
