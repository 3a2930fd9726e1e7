"""judge through the command line: one write, many requests, exit codes, and what cannot be judged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, Run, crd, obj, root, run, spawn, string, version, write

from crdcompat.features.judge.stored import MAX_DIFFERING


@pytest.fixture
def world(tmp_path: Path) -> Path:
    spec = obj(v=string("A"), size={"type": "integer", "default": 3})
    schema = root(spec=spec, status=obj(p=string("X")))
    write(tmp_path / "crd.yaml", crd(schema))
    for name, body in {
        "good": {"spec": {"v": "A"}},
        "bad": {"spec": {"v": "B", "unknown": 1}},
        "badstatus": {"spec": {"v": "A"}, "status": {"p": "Y"}},
    }.items():
        write(tmp_path / f"{name}.json", widget(body))
    return tmp_path


def widget(body: Json) -> Json:
    meta = {"name": "a", "namespace": "default", "resourceVersion": "1"}
    return {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": meta, **body}


def judged(world: Path, *args: str) -> tuple[int, Json]:
    ran = run("judge", "crd.yaml", *args, "--format", "json", cwd=world)
    return ran.code, json.loads(ran.out)


ASSUMED = "Kubernetes 1.36, the newest known version (--kube-version or --openshift-version sets it)"


def test_accepted(world: Path) -> None:
    code, reported = judged(world, "good.json")
    assert code == 0
    assert reported["accepted"] is True
    assert reported["result"]["spec"] == {"v": "A", "size": 3}
    assert reported["defaulted_paths"] == ["spec.size"]
    assert (reported["errors"], reported["aggregate"], reported["unknown"]) == ([], "", [])


def test_without_a_version_the_newest_judges_and_says_so(world: Path) -> None:
    ran = run("judge", "crd.yaml", "good.json", cwd=world)
    assert (ran.out.partition("\n")[0], ran.err) == (f"ACCEPTED by {ASSUMED}", "")
    as_json = run("judge", "crd.yaml", "good.json", "--format", "json", cwd=world)
    assert as_json.err == f"crdcompat: judged by {ASSUMED}\n"
    named = run("judge", "crd.yaml", "good.json", "--kube-version", "1.31", cwd=world)
    assert (named.out.partition("\n")[0], named.err) == ("ACCEPTED by Kubernetes 1.31", "")


def test_rejected(world: Path) -> None:
    code, reported = judged(world, "bad.json", "--kube-version", "1.26")
    assert code == 1
    text = 'spec.v: Unsupported value: "B": supported values: "A"'
    assert reported["aggregate"] == f'Widget.example.com "a" is invalid: {text}'
    (error,) = reported["errors"]
    assert error == {
        "type": "FieldValueNotSupported", "field": "spec.v", "value": "B", "detail": 'supported values: "A"',
        "text": text,
    }  # fmt: skip
    assert reported["pruned_paths"] == ["spec.unknown"]
    assert reported["result"] is None


def test_text_says_the_message_and_what_is_pruned(world: Path) -> None:
    ran = run("judge", "crd.yaml", "bad.json", "--openshift-version", "4.13", cwd=world)
    assert ran.code == 1
    assert ran.out.splitlines()[0] == "REJECTED by OpenShift 4.13 (Kubernetes 1.26): 1 error"
    assert 'Widget.example.com "a" is invalid: spec.v: Unsupported value: "B"' in ran.out
    assert "pruned: spec.unknown" in ran.out


@pytest.mark.parametrize(
    ("op", "kubernetes", "code"),
    [
        ("create", "1.31", 0),  # a create drops status
        ("validate", "1.31", 1),
        ("update", "1.26", 1),
        ("update", "1.30", 0),
        ("updateStatus", "1.30", 1),
        ("updateStatus", "1.33", 0),
    ],
)
def test_operations(world: Path, op: str, kubernetes: str, code: int) -> None:
    args = ("badstatus.json", "--op", op, "--kube-version", kubernetes)
    old = ("--old", "badstatus.json") if op.startswith("update") else ()
    assert judged(world, *args, *old)[0] == code


@pytest.mark.parametrize(("option", "code"), [("--ratcheting", 0), ("--no-ratcheting", 1)])
def test_the_gate_by_hand(world: Path, option: str, code: int) -> None:
    args = ("bad.json", "--op", "update", "--old", "bad.json", "--kube-version", "1.29", option)
    assert judged(world, *args)[0] == code


def test_standard_input(world: Path) -> None:
    ran = run("judge", "crd.yaml", "-", cwd=world, stdin=(world / "bad.json").read_bytes())
    assert ran.code == 1


def test_the_crd_of_the_kind_is_taken_from_a_file_with_several(world: Path) -> None:
    write(world / "several.yaml", {"kind": "ConfigMap"}, crd(root(), kind="Gadget"), crd(root(spec=obj(v=string("Q")))))
    ran = run("judge", "several.yaml", "good.json", "--format", "json", cwd=world)
    assert ran.code == 1
    assert json.loads(ran.out)["errors"][0]["detail"] == 'supported values: "Q"'


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((), "judge needs a CRD file, and an object file to judge an object"),
        (("crd.yaml", "--op", "update"), "--op and --version are about an object"),
        (("crd.yaml", "--version", "v1"), "--op and --version are about an object"),
        (("good.json",), "judge takes one CustomResourceDefinition, there are 0"),
        (("crd.yaml", "missing.json"), "missing.json"),
        (("missing.yaml", "good.json"), "missing.yaml"),
        (("good.json", "good.json"), "CustomResourceDefinition"),
        (("crd.yaml", "good.json", "--version", "v7"), "v7"),
        (("crd.yaml", "good.json", "--op", "update"), "old"),
        (("crd.yaml", "good.json", "--op", "delete"), "delete"),
        (("crd.yaml", "good.json", "--kube-version", "2"), "'2'"),
        (("crd.yaml", "two.yaml"), "one object"),
        (("crd.yaml", "broken.yaml"), "broken.yaml:"),
        (("crd.yaml", "list.json"), "list.json"),
    ],
)
def test_what_cannot_be_judged(world: Path, args: tuple[str, ...], expected: str) -> None:
    write(world / "two.yaml", {"a": 1}, {"b": 2})
    write(world / "broken.yaml", "a: 1\nb: [1\n")
    write(world / "list.json", "[1, 2]")
    ran = run("judge", *args, cwd=world)
    assert (ran.code, ran.out) == (2, "")
    assert expected in ran.err
    assert "Traceback" not in ran.err


def test_a_rule_that_cannot_be_judged_is_unknown(world: Path) -> None:
    rule = {"x-kubernetes-validations": [{"rule": "self == ipMask('10.0.0.0/8')"}]}
    write(world / "odd.yaml", crd(root(spec=obj(v=string(**rule)))))
    ran = run("judge", "odd.yaml", "good.json", "--format", "json", cwd=world)
    reported = json.loads(ran.out)
    # The answer is unknown, or the server's own compile error: never "accepted".
    assert ran.code in (1, 2)
    assert reported["accepted"] is not True


# -- many requests ---------------------------------------------


def requests(world: Path, *lines: Any) -> tuple[Run, list[Json]]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    ran = run("judge", "--requests", "-", cwd=world, stdin=text.encode())
    return ran, [json.loads(line) for line in ran.out.splitlines()]


def test_one_answer_a_line_in_order(world: Path) -> None:
    ask = {"crd": "crd.yaml", "version": "v1", "op": "create", "kube": "1.31"}
    ran, reported = requests(
        world,
        {"id": "b", **ask, "new": widget({"spec": {"v": "B"}})},
        {"id": "a", **ask, "new": widget({"spec": {"v": "A"}})},
        "",
        {"id": 3, **ask, "kube": "openshift-4.13", "new": widget({"spec": {"zz": 1}})},
    )
    assert ran.code == 0
    assert [line["id"] for line in reported] == ["b", "a", 3]
    assert [line["accepted"] for line in reported] == [False, True, True]
    assert reported[2]["pruned_paths"] == ["spec.zz"]
    keys = {"id", "errors", "aggregate", "result", "pruned_paths", "defaulted_paths", "unknown"}
    assert all(keys <= line.keys() for line in reported)


def test_requests_from_a_file(world: Path) -> None:
    line = {"id": 1, "crd": "crd.yaml", "new": widget({"spec": {"v": "A"}})}
    path = write(world / "r.ndjson", json.dumps(line) + "\n")
    ran = run("judge", "--requests", path, cwd=world)
    assert (ran.code, json.loads(ran.out)["accepted"]) == (0, True)
    missing = run("judge", "--requests", "none.ndjson", cwd=world)
    assert missing.code == 2
    assert "none.ndjson" in missing.err


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[1]",
        {"id": 1},
        {"id": 1, "crd": "missing.yaml", "new": {}},
        {"id": 1, "crd": "crd.yaml", "op": "update", "new": {}},
        {"id": 1, "crd": "crd.yaml", "op": "explode", "new": {}},
        {"id": 1, "crd": "crd.yaml", "kube": "9.9", "new": {}},
        {"id": 1, "crd": "crd.yaml", "new": 5},
        {"id": 1, "crd": "crd.yaml", "version": "v7", "new": {}},
        {"id": 1, "crd": "crd.yaml", "op": ["create"], "new": {}},
        {"id": 1, "crd": "crd.yaml", "version": 3, "new": {}},
        {"id": 1, "crd": "crd.yaml", "op": "update", "new": {}, "old": []},
        '{"id": 1, "crd": "crd.yaml", "new": {"a": 1',
        "{}",
        "null",
    ],
    ids=str,
)
def test_a_bad_request_is_answered_as_one_and_the_next_one_too(world: Path, line: Any) -> None:
    good = {"id": 2, "crd": "crd.yaml", "new": widget({"spec": {"v": "A"}})}
    ran, reported = requests(world, line, good)
    assert ran.code == 2
    assert len(reported) == 2, ran.err
    assert reported[0]["unknown"]
    assert reported[0]["unknown"][0]["reason"]
    assert (reported[1]["id"], reported[1]["accepted"]) == (2, True)


def test_integers_beyond_int64_are_floats(world: Path) -> None:
    write(world / "n.yaml", crd(root(spec=obj(x={"type": "number"}))))
    _, reported = requests(world, {"id": 1, "crd": "n.yaml", "new": widget({"spec": {"x": 2**63}})})
    assert reported[0]["accepted"] is True


def test_ratcheting_of_a_request(world: Path) -> None:
    bad = widget({"spec": {"v": "B"}})
    ask = {"crd": "crd.yaml", "op": "update", "kube": "1.29", "old": bad, "new": bad}
    _, reported = requests(world, *({"id": n, **ask, "ratcheting": flag} for n, flag in enumerate((True, False, None))))
    assert [line["accepted"] for line in reported] == [True, False, False]


def test_as_a_process(world: Path) -> None:
    ran = spawn("judge", "crd.yaml", "bad.json", cwd=world)
    assert ran.code == 1
    assert ran.out.startswith(f"REJECTED by {ASSUMED}: 1 error\n")
    assert ran.err == ""


def test_a_long_answer_is_a_line_for_each_error(world: Path) -> None:
    """The whole message is there with -v, and so is what judged which write."""
    values = [f"value-{number:02}" for number in range(30)]
    write(world / "crd.yaml", crd(root(spec=obj(a=string(*values), b=string(*values)))))
    write(world / "new.json", widget({"spec": {"a": "x", "b": "y"}}))
    usual, more = (run("judge", "crd.yaml", "new.json", *args, cwd=world).out.splitlines() for args in ((), ("-v",)))
    assert usual[0] == f"REJECTED by {ASSUMED}: 2 errors"
    assert usual[1] == '  create of Widget "a", widgets.example.com/v1'
    assert [line[:30] for line in usual if "Unsupported value" in line] == [
        "    spec.a: Unsupported value:",
        "    spec.b: Unsupported value:",
    ]
    assert max(map(len, usual)) <= 120
    assert more[2].startswith('  API server: Widget.example.com "a" is invalid: [spec.a: ') and len(more[2]) > 200


BESIDES = "  changed besides: "


def _lines(world: Path, *args: str) -> list[str]:
    ran = run("judge", "crd.yaml", *args, cwd=world)
    assert ran.code == 0, ran.err
    return ran.out.splitlines()


def test_text_says_what_else_the_server_changed(world: Path) -> None:
    lines = _lines(world, "badstatus.json")
    dropped = "  note: a create drops the status, so it was not judged (--op validate judges it)"
    assert lines[2:] == ["  set by default: spec.size", f"{BESIDES}status (removed)", dropped]
    assert dropped not in _lines(world, "good.json")


@pytest.mark.parametrize(
    ("op", "sent", "stored", "besides"),
    [
        ("create", {"spec": {"v": None, "zz": None, "__a": 1}}, None, "spec.v (removed)"),
        ("validate", {"status": {"p": "X"}}, None, ""),
        ("update", {"spec": {"size": 3}}, {"spec": {"size": 3}, "status": {"p": "X"}}, "status (added)"),
        ("updateStatus", {"spec": {"v": "A"}}, {"spec": {"v": "A", "size": 4}}, "spec.size (changed)"),
        ("mergePatch", {"spec": {"size": 5}}, {"spec": {"v": "A"}}, ""),
    ],
)
def test_what_else_changed(world: Path, op: str, sent: Json, stored: Json | None, besides: str) -> None:
    whole = op != "mergePatch"
    write(world / "new.json", widget(sent) if whole else sent)
    old = []
    if stored is not None:
        write(world / "old.json", widget(stored))
        old = ["--old", "old.json"]
    version = [] if whole else ["--version", "v1"]
    lines = [line for line in _lines(world, "new.json", "--op", op, *old, *version) if line.startswith(BESIDES)]
    assert lines == ([BESIDES + besides] if besides else [])


def test_of_many_changes_some_are_named_and_all_counted(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.features.judge.one_write._MAX_CHANGES", 1)
    write(world / "new.json", widget({"spec": {"v": None}, "status": {"p": "X"}}))
    (line,) = (line for line in _lines(world, "new.json") if line.startswith(BESIDES))
    assert line == f"{BESIDES}spec.v (removed) and 1 more"


def test_more_changes_than_are_looked_at(world: Path) -> None:
    open_map = {"type": "object", "additionalProperties": {"type": "string"}}
    write(world / "crd.yaml", crd(root(spec=obj(m=open_map))))
    write(world / "new.json", widget({"spec": {"m": {f"k{n}": None for n in range(MAX_DIFFERING + 1)}}}))
    (line,) = [line for line in _lines(world, "new.json") if line.startswith(BESIDES)]
    assert line.endswith(f" and at least {MAX_DIFFERING - 50} more")


def test_what_else_changed_is_escaped(world: Path) -> None:
    open_map = {"type": "object", "additionalProperties": {"type": "string"}}
    write(world / "crd.yaml", crd(root(spec=obj(m=open_map))))
    write(world / "new.json", widget({"spec": {"m": {"\u001b[31m": None}}}))
    (line,) = [line for line in _lines(world, "new.json") if line.startswith(BESIDES)]
    assert "\u001b" not in line and line.endswith("[31m (removed)")


def test_deepdiff_is_imported_only_for_what_else_changed(world: Path) -> None:
    code = "import sys; from crdcompat.__main__ import main\ntry: main()\nfinally: print('deepdiff' in sys.modules)"
    write(world / "extra.json", widget({"spec": {"v": "A", "zz": 1}}))
    for name, loaded in (("extra", "False"), ("badstatus", "True")):
        words = [sys.executable, "-c", code, "judge", "crd.yaml", f"{name}.json"]
        done = subprocess.run(words, cwd=world, text=True, capture_output=True)
        assert done.stdout.splitlines()[-1] == loaded, done.stderr


@pytest.mark.parametrize("served", [True, False])
def test_a_version_that_is_not_served(tmp_path: Path, served: bool) -> None:
    """The server answers 404 before it reads the object; ``validate`` asks the schema alone."""
    one = version(obj(spec=obj(size={"type": "integer"})))
    file = write(
        tmp_path / "crd.json", crd(versions=[one, version(obj(spec=obj()), "v2", storage=False, served=served)])
    )
    sent = {"apiVersion": "example.com/v2", "kind": "Widget", "metadata": {"name": "a", "namespace": "b"}}
    asked = [
        {"id": op, "crd": str(file), "version": "v2", "op": op, "kube": "1.31", "new": sent}
        for op in ("create", "validate")
    ]
    answers = run("judge", "--requests", "-", stdin="\n".join(map(json.dumps, asked)).encode()).out.splitlines()
    found = [(answer["accepted"], answer["code"], answer["aggregate"]) for answer in map(json.loads, answers)]
    not_found = (False, 404, "the server could not find the requested resource")
    assert found == [(True, 200, "") if served else not_found, (True, 200, "")]
    assert run("judge", file, write(tmp_path / "new.json", sent)).code == (0 if served else 1)
