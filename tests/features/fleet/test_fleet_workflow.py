"""simulate --fleet: many clusters, several targets, whatever is wrong with some of the recordings."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fleets import (
    MODES,
    NOISE,
    TARGETS,
    Watched,
    cluster_version,
    damage,
    gather,
    one_of_each,
    plan,
    releases,
    unpacked,
    uuid,
    widget,
)
from helpers import Json, Run, run, write
from interrupts import interruptible, uninterruptible
from msgspec.structs import replace

from crdcompat.errors import UsageError
from crdcompat.features.fleet.code import code_id
from crdcompat.features.fleet.fleet_judge import FleetJudge
from crdcompat.features.fleet.fleet_workflow import simulate_fleet
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.recording_outcome import Outcome, decode, encode
from crdcompat.features.fleet.recordings import find_fleet
from crdcompat.models.fleet import FleetReport
from crdcompat.package_data import PACKAGE, data_dir

STATUS = "status.modes[*]"


@pytest.fixture
def crds(tmp_path: Path) -> dict[str, Path]:
    return releases(tmp_path / "crds")


def _args(crds: dict[str, Path], fleet: Path | str, *more: str | Path) -> list[str | Path]:
    old, *targets, new = (f"path:{crds[name]}" for name in MODES)
    named = [part for target in targets for part in ("--target", target)]
    return ["simulate", old, new, *named, "--fleet", fleet, *more]


def _fleet(crds: dict[str, Path], fleet: Path | str, *more: str | Path, code: int | None = None) -> Json:
    ran = run(*_args(crds, fleet, "--jobs", "1", "--format", "json", *more))
    assert ran.code == code if code is not None else ran.code in (0, 1), ran.err or ran.out
    return ran.report


def _standings(report: Json, crds: dict[str, Path], fleet: Path) -> dict[str, tuple[str, ...]]:
    """Cluster -> its verdicts, the targets in their order."""
    names = [f"path:{crds[name]}" for name in TARGETS]
    assert [target["name"] for target in report["targets"]] == names
    found = {}
    for cluster in report["clusters"]:
        assert [standing["target"] for standing in cluster["targets"]] == names
        found[str(Path(cluster["name"]).relative_to(fleet))] = tuple(each["verdict"] for each in cluster["targets"])
    return found


@pytest.fixture
def fleet(tmp_path: Path) -> Path:
    return one_of_each(tmp_path / "fleet")


BLOCKED, UNKNOWN, RISK, CLEAN = "blocked", "unknown", "at risk", "clean"


def test_what_runs_nothing_newer_has_no_way_back(crds: dict[str, Path], tmp_path: Path) -> None:
    top = tmp_path / "fleet"
    gather(top / "a.tar.gz", widget("w", "A"), cluster_version(uuid(1), "4.14.7"))
    report = _fleet(crds, top, code=2)
    assert _standings(report, crds, top) == {"a.tar.gz": (UNKNOWN, UNKNOWN, CLEAN)}
    newer, same, older = report["clusters"][0]["targets"]
    for target in (newer, same):
        assert target["unjudged"] == [f"it runs 4.14.7, and {target['target']} is not older"]
    assert older["unjudged"] == []


def test_a_release_that_cannot_be_read_is_not_known(crds: dict[str, Path], tmp_path: Path) -> None:
    top = tmp_path / "fleet"
    gather(top / "a.tar.gz", widget("w", "A"))
    (crds["release-4.13"] / "broken.yaml").write_text("kind: CustomResourceDefinition\nspec: [\n")
    report = _fleet(crds, top, code=2)
    assert _standings(report, crds, top) == {"a.tar.gz": (CLEAN, CLEAN, UNKNOWN)}


def test_several_clusters_in_one_recording_are_none(crds: dict[str, Path], tmp_path: Path) -> None:
    top = tmp_path / "fleet"
    gather(top / "a.tar.gz", widget("w", "A"), cluster_version(uuid(1)), cluster_version(uuid(2)))
    report = _fleet(crds, top, code=2)
    (unread,) = report["unread"]
    assert unread["reason"].startswith("holds 2 clusters (")


def test_what_new_says_alike_counts_for_nothing(crds: dict[str, Path], tmp_path: Path) -> None:
    """A value that no release takes, and a field that none has, in two recordings of one cluster."""
    top = tmp_path / "fleet"
    alike = (widget("w", "Z"), widget("v", "A", gone="x"), widget("u", "Z", gone="x"))
    gather(top / "a.tar.gz", *alike, cluster_version(uuid(1)))
    gather(top / "b.tar.gz", *alike, widget("t", "Z"), cluster_version(uuid(1)))
    gather(top / "c.tar.gz", widget("w", "Z", "D"))
    report = _fleet(crds, top, code=1)
    assert _standings(report, crds, top) == {
        "a.tar.gz": (CLEAN, CLEAN, CLEAN),
        "c.tar.gz": (BLOCKED, BLOCKED, BLOCKED),
    }
    assert {
        value["value"] for item in report["findings"] for share in item["targets"] for value in share["values"]
    } == {"D"}
    new = f"path:{crds['release-4.16']}"
    assert report["notes"][:2] == [
        f"already so under {new}, and not counted: rejections of 3 objects",
        f"not counted, because {new} prunes them, too, and so does not store them: fields of 2 objects",
    ]


def test_older_clusters_cannot_show_what_came_later(crds: dict[str, Path], tmp_path: Path) -> None:
    for name in ("a", "b"):
        gather(
            tmp_path / "fleet" / f"{name}.tar.gz", widget("w", "A"), cluster_version(uuid(1 + (name == "b")), "4.14.3")
        )
    report = _fleet(crds, tmp_path / "fleet", code=2)
    finding = "enum-value-added at widgets.example.com status.modes[*]"
    path = {name: f"path:{crds[name]}" for name in MODES}
    assert report["notes"] == [
        f"2 of 2 clusters ran a release before {path['release-4.16']}: judged as if that had written their objects",
        f"to {path['release-4.15']}: 1 finding cannot show in objects of 4.14.3: {finding}",
        f"to {path['release-4.14']}: 1 finding cannot show in objects of 4.14.3: {finding}",
        f"to {path['release-4.13']}: of 1 finding, those younger than 4.14.3 cannot show in its objects: {finding}",
    ]


def test_how_far_back_each_cluster_can_go(crds: dict[str, Path], fleet: Path) -> None:
    report = _fleet(crds, fleet, code=1)
    assert _standings(report, crds, fleet) == {
        "a-clean.tar.gz": (CLEAN, CLEAN, CLEAN),
        "b.tar.gz": (CLEAN, CLEAN, BLOCKED),
        "case-1/c.tar.gz": (CLEAN, BLOCKED, BLOCKED),
        "case-2/must-gather.local.77": (BLOCKED, BLOCKED, BLOCKED),
        "e-lossy.tar.gz": (CLEAN, RISK, RISK),
        "f-unknown.tar.gz": (CLEAN, CLEAN, UNKNOWN),
    }
    farthest = {Path(item["name"]).name: item["farthest"] for item in report["clusters"]}
    path = {name: f"path:{crds[name]}" for name in MODES}
    assert farthest == {
        "a-clean.tar.gz": path["release-4.13"],
        "b.tar.gz": path["release-4.14"],
        "c.tar.gz": path["release-4.15"],
        "must-gather.local.77": None,
        "e-lossy.tar.gz": path["release-4.13"],
        "f-unknown.tar.gz": path["release-4.14"],
    }
    assert report["summary"]["verdicts"] == {
        path["release-4.15"]: {BLOCKED: 1, UNKNOWN: 0, RISK: 0, CLEAN: 5},
        path["release-4.14"]: {BLOCKED: 2, UNKNOWN: 0, RISK: 1, CLEAN: 3},
        path["release-4.13"]: {BLOCKED: 3, UNKNOWN: 1, RISK: 1, CLEAN: 1},
    }
    assert report["summary"]["recordings"] == {"read": 6, "unread": 0}
    assert (report["summary"]["clusters"], report["summary"]["objects"]) == (6, 10)
    assert (report["old"]["name"], report["new"]["name"]) == (path["release-4.13"], path["release-4.16"])
    assert [target["kubernetes"] for target in report["targets"]] == ["1.28", "1.27", "1.26"]
    versions = {Path(item["name"]).name: (item["id"], item["version"], item["outside"]) for item in report["clusters"]}
    assert versions["b.tar.gz"] == (uuid(2), "4.16.3", 1)
    assert versions["c.tar.gz"] == (None, None, 0)


def test_a_finding_counts_the_clusters_that_hold_it(crds: dict[str, Path], fleet: Path) -> None:
    report = _fleet(crds, fleet)
    (finding,) = report["findings"]
    assert (finding["crd"], finding["kind"], finding["path"]) == ("widgets.example.com", "Widget", STATUS)
    assert (finding["type"], finding["endpoint"], finding["clusters"]) == ("FieldValueNotSupported", "status", 3)
    shares = {
        Path(share["target"]).name: (
            share["clusters"],
            share["objects"],
            [(held["value"], held["clusters"]) for held in share["values"]],
        )
        for share in finding["targets"]
    }
    assert shares == {
        "release-4.15": (1, 1, [("D", 1)]),
        "release-4.14": (2, 2, [("C", 1), ("D", 1)]),
        "release-4.13": (3, 4, [("B", 2), ("C", 1), ("D", 1)]),
    }
    for share in finding["targets"]:
        where = share["location"]
        assert where["file"] == "widgets.yaml"
        line = (
            (Path(share["target"].removeprefix("path:")) / "widgets.yaml").read_text().splitlines()[where["line"] - 1]
        )
        assert line.strip().startswith("- A") or line.strip() == "enum:"
    assert finding["example"] == f"Widget/default/w in {fleet / 'b.tar.gz'}"
    held = {Path(item["name"]).name: [each["findings"] for each in item["targets"]] for item in report["clusters"]}
    assert held["b.tar.gz"] == [[], [], [finding["id"]]]
    assert held["e-lossy.tar.gz"] == [[], [], []]
    (missed,) = report["unjudged"]
    assert missed["reason"].endswith("release-4.13 has no CRD for it: its API answers 404 there")
    assert (missed["targets"], missed["clusters"], missed["objects"]) == ([f"path:{crds['release-4.13']}"], 1, 1)
    assert missed["example"] == f"Gadget/default/g in {fleet / 'f-unknown.tar.gz'}"


def test_findings_come_worst_first(crds: dict[str, Path], tmp_path: Path) -> None:
    """By clusters, not by objects."""
    fleet = tmp_path / "fleet"
    gather(fleet / "a.tar.gz", *(widget(f"w{number}", size="no number") for number in range(5)))
    for name in ("b", "c"):
        gather(fleet / f"{name}.tar.gz", widget("w", "D"))
    report = _fleet(crds, fleet)
    assert [(item["path"], item["clusters"], item["targets"][0]["objects"]) for item in report["findings"]] == [
        (STATUS, 2, 2),
        ("spec.size", 1, 5),
    ]


def test_each_cluster_stands_as_simulate_says(crds: dict[str, Path], fleet: Path) -> None:
    """Against every target, the same counts and causes as one cluster and one target alone."""
    report = _fleet(crds, fleet)
    by_id = {finding["id"]: finding for finding in report["findings"]}
    for cluster in report["clusters"]:
        for standing in cluster["targets"]:
            sides = (standing["target"], f"path:{crds['release-4.16']}")
            alone = run("simulate", *sides, "--objects", cluster["name"], "--format", "json").report
            assert alone["summary"]["verdicts"] == standing["objects"]
            causes = {(item["crd"], item["path"], item["type"]) for item in alone["summary"]["causes"]}
            held = {tuple(by_id[id_][key] for key in ("crd", "path", "type")) for id_ in standing["findings"]}
            assert held == causes


# -- what is wrong with recordings ---------------------------------------------


def test_what_cannot_be_read_is_named_and_stops_nothing(crds: dict[str, Path], fleet: Path) -> None:
    before = _standings(_fleet(crds, fleet), crds, fleet)
    expected = damage(fleet)
    report = _fleet(crds, fleet, code=2)
    unread = {Path(item["recording"]).name: item["reason"] for item in report["unread"]}
    assert unread.keys() == expected.keys()
    for name, part in expected.items():
        assert part in unread[name], unread[name]
    after = _standings(report, crds, fleet)
    # Read in part: nothing better than unknown is said.
    partly = {name: after.pop(name) for name in ("y-cut.tar.gz", "y-flipped.tar.gz")}
    assert set(partly.values()) == {(UNKNOWN,) * 3}
    assert after == before
    reported = {item["file"].partition(": ")[0] for item in report["summary"]["problems"]}
    assert {Path(name).name for name in reported} == set(partly)
    assert report["summary"]["recordings"] == {"read": 8, "unread": 7}
    assert all(item["objects"] > 10 for item in report["clusters"] if Path(item["name"]).name in partly)


def test_what_is_rejected_in_a_part_is_rejected(crds: dict[str, Path], tmp_path: Path) -> None:
    top = tmp_path / "fleet"
    whole = gather(top / "a.tar.gz", *(widget(f"w{n}", "D", extra=NOISE.randbytes(8000).hex()) for n in range(200)))
    whole.write_bytes(whole.read_bytes()[:1_000_000])
    assert _standings(_fleet(crds, top, code=2), crds, top) == {"a.tar.gz": (BLOCKED,) * 3}


def test_one_bad_file_of_a_recording(crds: dict[str, Path], tmp_path: Path) -> None:
    top = tmp_path / "fleet"
    folder = unpacked(top / "a" / "must-gather.local.1", widget("w", "A"))
    for number in range(20):
        write(folder / f"cluster-scoped-resources/example.com/widgets/bad{number}.yaml", "a: [")
    report = _fleet(crds, top, code=2)
    assert _standings(report, crds, top) == {"a/must-gather.local.1": (UNKNOWN,) * 3}
    for target in report["clusters"][0]["targets"]:
        assert target["unjudged"] == ["20 problems while it was read"]
    problems = report["summary"]["problems"]
    assert len(problems) == 6
    assert {item["file"].partition(": ")[0] for item in problems} == {str(folder)}
    assert [item["message"] for item in problems if item["file"] == str(folder)] == ["and 15 more problems"]


def test_a_fleet_of_nothing(crds: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "fleet" / "sub").mkdir(parents=True)
    ran = run(*_args(crds, tmp_path / "fleet"))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"crdcompat: no recordings in {tmp_path / 'fleet'}\n"


def test_a_folder_that_is_not_there(crds: dict[str, Path], tmp_path: Path) -> None:
    ran = run(*_args(crds, tmp_path / "nowhere"))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"crdcompat: {tmp_path / 'nowhere'}: no such file or directory\n"


# -- processes ---------------------------------------------


def _simulated(judge: FleetJudge, fleet: Path, journal: Journal | None = None) -> FleetReport:
    return simulate_fleet(judge, find_fleet([str(fleet)]), journal=journal)


def test_a_crash_over_one_recording_is_its_failure(
    crds: dict[str, Path], fleet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose\nsecond line")

    monkeypatch.setattr("crdcompat.features.fleet.rollback_depth.read_objects", broken)
    monkeypatch.delenv("CRDCOMPAT_TRACEBACK", raising=False)
    report = _simulated(FleetJudge(plan(crds)), fleet)
    said = "crashed (ZeroDivisionError: on purpose): this is a bug; please report it"
    assert {item.reason for item in report.unread} == {said}
    assert len(report.unread) == 6


#: The command, which waits for ever once its journal holds three outcomes.
_WAITS = """
import itertools, sys
from crdcompat.__main__ import main
from crdcompat.features.fleet.journal import Journal
from crdcompat.features.fleet.fleet_judge import FleetJudge

add, numbers = Journal.add, itertools.count(1)

def waiting(*args):
    place = add(*args)
    if next(numbers) == 3:
        sys.stdin.read()
    return place

Journal.add = waiting
main()
"""


def _interrupted(crds: dict[str, Path], fleet: Path, journal: Path) -> Run:
    """A run that gets Ctrl-C when its journal has three outcomes."""
    for number in range(16):
        gather(fleet / f"{number:02}.tar.gz", *(widget(f"w{item}", "A") for item in range(20)))
    command = [sys.executable, "-c", _WAITS, *map(str, _args(crds, fleet, "--jobs", "2", "--format", "json"))]
    process = subprocess.Popen(
        [*command, "--resume", str(journal)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while process.poll() is None and (not journal.exists() or journal.read_bytes().count(b"\n") < 4):
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to all of them
    out, err = process.communicate()  # ends only when no process holds the other ends
    return Run(process.returncode, out.decode(), err.decode())


def test_ctrl_c_ends_all_processes_and_leaves_a_whole_journal(crds: dict[str, Path], tmp_path: Path) -> None:
    fleet, journal = tmp_path / "fleet", tmp_path / "journal"
    with interruptible():
        ran = _interrupted(crds, fleet, journal)
    assert (ran.code, ran.out) == (130, "")
    assert "Traceback" not in ran.err
    assert journal.read_bytes().count(b"\n") == 1 + 3
    resumed = run(*_args(crds, fleet, "--jobs", "1", "--format", "json", "--resume", journal))
    assert resumed.out == run(*_args(crds, fleet, "--jobs", "1", "--format", "json")).out
    assert journal.read_bytes().count(b"\n") == 17


def test_ctrl_c_that_the_caller_ignores_ends_nothing(crds: dict[str, Path], tmp_path: Path) -> None:
    """A script starts its background commands with SIGINT ignored: Ctrl-C ends the script, not these."""
    fleet, journal = tmp_path / "fleet", tmp_path / "journal"
    with uninterruptible():
        ran = _interrupted(crds, fleet, journal)
    assert (ran.code, ran.out) == (0, run(*_args(crds, fleet, "--jobs", "1", "--format", "json")).out)
    assert journal.read_bytes().count(b"\n") == 17


# -- a journal ---------------------------------------------


def _resumed(
    crds: dict[str, Path], fleet: Path, journal: Path, most: int | None = None
) -> tuple[list[str], FleetReport]:
    """What was read, and the report, of a run that goes on from a journal."""
    judge = Watched(plan(crds), most)
    with Journal(str(journal), judge.fingerprint(), len(judge.readers)) as opened:
        report = _simulated(judge, fleet, opened)
    return judge.asked, report


def test_an_interrupted_run_goes_on(crds: dict[str, Path], fleet: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    expected = _simulated(FleetJudge(plan(crds)), fleet)
    with pytest.raises(KeyboardInterrupt):
        _resumed(crds, fleet, journal, most=4)
    asked, report = _resumed(crds, fleet, journal)
    assert asked == ["e-lossy.tar.gz", "f-unknown.tar.gz"]
    assert report == expected
    asked, report = _resumed(crds, fleet, journal)
    assert asked == []
    assert report == expected


def test_a_run_goes_on_from_another_folder(
    crds: dict[str, Path], fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording is the same file, whichever folder its path begins at."""
    journal = tmp_path / "journal"
    monkeypatch.chdir(fleet.parent)
    asked, _ = _resumed(crds, Path(fleet.name), journal)
    assert asked
    monkeypatch.chdir(tmp_path)
    asked, _ = _resumed(crds, fleet, journal)
    assert asked == []


@pytest.mark.parametrize(
    "torn", [b"", b'{"recording":"', b'{"recording":"a","signature":"b","outcome":{}}', b"\x00\xff"]
)
def test_a_torn_last_line_is_cut_off(crds: dict[str, Path], fleet: Path, tmp_path: Path, torn: bytes) -> None:
    journal = tmp_path / "journal"
    _, expected = _resumed(crds, fleet, journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:4]) + torn)
    asked, report = _resumed(crds, fleet, journal)
    assert asked == [Path(json.loads(line)["recording"]).name for line in lines[4:]]
    assert report == expected
    assert journal.read_bytes().splitlines(keepends=True) == lines


@pytest.mark.parametrize("kibibytes", [0, 2, 4])  # the first line has the paths, which can be long
def test_a_journal_that_cannot_grow(crds: dict[str, Path], fleet: Path, tmp_path: Path, kibibytes: int) -> None:
    """The run ends with the reason; whole lines alone are left, and the next run knows them."""
    journal = tmp_path / "journal"
    command = [sys.executable, "-m", "crdcompat", *_args(crds, fleet, "--jobs", "1", "--resume", journal)]
    limited = ["bash", "-c", f'ulimit -f {kibibytes}; exec "$@"', "bash", *map(str, command)]
    done = subprocess.run(limited, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"crdcompat: {journal}: file too large\n")
    assert journal.exists() == (kibibytes > 0)
    lines = journal.read_bytes().splitlines(keepends=True) if kibibytes else []
    whole = max(len(lines) - 1, 0)
    assert whole < 6 and (kibibytes < 4 or whole)
    assert all(line.endswith(b"\n") for line in lines)
    asked, report = _resumed(crds, fleet, journal)
    assert len(asked) == 6 - whole
    assert report == _simulated(FleetJudge(plan(crds)), fleet)


REFUSED = "of the journal could not be used: these recordings were read again"


def test_a_line_that_cannot_be_read_counts_for_nothing(crds: dict[str, Path], fleet: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    _, expected = _resumed(crds, fleet, journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    entry = json.loads(lines[3])
    entry["outcome"]["targets"] = [{}]
    journal.write_bytes(b"".join([*lines[:1], b"[1]\n", *lines[2:3], json.dumps(entry).encode() + b"\n", *lines[4:]]))
    asked, report = _resumed(crds, fleet, journal)
    assert asked == ["a-clean.tar.gz", "c.tar.gz"]
    assert report == replace(expected, notes=(*expected.notes, f"1 line {REFUSED}"))
    assert _resumed(crds, fleet, journal) == ([], expected)  # what was read again is known


@pytest.mark.parametrize("wrong", ["none", "one less", "one more", "verdicts", "of an older program"])
def test_a_line_of_other_targets_is_none_of_ours(
    crds: dict[str, Path], fleet: Path, tmp_path: Path, wrong: str
) -> None:
    journal = tmp_path / "journal"
    _, expected = _resumed(crds, fleet, journal)
    lines = journal.read_bytes().splitlines(keepends=True)
    changed = []
    for line in lines[2:4]:
        entry = json.loads(line)
        targets = entry["outcome"]["targets"]
        others = {
            "none": [],
            "one less": targets[:-1],
            "one more": [*targets, targets[0]],
            "verdicts": [{**each, "verdicts": {"fine": 1}} for each in targets],
        }
        entry["outcome"]["targets"] = others.get(wrong, targets)
        entry["outcome"]["fates"] = []
        if wrong == "of an older program":
            del entry["outcome"]["fates"]
        changed.append(json.dumps(entry).encode() + b"\n")
    journal.write_bytes(b"".join([*lines[:2], *changed, *lines[4:]]))
    asked, report = _resumed(crds, fleet, journal)
    assert asked == ["b.tar.gz", "c.tar.gz"]
    assert report == replace(expected, notes=(*expected.notes, f"2 lines {REFUSED}"))
    assert _resumed(crds, fleet, journal) == ([], expected)


def test_an_edited_line_is_none_of_ours(crds: dict[str, Path], fleet: Path, tmp_path: Path) -> None:
    """Whatever was edited: the outcome, the recording that it is of, or the run that it is of."""
    journal, other = tmp_path / "journal", tmp_path / "other"
    _, expected = _resumed(crds, fleet, journal)
    assert run(*_args(crds, fleet, "--jobs", "1", "--kube-version", "1.30", "--resume", other)).code == 1
    head, *lines = journal.read_bytes().splitlines(keepends=True)
    of_b, of_c = json.loads(lines[1]), json.loads(lines[2])
    of_a = json.loads(lines[0])
    of_a["outcome"]["objects"] += 1
    swapped = [{**of_b, "outcome": of_c["outcome"]}, {**of_c, "digest": of_b["digest"]}]
    edited = [json.dumps(each).encode() + b"\n" for each in (of_a, *swapped)]
    journal.write_bytes(b"".join([head, *edited, other.read_bytes().splitlines(keepends=True)[4], *lines[4:]]))
    asked, report = _resumed(crds, fleet, journal)
    assert asked == ["a-clean.tar.gz", "b.tar.gz", "c.tar.gz", "must-gather.local.77"]
    assert report == replace(expected, notes=(*expected.notes, f"4 lines {REFUSED}"))
    assert _resumed(crds, fleet, journal) == ([], expected)


def test_a_journal_of_other_code_is_refused(
    crds: dict[str, Path], fleet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of code can change every outcome, and the version stays."""
    journal = tmp_path / "journal"
    args = _args(crds, fleet, "--jobs", "1", "--resume", journal)
    assert run(*args).code == 1
    before = journal.read_bytes()
    now = code_id()
    monkeypatch.setattr("crdcompat.features.fleet.journal.code_id", lambda: "0.1.0 other")
    ran = run(*args)
    assert (ran.code, ran.out, journal.read_bytes()) == (2, "", before)
    assert ran.err == (
        f"crdcompat: {journal} is the journal of another run (code: {now} then, 0.1.0 other now): name another file\n"
    )


def test_the_id_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each module, schema and rule counts, and caches of Python do not."""
    package = shutil.copytree(PACKAGE, tmp_path / "crdcompat", ignore=shutil.ignore_patterns("__pycache__"))
    rules = shutil.copytree(data_dir("rules"), tmp_path / "rules")
    monkeypatch.setattr("crdcompat.features.fleet.code.PACKAGE", package)
    monkeypatch.setattr("crdcompat.features.fleet.code.data_dir", tmp_path.joinpath)
    found = [code_id.__wrapped__()]
    for path in (package / "errors.py", package / "config/config.schema.json", rules / "enum-value-added.yaml"):
        path.write_bytes(path.read_bytes() + b"\n")
        found.append(code_id.__wrapped__())
    (package / "errors.py").rename(package / "faults.py")
    found.append(code_id.__wrapped__())
    assert len(set(found)) == len(found) == 5
    (package / "__pycache__").mkdir()
    (package / "__pycache__/faults.pyc").touch()
    shutil.copytree(rules, package / "_rules")
    assert code_id.__wrapped__() == found[-1]


def test_a_recording_that_changed_or_failed_is_read_again(crds: dict[str, Path], fleet: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    (fleet / "g-empty.tar.gz").touch()
    _resumed(crds, fleet, journal)
    folder = fleet / "case-2" / "must-gather.local.77"
    gather(fleet / "b.tar.gz", widget("w", "A"))
    unpacked(folder / "quay-io-image-sha256-12", widget("another", "A"))
    (fleet / "a-clean.tar.gz").touch()  # another time is another recording, until it was read
    asked, report = _resumed(crds, fleet, journal)
    assert asked == ["a-clean.tar.gz", "b.tar.gz", "must-gather.local.77", "g-empty.tar.gz"]
    assert {cluster.name: cluster.objects for cluster in report.clusters}[str(folder)] == 2
    assert report == _simulated(FleetJudge(plan(crds)), fleet)


def test_a_journal_of_another_run_is_refused(crds: dict[str, Path], fleet: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    args = _args(crds, fleet, "--jobs", "1", "--resume", journal)
    assert run(*args).code == 1
    before = journal.read_bytes()
    for more, part in (
        (["--kube-version", "1.28"], "server: none then, Kubernetes 1.28 now"),
        (["--target", f"path:{crds['release-4.16']}"], "targets: "),
        (["--crd", "widgets.example.com"], "crds: none then, widgets.example.com now"),
    ):
        ran = run(*args, *more)
        assert (ran.code, ran.out) == (2, "")
        assert f"{journal} is the journal of another run" in ran.err
        assert part in ran.err
    write(crds["release-4.14"] / "gadgets.yaml", (crds["release-4.14"] / "gadgets.yaml").read_text() + "\n# more\n")
    ran = run(*args)
    assert (ran.code, ran.out) == (2, "")
    assert f"path:{crds['release-4.14']}:" in ran.err  # another byte in one CRD
    assert journal.read_bytes() == before


def test_no_other_file_is_taken_for_a_journal(crds: dict[str, Path], fleet: Path, tmp_path: Path) -> None:
    for data in (b"hello\nworld\n", b"\x1f\x8b\x00\n", b"{}\n", b"{", b'"x"\n'):
        path = tmp_path / "precious"
        path.write_bytes(data)
        ran = run(*_args(crds, fleet, "--resume", path))
        assert (ran.code, ran.err) == (2, f"crdcompat: {path} is no journal of crdcompat: it is left as it is\n")
        assert path.read_bytes() == data
    ran = run(*_args(crds, fleet, "--resume", tmp_path / "no" / "folder"))
    assert (ran.code, ran.err) == (2, f"crdcompat: {tmp_path / 'no' / 'folder'}: no such file or directory\n")


def test_two_runs_do_not_write_one_journal(crds: dict[str, Path], tmp_path: Path) -> None:
    path, judge = str(tmp_path / "journal"), FleetJudge(plan(crds))
    with (
        Journal(path, judge.fingerprint(), len(judge.readers)),
        pytest.raises(UsageError, match="another run is writing to it"),
    ):
        Journal(path, judge.fingerprint(), len(judge.readers))
    Journal(path, judge.fingerprint(), len(judge.readers)).__exit__(None, None, None)


def test_an_outcome_comes_back_as_it_was(crds: dict[str, Path], fleet: Path) -> None:
    judge = FleetJudge(plan(crds))
    for path in find_fleet([str(fleet)]).recordings:
        outcome = decode(judge(path))
        assert outcome.objects
        assert decode(encode(outcome)) == outcome
    for line in (b"", b"[]", b"{}", b"null", b'{"targets":[],"problems":[],"more":1}', b'{"targets":3,"problems":[]}'):
        with pytest.raises(ValueError):
            decode(line)
    assert decode(encode(Outcome(failure="x"))) == Outcome(failure="x")


@pytest.mark.parametrize(
    "fate",
    [
        {"objects": "AAAAAAAAAAA"},
        {"objects": "AAAA"},
        {"objects": "ä"},
        {"objects": None},
        {"stands": []},
        {"stands": [{"verdict": "fine", "causes": [], "missed": [], "apart": []}]},
        {"stands": [{"verdict": "rejected", "causes": [1], "missed": [], "apart": []}]},
        {"stands": [{"verdict": "rejected", "causes": [0], "missed": [0], "apart": []}]},
        {"stands": [{"verdict": "rejected", "causes": [-1], "missed": [], "apart": []}]},
        {"stands": [{"verdict": "rejected", "causes": ["0"], "missed": [], "apart": []}]},
        {"stands": [{"verdict": "rejected", "causes": [0], "missed": [], "apart": ["both"]}]},
    ],
)
def test_fates_that_are_none_of_ours(crds: dict[str, Path], tmp_path: Path, fate: Json) -> None:
    path = gather(tmp_path / "a.tar.gz", widget("w", "D"), cluster_version(uuid(1)))
    data = json.loads(FleetJudge(replace(plan(crds), targets=()))(str(path)))
    rejected = next(each for each in data["fates"] if each["stands"][0]["verdict"] == "rejected")
    assert decode(json.dumps(data).encode()).fates
    rejected |= fate
    with pytest.raises(ValueError):
        decode(json.dumps(data).encode())
