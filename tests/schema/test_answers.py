"""Kept answers save time; no result depends on them, and only this user can have written them."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, crd, obj, root, run, string, version, write

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.strategy import Resource
from crdcompat.crds.model import read_crd
from crdcompat.schema import answers
from crdcompat.schema.answers import Answers, json_of
from crdcompat.schema.work import WORK, OverBudgetError


class Function:
    """A function that counts its calls, each of which takes three steps."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.calls = 0

    def __call__(self) -> Any:
        self.calls += 1
        WORK.spend(3)
        return self.answer


def asked(make: Function, *inputs: Any, topic: str = "t", kind: Any = list[int]) -> Any:
    """The answer in a run of its own."""
    run_of = Answers()
    with run_of.kept():
        return run_of.of(topic, lambda: json_of(*inputs), kind, make)


def files(cache: Path) -> list[Path]:
    return sorted(cache.rglob("answers-*"))


def test_an_equal_question_has_the_answer_of_an_earlier_run(cache: Path) -> None:
    make = Function([1, 2])
    assert [asked(make, {"a": 1}), asked(make, {"a": 1})] == [[1, 2], [1, 2]]
    assert make.calls == 1
    assert [file.parent.name for file in files(cache)] == ["crdcompat"]
    assert files(cache)[0].stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("inputs", [{"a": 1.0}, {"a": "1"}, {"b": 1}, [1], {"a": 1, "b": 2}, {"a": True}])
def test_another_question_is_asked(inputs: Any) -> None:
    asked(Function([1]), {"a": 1})
    assert asked(Function([2]), inputs) == [2]


def test_another_topic_is_another_question() -> None:
    asked(Function([1]), 1)
    assert asked(Function([2]), 1, topic="u") == [2]


def test_the_order_of_members_is_part_of_the_question() -> None:
    asked(Function([1]), {"a": 1, "b": 2})
    assert asked(Function([2]), {"b": 2, "a": 1}) == [2]


def test_nothing_is_kept_outside_of_a_block(cache: Path) -> None:
    make, run_of = Function([1]), Answers()
    assert [run_of.of("t", lambda: b"", list[int], make) for _ in range(2)] == [[1], [1]]
    with run_of.kept(wanted=False):
        run_of.of("t", lambda: b"", list[int], make)
    assert make.calls == 3
    assert not files(cache)


def test_within_a_run_an_answer_counts_at_once() -> None:
    make, run_of = Function([1]), Answers()
    with run_of.kept():
        assert [run_of.of("t", lambda: b"", list[int], make) for _ in range(2)] == [[1], [1]]
    assert make.calls == 1


@pytest.mark.parametrize("answer", [(1,), {1: 2}, float("inf"), [1, "x" * (1 << 17)], object()])
def test_what_json_does_not_give_back_is_not_kept(answer: Any) -> None:
    make = Function(answer)
    assert asked(make, kind=Any) == answer
    assert asked(make, kind=Any) == answer
    assert make.calls == 2


def test_a_question_that_is_no_json_is_asked_each_time() -> None:
    make = Function([1])
    for _ in range(2):
        asked(make, 1 << 70)
    assert make.calls == 2


def test_an_answer_costs_the_steps_that_it_took() -> None:
    spent = []
    for _ in range(2):
        before = WORK.done
        asked(Function([1]))
        spent.append(WORK.done - before)
    assert spent == [3, 3]


def test_a_budget_ends_at_the_same_place_with_an_answer() -> None:
    asked(Function([1]))
    make = Function([1])
    with WORK.limited(2), pytest.raises(OverBudgetError):
        asked(make)
    assert make.calls == 1


def test_an_answer_that_a_budget_cuts_short_is_not_kept() -> None:
    def cut_short() -> list[int]:
        WORK.done += 5
        return [0]

    run_of = Answers()
    with run_of.kept(), WORK.limited(2):
        run_of.of("t", lambda: json_of(), list[int], cut_short)
    assert asked(Function([1])) == [1]


def test_an_error_keeps_the_answers_before_it(cache: Path) -> None:
    run_of, make = Answers(), Function([1])
    with pytest.raises(KeyboardInterrupt), run_of.kept():
        run_of.of("t", lambda: json_of(), list[int], make)
        raise KeyboardInterrupt
    asked(make)
    assert make.calls == 1


def _many(run_of: Answers, numbers: range) -> list[int]:
    makes = [Function([number]) for number in numbers]
    for number, make in zip(numbers, makes, strict=True):
        assert run_of.of("t", lambda number=number: json_of(number), list[int], make) == [number]  # type: ignore[misc]
    return [number for number, make in zip(numbers, makes, strict=True) if make.calls]


def test_answers_are_written_while_the_run_goes_on(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_MAX_HELD", 20)
    run_of = Answers()
    with run_of.kept():
        assert _many(run_of, range(10)) == [*range(10)]
        with sqlite3.connect(files(cache)[0]) as rows:
            assert rows.execute("SELECT count(*) FROM answers").fetchone()[0] > 5
        assert _many(run_of, range(12)) == [10, 11]
    again = Answers()
    with again.kept():
        assert _many(again, range(12)) == []


def test_a_file_that_becomes_busy_keeps_what_it_has(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run goes on without answers, and does not make the file anew while another one writes."""
    monkeypatch.setattr(answers, "_MAX_HELD", 20)
    asked(Function([7]), 7)
    run_of = Answers()
    with run_of.kept():
        other = sqlite3.connect(files(cache)[0], isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        assert _many(run_of, range(10, 20)) == [*range(10, 20)]
        other.execute("COMMIT")
        other.close()
    assert asked(Function([8]), 7) == [7]


# -- an answer that lies -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE answers SET answer = substr(answer, 1, 8) || CAST('[3,[9]]' AS BLOB)",
        "UPDATE answers SET answer = CAST('[3,[9]]' AS BLOB)",
        "UPDATE answers SET answer = substr(answer, 1, 9)",
        "UPDATE answers SET answer = ''",
        "UPDATE answers SET answer = 'text'",
        "UPDATE answers SET answer = 7",
        "DROP TABLE answers",
        "DROP TABLE answers; CREATE TABLE answers (other TEXT)",
    ],
)
def test_a_changed_answer_counts_for_nothing(cache: Path, change: str) -> None:
    asked(Function([1]))
    with sqlite3.connect(files(cache)[0]) as rows:
        rows.executescript(change)
    assert asked(Function([1])) == [1]
    assert asked(Function([2])) == [1]


def test_the_answer_to_another_question_counts_for_nothing(cache: Path) -> None:
    asked(Function([1]), 1)
    asked(Function([2]), 2)
    with sqlite3.connect(files(cache)[0]) as rows:
        (first,), (second,) = rows.execute("SELECT answer FROM answers ORDER BY question").fetchall()
        rows.execute("UPDATE answers SET answer = CASE answer WHEN ? THEN ? ELSE ? END", (first, second, first))
    assert [asked(Function([1]), 1), asked(Function([2]), 2)] == [[1], [2]]


@pytest.mark.parametrize("junk", [b"", b"x", b"SQLite format 3\0", b"\0" * 8192])
def test_junk_counts_for_nothing_and_is_replaced(cache: Path, junk: bytes) -> None:
    asked(Function([1]))
    files(cache)[0].write_bytes(junk)
    assert asked(Function([2])) == [2]
    asked(Function([2]))
    assert asked(Function([3])) == [2]


def test_a_damaged_file_counts_for_nothing(cache: Path) -> None:
    """Each byte of a file with many answers, one at a time, in steps."""
    run_of = Answers()
    with run_of.kept():
        for number in range(40):
            run_of.of("t", lambda number=number: json_of(number), list[int], Function([number]))  # type: ignore[misc]
    whole = files(cache)[0].read_bytes()
    for at in range(0, len(whole), 211):
        files(cache)[0].write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        run_of = Answers()
        with run_of.kept():
            found = [
                run_of.of("t", lambda number=number: json_of(number), list[int], Function([number]))  # type: ignore[misc]
                for number in range(40)
            ]
        assert found == [[number] for number in range(40)], at


def test_other_code_asks_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(Function([1]))
    monkeypatch.setattr(answers, "_code", lambda: "other")
    assert asked(Function([2])) == [2]


def test_the_code_is_that_of_all_modules_and_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, site = tmp_path / "package", tmp_path / "site"
    write(package / "deep/a.py", "a = 1")
    (site / "re2-1.0.dist-info").mkdir(parents=True)
    monkeypatch.setattr(answers, "PACKAGE", package)
    monkeypatch.setattr("sys.path", [str(site), str(tmp_path / "not there")])
    found = [answers._code.__wrapped__()]
    assert answers._code.__wrapped__() == found[0]
    write(package / "deep/a.py", "a = 2 ")
    found.append(answers._code.__wrapped__())
    write(package / "b.py", "")
    found.append(answers._code.__wrapped__())
    (site / "re2-1.0.dist-info").rename(site / "re2-1.1.dist-info")
    found.append(answers._code.__wrapped__())
    assert len(set(found)) == 4


@pytest.mark.parametrize("mode", [0o020, 0o002])
@pytest.mark.parametrize("at_folder", [True, False])
def test_a_file_that_others_can_write_does_not_count(cache: Path, mode: int, at_folder: bool) -> None:
    asked(Function([1]))
    place = files(cache)[0].parent if at_folder else files(cache)[0]
    place.chmod(place.stat().st_mode | mode)
    assert asked(Function([2])) == [2]


def test_a_file_of_another_user_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(Function([1]))
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    assert asked(Function([2])) == [2]


def test_what_is_no_file_is_not_read(cache: Path, tmp_path: Path) -> None:
    asked(Function([1]))
    file = files(cache)[0]
    moved = file.rename(tmp_path / "moved")
    for make_it in (lambda: file.symlink_to(moved), lambda: os.mkfifo(file)):
        make_it()
        assert asked(Function([2])) == [2]
        assert asked(Function([3])) == [2]
        file.unlink()
    with sqlite3.connect(moved) as rows:
        assert rows.execute("SELECT count(*) FROM answers").fetchall() == [(1,)]


def test_python_without_sqlite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "sqlite3", None)
    make = Function([1])
    assert [asked(make), asked(make)] == [[1], [1]]
    assert make.calls == 2


def test_a_program_inside_of_an_archive_keeps_none(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers._code.cache_clear()
    monkeypatch.setattr(answers, "PACKAGE", tmp_path / "program.pyz" / "crdcompat")
    assert [asked(Function([1])), asked(Function([2]))] == [[1], [2]]
    assert not files(cache)


def test_nowhere_to_keep_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "taken"))
    assert asked(Function([1])) == [1]
    assert (tmp_path / "taken").read_text() == "a file"


def test_a_run_that_has_asked_enough_asks_no_more(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    monkeypatch.setattr(answers, "_MAX_NEW", 3)
    run_of, make = Answers(), Function([1])
    with run_of.kept():
        for number in range(9):
            run_of.of("t", lambda number=number: json_of(number), list[int], make)  # type: ignore[misc]
    with sqlite3.connect(files(cache)[0]) as rows:
        assert rows.execute("SELECT count(*) FROM answers").fetchall() == [(3,)]


def test_a_large_file_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    asked(Function([1]))
    monkeypatch.setattr(answers, "_MAX_BYTES", 1000)
    assert asked(Function([2])) == [2]


def _ask(number: int) -> list[int]:
    return [asked(Function([each]), each)[0] for each in range(number, number + 15)]


def test_many_write_at_once() -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        assert pool.map(_ask, range(4)) == [[*range(number, number + 15)] for number in range(4)]


def test_a_server_is_another_one_with_another_crd() -> None:
    """Each part of a CRD and of a server on which an answer can depend is part of the question."""
    spec = {"v1": obj(a=string()), "v2": obj(a=string())}

    def made(scope: str = "Namespaced", served: bool = True, minor: int = 36, **schemas: Json) -> bytes:
        versions = [version(root(spec=part), name, storage=name == "v1") for name, part in (spec | schemas).items()]
        versions[1]["served"] = served
        document = crd(root(spec=spec["v1"]))
        document["spec"] |= {"versions": versions, "scope": scope}
        read = read_crd(document)
        return Resource(read, read.versions[0], Server(minor)).identity

    others = [made("Cluster"), made(served=False), made(minor=28), made(v1=obj(a={})), made(v2=obj(a={}))]
    assert len({made(), *others}) == 6
    assert made() == made()


# -- diff and matrix ---------------------------------------------------------------------------


@pytest.fixture
def releases(tmp_path: Path) -> Path:
    """Two releases with changes of each kind of judgement: enum, rule, list, refused CRD; a recorded cluster of NEW."""
    rule = {"x-kubernetes-validations": [{"rule": "self.size() < 3"}]}
    for name, phases, status in (("old", ("A",), {**string(), **rule}), ("new", ("A", "B"), string())):
        made = crd(root(spec=obj(a=string()), status=obj(p=string(*phases), q={**status, "maxLength": 9})))
        write(tmp_path / name / "w.yaml", made)
        other = crd(root(spec=obj(a={"type": "strange"})), kind="Other")
        write(tmp_path / name / "o.yaml", other)
    write(tmp_path / "recorded/w.yaml", made)
    held = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "c0nf1d", "namespace": "n"}}
    write(tmp_path / "recorded/object.yaml", {**held, "status": {"p": "B", "q": "c0nf1d"}})
    return tmp_path


_COMMANDS = {
    "diff": ("old", "new"),
    "matrix": ("old", "new"),
    "preflight": ("old", "--objects", "recorded"),
}


@pytest.mark.parametrize("command", _COMMANDS)
@pytest.mark.parametrize("form", ["json", "text"])
def test_a_report_is_the_same_with_them_and_without(releases: Path, cache: Path, command: str, form: str) -> None:
    options = (*_COMMANDS[command], "--format", form)
    without = run(command, *options, "--no-cache", cwd=releases)
    assert not files(cache)
    runs = [run(command, *options, cwd=releases) for _ in range(2)]
    (file,) = files(cache)
    assert b"c0nf1d" not in file.read_bytes()  # nothing of an object
    assert [(ran.code, ran.out) for ran in runs] == [(without.code, without.out)] * 2


def anew(*_: object, **__: object) -> None:
    raise AssertionError("asked anew")


def test_a_second_run_proves_nothing_anew(releases: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("diff", "old", "new", "--format", "json", cwd=releases)
    for name in (
        *("compare.witness._prove", "compare.witness._proves", "compare.comparison_cache.diff_schemas"),
        *("features.diff.ratcheting._answer", "apiserver.crd_validation.refusal._faults"),
    ):
        monkeypatch.setattr(f"crdcompat.{name}", anew)
    second = run("diff", "old", "new", "--format", "json", cwd=releases)
    assert (second.err, second.out) == (first.err, first.out)


def test_check_does_not_use_them(tmp_path: Path, cache: Path) -> None:
    """A check judges the work of others: what ran before it as the same user must not decide."""
    from helpers import commit, git

    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, {"w.yaml": crd(root(status=obj(p=string("A"))))})
    write(tmp_path / "w.yaml", crd(root(status=obj(p=string("A", "B")))))
    assert run("check", "--base", "HEAD", "--head", "worktree:", cwd=tmp_path).code == 1
    assert not files(cache)
