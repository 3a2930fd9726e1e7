"""judge --requests: every line has an answer, whatever fails, and every answer is JSON as soon as it is made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest
from helpers import Json, Run, crd, obj, root, run, string, write

from crdcompat.features.judge import batch
from crdcompat.render.any_json import dumped


@pytest.fixture
def world(tmp_path: Path) -> Path:
    write(tmp_path / "crd.json", crd(root(spec={**obj(v=string("A")), "x-kubernetes-preserve-unknown-fields": True})))
    return tmp_path


def _write(spec: Any, **more: Any) -> Json:
    new = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}, "spec": spec}
    return {"id": "good", "crd": "crd.json", "kube": "1.31", "new": new, **more}


def _asked(world: Path, *lines: Any) -> tuple[Run, list[Json]]:
    text = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    ran = run("judge", "--requests", "-", cwd=world, stdin=text)
    assert ran.err == ""
    return ran, [json.loads(line, parse_constant=pytest.fail) for line in ran.out.split("\n") if line]


def test_a_request_names_the_manager_that_applies(world: Path) -> None:
    entry = {"manager": "a", "operation": "Apply", "apiVersion": "example.com/v1", "fieldsV1": {"f:spec": {"f:v": {}}}}
    apply: Json = {**_write({"w": 1}, op="apply", kube="1.28"), "old": _write({"v": "B", "w": 1})["new"]}
    apply["old"]["metadata"] = {**apply["old"]["metadata"], "managedFields": [entry]}
    sent = {**apply, "new": _write({"v": "A", "w": 1})["new"]}
    lines = [apply, {**apply, "manager": "a"}, {**sent, "manager": "b"}, {**sent, "manager": "b", "force": True}]
    _, answers = _asked(world, *lines, {**apply, "manager": 1}, {**apply, "manager": "a", "force": "yes"})
    # The value that the schema rejects stays for a stranger, and goes with what its owner no longer sends.
    assert [answer.get("code") for answer in answers[:4]] == [422, 200, 409, 200]
    said = "the request's `manager` is not a string, or `force` is not true or false"
    assert [answer["unknown"] for answer in answers[4:]] == 2 * [[{"field": "", "what": "request", "reason": said}]]


#: Rules of which a server shows itself, a list or a pointer as the bad value.
_REFUSED = (
    string(**{"x-kubernetes-validations": [{"rule": "self.a"}]}),
    string(**{"x-kubernetes-validations": [{"rule": "", "message": "\u2028\x7f"}]}),
    string(**{"x-kubernetes-validations": [{"rule": "tru", "message": "\u2029"}]}),
    {"type": "array", "items": string(), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["a"]},
    {"type": "number", "minimum": 10**30, "default": "x"},
)


@pytest.mark.parametrize("kubernetes", ["1.26", "1.31", "1.36"])
@pytest.mark.parametrize("index", range(len(_REFUSED)))
def test_a_crd_that_is_refused_is_answered_in_json(world: Path, index: int, kubernetes: str) -> None:
    """The bad values of these refusals are Go structs, lists and pointers."""
    new = crd(root(spec=obj(v=_REFUSED[index])))
    write(world / "refused.json", new)
    ran, (answer,) = _asked(world, {"id": 1, "op": "createCRD", "kube": kubernetes, "new": new})
    assert (ran.code, answer["accepted"], answer["code"]) == (0, False, 422)
    assert answer["errors"]
    alone = run("judge", "refused.json", "--kube-version", kubernetes, "--format", "json", cwd=world)
    assert alone.code == 1
    assert [error["text"] for error in json.loads(alone.out)["errors"]] == [error["text"] for error in answer["errors"]]


def test_a_struct_is_shown_as_json(world: Path) -> None:
    new = crd(root(spec=obj(v=_REFUSED[0])))
    _, (answer,) = _asked(world, {"id": 1, "op": "createCRD", "kube": "1.36", "new": new})
    nothing: Json = {"Message": "", "MessageExpression": "", "Reason": None, "FieldPath": "", "OptionalOldSelf": None}
    assert [error["value"] for error in answer["errors"]] == [{"Rule": "self.a", **nothing}]


_DEEP = b'{"id": "deep", "crd": "crd.json", "new": ' + b'{"a":' * 900 + b"1" + b"}" * 900 + b"}"
_DEEP_ID = b'{"id": ' + b"[" * 900 + b"]" * 900 + b', "crd": "missing.json", "new": {}}'


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"nonsense", "line 1 is not JSON"),
        (b"\xff\xfe{}", "line 1 is not JSON"),
        (b"[" * 100_000, "line 1 is not JSON"),
        (_write({}, crd="missing.json"), "missing.json"),
        (_write({}, crd="bad\0name"), "bad"),
        (_write({}, crd="-"), "the request's `crd` is standard input, which may hold the requests: name a file"),
        (_DEEP, "deep"),
        (_DEEP_ID, "missing.json"),
        (b"x" * (batch.MAX_LINE + 1), f"line 1 is longer than {batch.MAX_LINE} bytes"),
        (b"x" * (3 * batch.MAX_LINE), f"line 1 is longer than {batch.MAX_LINE} bytes"),
    ],
    ids=["text", "bytes", "brackets", "missing", "name", "input", "deep", "deep id", "long", "longer"],
)
def test_a_line_that_fails_is_answered_and_ends_nothing(world: Path, line: Any, reason: str) -> None:
    ran, answers = _asked(world, line, _write({"v": "A"}))
    assert ran.code == 2
    failed, good = answers
    assert (failed["accepted"], failed["result"], [each["what"] for each in failed["unknown"]]) == (
        None,
        None,
        ["request"],
    )
    assert reason in failed["unknown"][0]["reason"]
    assert (good["id"], good["accepted"]) == ("good", True)


@pytest.mark.parametrize("error", [TypeError("odd"), RecursionError(), MemoryError(), ZeroDivisionError("a\nb")])
def test_a_crash_inside_is_answered_and_ends_nothing(
    world: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    original = batch.judge_write

    def crashing(resource: Any, operation: str, new: Any, old: Any, **more: Any) -> Any:
        if new["spec"].get("crash"):
            raise error
        return original(resource, operation, new, old, **more)

    monkeypatch.setattr(batch, "judge_write", crashing)
    ran, answers = _asked(world, _write({"crash": 1}, id=1), _write({}, id=2))
    assert ran.code == 2
    assert [(answer["id"], answer["accepted"]) for answer in answers] == [(1, None), (2, True)]
    assert len(answers[0]["unknown"]) == 1
    assert ("report it" in answers[0]["unknown"][0]["reason"]) == isinstance(error, TypeError | ZeroDivisionError)


def test_an_object_that_is_not_judged_is_exit_2(world: Path) -> None:
    """A rule that cannot be judged leaves the verdict open, in a batch as in a single answer."""
    rule = {"x-kubernetes-validations": [{"rule": "self + self == self"}]}
    listed = {"type": "array", "items": {"type": "string", "maxLength": 2}, "maxItems": 2, **rule}
    write(world / "set.json", crd(root(spec=obj(v={**listed, "x-kubernetes-list-type": "set"}))))
    ran, (answer,) = _asked(world, _write({"v": ["a"]}, crd="set.json"))
    assert (ran.code, answer["accepted"]) == (2, None)
    assert answer["unknown"][0]["field"] == "spec.v"


def test_each_answer_is_there_before_the_next_line(world: Path) -> None:
    """A program at the other end may wait for an answer before it asks again."""
    command = [sys.executable, "-m", "crdcompat", "judge", "--requests", "-"]
    with subprocess.Popen(command, cwd=world, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        for name in ("first", "second"):
            process.stdin.write(json.dumps(_write({}, id=name)).encode() + b"\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == name
        process.stdin.close()
        assert process.wait() == 0


# -- values that no report may fail for ---------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**64, str(2**64)),
        (-(10**400), f"-1{'0' * 400}"),
        ([float("nan"), float("inf"), 1.5, 2**70], f"[null,null,1.5,{2**70}]"),
        ("a\ud800b", '"a\ufffdb"'),
        ({1: None, False: 2, None: (1, b"\xff")}, '{"1":null,"false":2,"null":[1,"\ufffd"]}'),
        ({"b": 2**64, "a": 0}, f'{{"b":{2**64},"a":0}}'),
    ],
)
def test_values_that_orjson_refuses(value: Any, text: str) -> None:
    assert dumped(value) == text


def test_the_options_of_orjson() -> None:
    value = {"b": [1, {}], "a": "ü"}
    for option in (0, orjson.OPT_INDENT_2, orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE):
        assert dumped(value, option) == orjson.dumps(value, option=option).decode()
