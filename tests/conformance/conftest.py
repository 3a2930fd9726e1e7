"""Real API servers for the tests, and what the end of a run says of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from differences import Bench
from referees import each_minor, pool


@pytest.fixture(scope="module", params=each_minor())
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """A running API server of one minor."""
    with pool() as servers:
        yield Bench(servers.server(request.param), request.param)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which servers were asked, and about what."""
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    notes = sorted({str(text) for report in reports for name, text in report.user_properties if name == "referee"})
    if notes:
        terminalreporter.section("real API servers")
        for note in notes:
            terminalreporter.write_line(note)
