"""The workers of a Dask cluster judge a fleet: nothing is lost, nothing counts twice, and the report is the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
from distributed import Client, LocalCluster
from fleets import MODES, Deadly, cluster_version, gather, one_of_each, plan, releases, uuid, widget
from helpers import run, spawn
from msgspec.structs import replace

from crdcompat.errors import SourceError, UsageError
from crdcompat.features.fleet.connection import local_cluster
from crdcompat.features.fleet.dask_cluster import judged_by_cluster
from crdcompat.features.fleet.fleet_judge import FleetJudge
from crdcompat.features.fleet.fleet_workflow import simulate_fleet
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.judged import Done
from crdcompat.features.fleet.recordings import find_fleet
from crdcompat.features.fleet.workers import Workers, workers_for
from crdcompat.models.fleet import FleetReport, UnreadRecording
from crdcompat.version import __version__

ENDS = "it ended each process that read it (out of memory?)"


@pytest.fixture(scope="module")
def _cluster() -> Iterator[LocalCluster]:
    with local_cluster(2, is_secure=False) as cluster:
        yield cluster


@pytest.fixture
def scheduler(_cluster: LocalCluster) -> str:
    """The address of a scheduler with two workers; one that an earlier test killed is there again."""
    with Client(_cluster.scheduler_address) as client:
        client.wait_for_workers(2, timeout=120)
    return _cluster.scheduler_address


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

    answers = judged_by_cluster(
        FleetJudge(plan(crds)), names(), Workers(1, scheduler), lambda *found: pytest.fail(str(found))
    )
    answered = [next(answers) for _ in range(20)]
    assert len(answered) == 20
    assert asked <= 20 + 16 * 8  # 16 tasks of at most eight recordings
    answers.close()


@pytest.mark.parametrize("seconds", [-1.0, 60.0])
def test_recordings_that_a_task_has_no_time_for_are_judged_by_others(
    crds: dict[str, Path], tmp_path: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """Without time a task judges one recording, with much time all of its own."""
    monkeypatch.setattr("crdcompat.features.fleet.plugin._TASK_SECONDS", seconds)
    fleet, judge = _many(tmp_path / "many"), FleetJudge(plan(crds))
    numbers = count(1)
    report = _simulated(judge, fleet, scheduler, on_done=lambda _: next(numbers))
    assert report == _simulated(judge, fleet)
    assert next(numbers) == 31  # each recording was answered once


def _without(report: FleetReport, reason: str, workers: int) -> FleetReport:
    """The report without the problems of workers that were not used; each must have this reason."""
    kept = [
        each
        for each in report.problems
        if not each.file.startswith(("recordings on worker tcp://", "recordings in processes"))
    ]
    named = {each for each in report.problems if each not in kept}
    assert all(re.fullmatch(f"not used: {reason}", each.message) for each in named), named
    assert len(named) == workers
    return replace(report, problems=tuple(kept))


def test_if_no_worker_has_the_releases_the_client_judges(
    crds: dict[str, Path], fleet: Path, scheduler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = FleetJudge(plan(crds))
    expected = _simulated(judge, fleet)
    with monkeypatch.context() as patch:
        patch.setattr("crdcompat.features.fleet.plugin._digest", lambda _: "of other releases")
        report = _simulated(judge, fleet, scheduler)
    assert _without(report, "its releases are not those of this machine", 2) == expected
    crds["release-4.14"].rename(crds["release-4.14"].with_name("elsewhere"))
    report = _simulated(judge, fleet, scheduler)
    without = _without(report, ".*release-4.14: no such file or directory", 2)
    assert list(without.clusters) == list(expected.clusters)


#: What makes a worker of no use, and what is said of it.
_UNFIT = {
    "no program": (
        "import sys; sys.modules['crdcompat'] = None",
        r"it cannot load crdcompat: ModuleNotFoundError\(.*No module named .*crdcompat.*",
    ),
    "other code": (
        "import crdcompat.features.fleet.plugin as plugin; plugin.code_id = lambda: '0.1.0 other'",
        rf"its code is crdcompat 0\.1\.0 other, that of this machine {re.escape(__version__)} \w+",
    ),
    "broken": (
        "import crdcompat.features.fleet.fleet_judge as judge; judge.read_source = lambda *_: 1 / 0",
        "ZeroDivisionError: division by zero",
    ),
    "older": (
        "import crdcompat.features.fleet.plugin as plugin; del plugin.JudgePlugin",
        "it could not load the judge of this run: it has another crdcompat, or none",
    ),
}


@contextmanager
def _worker(scheduler: str, before: str) -> Iterator[str]:
    """A worker in a process that runs a statement before it starts; its address, without a nanny."""
    with Client(scheduler, timeout=30) as client:
        known = set(client.nthreads())
        code = f"{before}\nfrom distributed.cli.dask_worker import main\nmain()"
        command = [sys.executable, "-c", code, scheduler, "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            client.wait_for_workers(len(known) + 1, timeout=120)
            (address,) = set(client.nthreads()) - known
            yield address
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("kind", _UNFIT)
def test_a_worker_of_no_use_is_named_and_others_do_its_work(
    crds: dict[str, Path], tmp_path: Path, scheduler: str, kind: str
) -> None:
    fleet, (before, reason) = _many(tmp_path / "many"), _UNFIT[kind]
    judge = FleetJudge(plan(crds))
    expected = _simulated(judge, fleet)
    with _worker(scheduler, before) as address:
        report = _simulated(judge, fleet, scheduler)
        assert _without(report, reason, 1) == expected
        assert {each.file for each in report.problems} == {f"recordings on worker {address}"}


@pytest.mark.parametrize("kind", ["no program", "other code"])
def test_the_client_judges_where_no_worker_can(crds: dict[str, Path], fleet: Path, tmp_path: Path, kind: str) -> None:
    """Exit 2: what was asked for was not done, although every recording was judged."""
    with LocalCluster(n_workers=0, dashboard_address="127.0.0.1:0", silence_logs=50) as cluster:
        address = cluster.scheduler_address
        with _worker(address, _UNFIT[kind][0]):
            releases_of = (f"path:{crds['release-4.15']}", f"path:{crds['release-4.16']}")
            common = ("simulate", *releases_of, "--fleet", fleet, "--format", "json")
            ran, alone = run(*common, "--scheduler", address), run(*common, "--jobs", "1")
    (problem,) = ran.report["summary"]["problems"]
    assert re.fullmatch(f"not used: {_UNFIT[kind][1]}", problem["message"])
    assert (ran.code, alone.code) == (2, 1)
    assert ran.report["clusters"] == alone.report["clusters"]


def test_a_worker_of_no_use_that_joins_later(crds: dict[str, Path], tmp_path: Path, scheduler: str) -> None:
    """It is named when it refuses its first recording, if it gets one; another worker judges that."""
    fleet = _many(tmp_path / "many")
    judge = FleetJudge(plan(crds))
    with ExitStack() as stack:
        numbers = count(1)

        def join(_: Done) -> None:
            if next(numbers) == 1:
                stack.enter_context(_worker(scheduler, _UNFIT["other code"][0]))

        report = _simulated(judge, fleet, scheduler, on_done=join)
    named = sum(each.file.startswith("recordings on worker ") for each in report.problems)
    assert _without(report, _UNFIT["other code"][1], named) == _simulated(judge, fleet)


def test_processes_that_do_not_start(crds: dict[str, Path], fleet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client judges, and says why."""

    def refuse(**_: object) -> None:
        raise RuntimeError("Cluster failed to start") from OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("crdcompat.features.fleet.connection.LocalCluster", refuse)
    judge = FleetJudge(plan(crds))
    report = simulate_fleet(judge, find_fleet([str(fleet)]), workers=Workers(2))
    reason = r"they cannot be started \(\[Errno 11\] Resource temporarily unavailable\)"
    assert _without(report, reason, 1) == _simulated(judge, fleet)


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
