"""simulate --fleet --output: the tables, the questions of docs/fleet.md, and the comparison with an earlier run."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet as pq
import pytest
from fleets import MODES, cluster_version, gather, one_of_each, releases, unpacked, uuid, widget
from helpers import Run, run, write
from offline import PROJECT

from crdcompat.errors import UsageError
from crdcompat.features.fleet import parquet
from crdcompat.features.fleet.parquet import SCHEMAS, rows_of
from crdcompat.features.fleet.recording_outcome import Outcome, RecordingCause, TargetOutcome
from crdcompat.features.fleet.spill import Spill
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.writes import Endpoint

PAGE = (PROJECT / "docs/fleet.md").read_text(encoding="utf-8")
QUESTIONS = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def crds(tmp_path: Path) -> dict[str, Path]:
    return releases(tmp_path / "crds")


def _simulate(crds: dict[str, Path], top: Path, *more: str | Path) -> Run:
    old, *targets, new = (f"path:{crds[name]}" for name in MODES)
    named = [part for target in targets for part in ("--target", target)]
    return run("simulate", old, new, *named, "--fleet", top, "--jobs", "1", "--format", "json", *more)


def _rows(folder: Path, name: str, *columns: str) -> list[tuple[Any, ...]]:
    """The rows of a table; names of recordings and releases without their folders."""
    table = pq.read_table(folder / f"{name}.parquet", columns=list(columns))
    return [tuple(_short(row[column]) for column in columns) for row in table.to_pylist()]


def _short(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_short, value))
    return re.sub(r"(?:path:)?/\S*/", "", value) if isinstance(value, str) else value


def test_the_rows_are_those_of_the_report(crds: dict[str, Path], tmp_path: Path) -> None:
    top, out = one_of_each(tmp_path / "fleet"), tmp_path / "new" / "out"
    (top / "0-empty.tar.gz").touch()
    ran = _simulate(crds, top, "--output", out)
    assert ran.code == 2
    assert sorted(path.name for path in out.iterdir()) == sorted(f"{name}.parquet" for name in SCHEMAS)
    expected = [
        (cluster["name"], target["target"], target["verdict"], target["objects"]["rejected"])
        for cluster in ran.report["clusters"]
        for target in cluster["targets"]
    ]
    rows = pq.read_table(out / "clusters.parquet").to_pylist()
    assert [(row["cluster"], row["target"], row["verdict"], row["rejected"]) for row in rows] == expected
    assert {(row["cluster"], row["id"], row["version"], row["platform"], row["farthest"]) for row in rows} == {
        (item["name"], item["id"], item["version"], item["platform"], item["farthest"])
        for item in ran.report["clusters"]
    }
    (finding,) = ran.report["findings"]
    assert _rows(out, "findings", "cluster", "target", "finding", "path", "objects", "values") == [
        ("b.tar.gz", "release-4.13", finding["id"], "status.modes[*]", 2, ('"B"',)),
        ("c.tar.gz", "release-4.14", finding["id"], "status.modes[*]", 1, ('"C"',)),
        ("c.tar.gz", "release-4.13", finding["id"], "status.modes[*]", 1, ('"C"', '"B"')),
        ("must-gather.local.77", "release-4.15", finding["id"], "status.modes[*]", 1, ('"D"',)),
        ("must-gather.local.77", "release-4.14", finding["id"], "status.modes[*]", 1, ('"D"',)),
        ("must-gather.local.77", "release-4.13", finding["id"], "status.modes[*]", 1, ('"D"',)),
    ]
    objects = pq.read_table(out / "objects.parquet").to_pylist()
    assert [(_short(row["recording"]), _short(row["target"]), row["object"], row["findings"]) for row in objects] == [
        ("b.tar.gz", "release-4.13", "Widget/default/w", [finding["id"]]),
        ("b.tar.gz", "release-4.13", "Widget/default/v", [finding["id"]]),
        ("c.tar.gz", "release-4.14", "Widget/default/w", [finding["id"]]),
        ("c.tar.gz", "release-4.13", "Widget/default/w", [finding["id"]]),
        *(
            ("must-gather.local.77", release, "Widget/default/w", [finding["id"]])
            for release in ("release-4.15", "release-4.14", "release-4.13")
        ),
    ]
    why = "holds no objects (0-empty.tar.gz: not recorded: empty)"
    assert _rows(out, "problems", "recording", "file", "message", "read") == [("0-empty.tar.gz", None, why, False)]


def test_what_could_not_be_read_of_a_recording_is_a_row_with_its_file(crds: dict[str, Path], tmp_path: Path) -> None:
    """Beyond the first problems, only their number is known."""
    top, out = tmp_path / "fleet", tmp_path / "out"
    folder = unpacked(top / "a" / "must-gather.local.1", widget("w", "A"))
    for number in range(6):
        write(folder / f"cluster-scoped-resources/example.com/widgets/bad{number}.yaml", "a: [")
    assert _simulate(crds, top, "--output", out).code == 2
    rows = pq.read_table(out / "problems.parquet").to_pylist()
    assert {(row["recording"], row["read"]) for row in rows} == {(str(folder), True)}
    bad = [(f"bad{number}.yaml", 2) for number in range(5)]
    assert [(row["file"] and Path(row["file"]).name, row["line"]) for row in rows] == [(None, None), *bad]


def test_the_page_lists_the_columns() -> None:
    listed = {
        name: re.findall(r"`(\w+)`", columns)
        for name, columns in re.findall(r"^\| `(\w+)\.parquet` \|[^|]*\|(.*)\|$", PAGE, re.MULTILINE)
    }
    assert listed == {name: schema.names for name, schema in SCHEMAS.items()}
    assert all(field.metadata[b"is"] for schema in SCHEMAS.values() for field in schema)


def test_the_questions_of_the_page(crds: dict[str, Path], tmp_path: Path) -> None:
    top, out = tmp_path / "fleet", tmp_path / "out"
    for number, mode in enumerate("ABCD", 1):
        gather(top / f"{mode}.tar.gz", widget("w", mode), cluster_version(uuid(number), f"4.16.{number}"))
    assert _simulate(crds, top, "--output", out / "last-week").code == 1
    gather(top / "A.tar.gz", widget("w", "D"), widget("v", "D"), cluster_version(uuid(1), "4.16.9"))
    ran = _simulate(crds, top, "--output", out, "--since", out / "last-week")
    assert [note.rpartition(": ")[2] for note in ran.report["notes"]] == ["1 worse, 3 as before"] * 3
    answers = [
        [tuple(map(_short, row)) for row in rows]
        for rows in _answers([_with_names(question, crds) for question in QUESTIONS], out)
    ]
    assert answers == [
        [("A.tar.gz", "4.16.9", 2), ("B.tar.gz", "4.16.2", 1), ("C.tar.gz", "4.16.3", 1), ("D.tar.gz", "4.16.4", 1)],
        [("Widget", "status.modes[*]", 4, 3)],
        [("4.16.2", 1, 1), ("4.16.3", 1, 1), ("4.16.4", 1, 1), ("4.16.9", 1, 1)],
        [("A.tar.gz", release, "clean", "blocked") for release in ("release-4.13", "release-4.14", "release-4.15")],
        [("A.tar.gz", 2), ("D.tar.gz", 1)],
    ]


def _answers(questions: list[str], folder: Path) -> list[list[list[Any]]]:
    """The answers of DuckDB, in a process of its own: at its end it prints what its bindings leak."""
    program = "import duckdb, json, sys; print(json.dumps([duckdb.sql(q).fetchall() for q in json.load(sys.stdin)]))"
    asked = json.dumps(questions)
    done = subprocess.run(
        [sys.executable, "-c", program], input=asked, cwd=folder, capture_output=True, check=True, text=True
    )
    return cast("list[list[list[Any]]]", json.loads(done.stdout))


def _with_names(question: str, crds: dict[str, Path]) -> str:
    return question.replace("'release-4.13'", f"'path:{crds['release-4.13']}'")


def test_few_rows_are_in_memory(crds: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "_ROWS_AT_A_TIME", 2)
    top, out = one_of_each(tmp_path / "fleet"), tmp_path / "out"
    assert _simulate(crds, top, "--output", out).code == 1
    assert pq.ParquetFile(out / "clusters.parquet").num_row_groups == 18 / 2


def test_an_output_that_cannot_be_written_or_read(crds: dict[str, Path], tmp_path: Path) -> None:
    top = tmp_path / "fleet"
    gather(top / "a.tar.gz", widget("w", "A"))
    (tmp_path / "file").touch()
    ran = _simulate(crds, top, "--output", tmp_path / "file" / "x")
    assert (ran.code, ran.err) == (2, f"crdcompat: --output {tmp_path / 'file' / 'x'}: not a directory\n")
    ran = _simulate(crds, top, "--since", tmp_path)
    assert (ran.code, ran.err) == (
        2, f"crdcompat: --since {tmp_path}: no tables of a fleet: no such file or directory\n"
    )  # fmt: skip
    (tmp_path / "clusters.parquet").write_bytes(b"PAR1")
    ran = _simulate(crds, top, "--since", tmp_path)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"crdcompat: --since {tmp_path}: no tables of a fleet: ")


def test_hidden_values_are_hidden_in_the_tables() -> None:
    cause = RecordingCause(
        "widgets.example.com", "Widget", "spec.a", "FieldValueInvalid", Endpoint.MAIN, ("shown", "secret"),
        (False, True), 1, "Widget/w", "widgets.yaml", 0, (),
    )  # fmt: skip
    outcome = Outcome(targets=(TargetOutcome({}, (cause,), (), {}),))
    for redact, secret in ((False, '"secret"'), (True, "<hidden>")):
        ((_, row),) = rows_of(outcome, ["release-4.13"], Direction.ROLLBACK, redact=redact)
        assert row["values"] == ['"shown"', secret]


@pytest.mark.parametrize("kibibytes", [0, 1, 2, 4, 8, 16, 1024])
def test_a_full_disk_leaves_nothing_behind(crds: dict[str, Path], tmp_path: Path, kibibytes: int) -> None:
    """Files of an earlier run are as they were, or all tables are new; nothing else is left, nowhere."""
    fleet, out, temporary = one_of_each(tmp_path / "fleet"), tmp_path / "out", tmp_path / "tmp"
    temporary.mkdir()
    write_all = {f"{name}.parquet" for name in SCHEMAS} | {"report.json", "page.html"}
    for name in write_all:
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_bytes(b"earlier")
    releases_of = (f"path:{crds['release-4.15']}", f"path:{crds['release-4.16']}")
    formats = ("--format", f"json={out / 'report.json'}", "--format", f"html={out / 'page.html'}")
    command = [sys.executable, "-m", "crdcompat", "simulate", *releases_of, "--fleet", str(fleet), "--jobs", "1"]
    limited = ["bash", "-c", f'ulimit -f {kibibytes}; exec "$@"', "bash", *command, "--output", str(out), *formats]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(limited, env=environment, capture_output=True, text=True, check=False)
    new = {name for name in write_all if (out / name).read_bytes() != b"earlier"}
    assert {path.name for path in out.iterdir()} == write_all
    assert not list(temporary.iterdir())
    tables = {name for name in write_all if name.endswith(".parquet")}
    assert new & tables in (set(), tables)
    *written, last = done.stderr.splitlines()
    assert all(line.startswith("crdcompat: wrote ") for line in written), done.stderr
    if new == write_all:
        assert (done.returncode, kibibytes) == (1, 1024), done.stderr
    else:
        assert (done.returncode, done.stdout) == (2, "")
        assert "file too large" in last.lower() or "no temporary folder can be made" in last


def test_a_full_disk_for_the_temporary_tables() -> None:
    spill = Spill("some (text TEXT)")
    spill.rows("PRAGMA max_page_count = 8")
    with pytest.raises(UsageError) as raised:
        for _ in range(100):
            spill.write("INSERT INTO some VALUES (?)", "x" * 1000)
    assert str(raised.value) == ("the temporary files of this run (TMPDIR) cannot be written: database or disk is full")


def test_another_thread_may_free_the_temporary_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """A garbage collection runs in any thread."""
    unraisable: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    held = [Spill("some (text TEXT)")]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert (held, unraisable) == ([], [])
