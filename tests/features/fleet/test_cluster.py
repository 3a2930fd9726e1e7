"""The workers of a Dask cluster judge a fleet: nothing is lost, nothing counts twice, and the report is the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from fleets import MODES, Deadly, cluster_version, gather, one_of_each, plan, releases, uuid, widget
from helpers import run, spawn

from crdcompat.errors import SourceError, UsageError
from crdcompat.features.fleet.cluster import judged_by_cluster
from crdcompat.features.fleet.connection import local_cluster
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.judge import FleetJudge
from crdcompat.features.fleet.judged import Done
from crdcompat.features.fleet.recordings import find_fleet
from crdcompat.features.fleet.workers import Workers, workers_for
from crdcompat.features.fleet.workflow import simulate_fleet
from crdcompat.models.fleet import FleetReport, UnreadRecording

ENDS = "it ended each process that read it (out of memory?)"


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a scheduler with two workers."""
    with local_cluster(2, is_secure=False) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def crds(tmp_path: Path) -> dict[str, Path]:
    return releases(tmp_path / "crds")


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    return one_of_each(tmp_path / "fleet")


def _simulated(
    judge: FleetJudge,
    fleet: Path,
    scheduler: str | None = None,
    journal: Journal | None = None,
    on_done: Callable[[Done], object] | None = None,
    seconds: float | None = None,
) -> FleetReport:
    found = find_fleet([str(fleet)])
    return simulate_fleet(judge, found, workers=Workers(1, scheduler, seconds), journal=journal, on_done=on_done)


def test_the_same_bytes_from_any_workers(crds: dict[str, Path], fleet: Path, scheduler: str) -> None:
    """One process, two processes of this machine, and a scheduler's workers; some recordings cannot be read."""
    _broken(fleet)
    old, *targets, new = (f"path:{crds[name]}" for name in MODES)
    named = [part for target in targets for part in ("--target", target)]
    args = ["simulate", old, new, *named, "--fleet", str(fleet), "--format", "json"]
    alone = run(*args, "--jobs", "1")
    assert alone.code == 2
    assert {Path(item["recording"]).name for item in alone.report["unread"]} == {"0-empty.tar.gz", "z-bomb.yaml"}
    here = spawn(*args, "--jobs", "2")
    assert (here.code, here.out, here.err) == (2, alone.out, "")
    elsewhere = run(*args, "--scheduler", scheduler)
    assert elsewhere.out == alone.out
    assert re.fullmatch(r"crdcompat: Dask's dashboard: http://127\.0\.0\.1:\d+/status\n", elsewhere.err)


def test_the_same_bytes_from_eight_workers(crds: dict[str, Path], tmp_path: Path) -> None:
    """Eight workers, which are threads of this process, end in any order; one cluster has several recordings."""
    fleet = _many(tmp_path / "many")
    for number in (7, 3, 21):
        gather(fleet / f"{number:02}.tar.gz", widget(f"w{number}", "D", "C"), cluster_version(uuid(1)))
    with LocalCluster(n_workers=8, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
        elsewhere = _simulated(FleetJudge(plan(crds)), fleet, cluster.scheduler_address)
    alone = _simulated(FleetJudge(plan(crds)), fleet)
    assert len(alone.clusters) == 28
    assert elsewhere == alone


def _broken(fleet: Path) -> None:
    """Add an empty archive, and a file of a few lines that expand to a million values."""
    (fleet / "0-empty.tar.gz").touch()
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 7)]
    (fleet / "z-bomb.yaml").write_text("\n".join(lines))


def test_what_ends_or_holds_a_worker_is_named(crds: dict[str, Path], fleet: Path, scheduler: str) -> None:
    expected = _simulated(FleetJudge(plan(crds)), fleet)
    for name in ("a-killed", "b-exits", "c-endless", "z-killed"):
        gather(fleet / f"{name}.tar.gz", widget("w", "A"))
    report = _simulated(Deadly(plan(crds)), fleet, scheduler, seconds=2)
    assert report.unread == (
        UnreadRecording(str(fleet / "a-killed.tar.gz"), ENDS),
        UnreadRecording(str(fleet / "b-exits.tar.gz"), ENDS),
        UnreadRecording(str(fleet / "c-endless.tar.gz"), "it took longer than 2 s twice"),
        UnreadRecording(str(fleet / "z-killed.tar.gz"), ENDS),
    )
    assert report.clusters == expected.clusters
    assert report.findings == expected.findings


def test_a_worker_killed_from_outside_changes_nothing(crds: dict[str, Path], tmp_path: Path, scheduler: str) -> None:
    fleet = _many(tmp_path / "many")
    judge = FleetJudge(plan(crds))
    numbers = count(1)

    def kill_one(_: Done) -> None:
        if next(numbers) == 3:
            with Client(scheduler) as client:
                os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    report = _simulated(judge, fleet, scheduler, on_done=kill_one)
    assert report == _simulated(judge, fleet)
    assert next(numbers) == 31  # each recording was answered once


def _many(fleet: Path) -> Path:
    for number in range(30):
        gather(fleet / f"{number:02}.tar.gz", widget("w", "A", "C"))
    return fleet


def test_few_recordings_are_with_the_scheduler_at_a_time(crds: dict[str, Path], fleet: Path, scheduler: str) -> None:
    asked = 0

    def names() -> Iterator[str]:
        nonlocal asked
        for _ in range(1000):
            asked += 1
            yield str(fleet / "a-clean.tar.gz")

    answers = judged_by_cluster(FleetJudge(plan(crds)), names(), Workers(1, scheduler))
    answered = [next(answers) for _ in range(20)]
    assert len(answered) == 20
    assert asked <= 20 + 16 * 8  # 16 tasks of at most eight recordings
    answers.close()


@pytest.mark.parametrize("seconds", [-1.0, 60.0])
def test_recordings_that_a_task_has_no_time_for_are_judged_by_others(
    crds: dict[str, Path], tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Without time a task judges one recording, with much time all of its own."""
    monkeypatch.setattr("crdcompat.features.fleet.cluster._TASK_SECONDS", seconds)
    fleet, judge = _many(tmp_path / "many"), FleetJudge(plan(crds))
    numbers = count(1)
    report = _simulated(judge, fleet, scheduler, on_done=lambda _: next(numbers))
    assert report == _simulated(judge, fleet)
    assert next(numbers) == 31  # each recording was answered once


def test_a_worker_with_other_releases_does_not_judge(
    crds: dict[str, Path], fleet: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = FleetJudge(plan(crds))
    monkeypatch.setattr("crdcompat.features.fleet.cluster._digest", lambda _: "of other releases")
    with pytest.raises(SourceError, match="cannot judge: its releases or its crdcompat are not those of this machine"):
        _simulated(judge, fleet, scheduler)


def test_a_worker_without_the_releases_does_not_judge(crds: dict[str, Path], fleet: Path, scheduler: str) -> None:
    judge = FleetJudge(plan(crds))
    crds["release-4.14"].rename(crds["release-4.14"].with_name("elsewhere"))
    with pytest.raises(SourceError, match=r"cannot judge: .*release-4.14: no such file or directory"):
        _simulated(judge, fleet, scheduler)


def test_a_run_goes_on_after_its_scheduler_died(
    crds: dict[str, Path], tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, journal = _many(tmp_path / "many"), str(tmp_path / "journal")
    judge = FleetJudge(plan(crds))
    numbers = count(1)
    with local_cluster(1, is_secure=False) as mortal:

        def end(_: Done) -> None:
            if next(numbers) == 5:
                mortal.close()

        monkeypatch.setattr("crdcompat.features.fleet.connection.CONNECT_SECONDS", 0.5)
        with (
            Journal(journal, judge.fingerprint(), 3) as opened,
            pytest.raises(SourceError, match=f"{mortal.scheduler_address} was lost"),
        ):
            _simulated(judge, fleet, mortal.scheduler_address, opened, end)
    done: list[str] = []
    with Journal(journal, judge.fingerprint(), 3) as opened:
        report = _simulated(judge, fleet, scheduler, opened, lambda each: done.append(each.outcome))
    assert 5 <= done.count("known") < 30
    assert done.count("read") == 30 - done.count("known")
    assert report == _simulated(judge, fleet)


@pytest.mark.parametrize("name", ["tcp://127.0.0.1:1", "nothing.json", "broken.json", "nowhere"])
def test_no_scheduler(
    crds: dict[str, Path], fleet: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crdcompat.features.fleet.connection.CONNECT_SECONDS", 0.5)
    (tmp_path / "broken.json").write_text("{")
    path = name if "://" in name else str(tmp_path / name)
    with pytest.raises(UsageError, match=f"--scheduler {path}: "):
        _simulated(FleetJudge(plan(crds)), fleet, path)


def test_one_job_does_not_import_dask(crds: dict[str, Path], fleet: Path) -> None:
    args = ["simulate", f"path:{crds['release-4.13']}", f"path:{crds['release-4.16']}", "--fleet", str(fleet)]
    program = """
import sys
from crdcompat.__main__ import main
try:
    main()
finally:
    print(sorted({"dask", "distributed", "pyarrow"} & sys.modules.keys()), file=sys.stderr)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, *args, "--jobs", "1", "--quiet"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "[]\n")


def test_who_judges_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    assert workers_for(1, None, None, None) == Workers(1)
    assert workers_for(100, 7, None, None) == Workers(7)
    monkeypatch.setattr("crdcompat.features.fleet.workers.find_spec", lambda _: None)
    assert workers_for(100, None, None, None) == Workers(1)
    assert workers_for(100, 7, None, None) == Workers(1)
    for option, more in (("--scheduler", ("tcp://x:1", None)), ("--timeout", (None, 3.0))):
        with pytest.raises(UsageError, match=f"{option} needs the package distributed: pip install"):
            workers_for(100, None, *more)
