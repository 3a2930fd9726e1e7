"""Values of recorded and judged objects are hidden where others read the report, and with ``--redact`` everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fleets
import pytest
from helpers import Json, array, crd, obj, root, run, string, write

from crdcompat.models.redaction import NOTE
from crdcompat.render.formats import format_names, formats_of
from crdcompat.render.write import PUBLISHED
from crdcompat.vocabulary import HIDDEN

#: Each value that holds this mark is confidential.
MARK = "c0nf1d"
_RULES = [{"rule": "self.a == 'x'", "messageExpression": "'a is ' + self.a"}]


def _schema(*, strict: bool) -> Json:
    """Fields of every kind; ``strict``: each with a keyword that an object with confidential values breaks."""

    def limited(name: str, value: Any) -> Json:
        return {name: value} if strict else {}

    spec = obj(
        token=string(**limited("pattern", "^[a-z]+$")),
        long=string(**limited("maxLength", 5)),
        when=string(**limited("format", "date-time")),
        number={"type": "integer", **limited("maximum", 5)},
        counted=array(string(), **limited("maxItems", 1)),
        doubled={**array(string()), **limited("x-kubernetes-list-type", "set")},
        either=string(**limited("anyOf", [{"pattern": "^a"}, {"pattern": "^b"}])),
        ruled={**obj(a=string()), **limited("x-kubernetes-validations", _RULES)},
        typed={"type": "string", **limited("enum", ["x"])},
        password=string("public", *([] if strict else ["internal"])),
        nested=array(obj(secretName=string(**limited("minLength", 90)), kind=string("A", *([] if strict else ["B"])))),
    )
    return root(spec=spec, status=obj(p=string("A", *([] if strict else ["B"]))))


VALUES = {
    "token": f"{MARK}-1",
    "long": f"{MARK}-22",
    "when": f"{MARK}-3",
    "number": 31415926,
    "counted": [f"{MARK}-4", f"{MARK}-5"],
    "doubled": [f"{MARK}-6", f"{MARK}-6"],
    "either": f"{MARK}-7",
    "ruled": {"a": f"{MARK}-8"},
    "typed": f"{MARK}-9",
    "password": "internal",
    "nested": [{"secretName": f"{MARK}-10", "kind": "B"}],
}
OBJECT = {**fleets.widget("one"), "spec": VALUES, "status": {"p": "B"}}
#: One value at a time: no error hides another, and the rule runs.
OBJECTS = [
    OBJECT,
    *({**fleets.widget(f"w-{name}"), "spec": {name: held}, "status": {}} for name, held in VALUES.items()),
]


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path, Path]:
    """OLD, NEW, and recorded objects that NEW accepts and OLD rejects."""
    for side in ("1.1", "1.2"):
        write(tmp_path / side / "w.json", json.dumps(crd(_schema(strict=side == "1.1"))))
    objects = write(tmp_path / "objects.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": OBJECTS}))
    return tmp_path / "1.1", tmp_path / "1.2", objects


#: The kind of report that each command makes.
_KINDS = ("simulation", "simulation", "diff", "matrix", "fleet")


def _commands(sides: tuple[Path, Path, Path], top: Path) -> Iterator[list[Any]]:
    old, new, objects = sides
    fleets.gather(top / "fleet/1.tar.gz", *OBJECTS, fleets.cluster_version(fleets.uuid(1)))
    yield ["simulate", old, new, "--objects", objects, "-v"]
    yield ["simulate", old, new, "--objects", objects, "--kube-version", "1.26", "-v"]
    yield ["diff", old, new, "--objects", objects, "-v"]
    yield ["matrix", f"path:{old}", f"path:{new}", "--objects", objects]
    yield ["simulate", old, new, "--fleet", top / "fleet", "--jobs", "1", "-v"]


def test_no_format_publishes_a_value(sides: tuple[Path, Path, Path], tmp_path: Path) -> None:
    hides = set()
    for command, kind in zip(_commands(sides, tmp_path), _KINDS, strict=True):
        names = formats_of(kind)
        written = [_written(tmp_path, command, names, *more) for more in (["--no-redact"], ["--redact"], [])]
        for name, shown, redacted, usual in zip(names, *written, strict=True):
            assert MARK not in redacted, (command, name, _around(redacted))
            assert "31415926" not in redacted
            assert usual == (redacted if name in PUBLISHED else shown)
            if MARK in shown:
                hides.add((command[0], name))
                assert "hidden" in redacted
            if name == "json":
                assert json.loads(redacted)["old"]
    shows_none = ("changelog", "csv", "statistics")
    assert {("simulate", name) for name in format_names() if name not in shows_none} <= hides


def _written(top: Path, command: list[Any], names: list[str], *more: str) -> list[str]:
    """What one run writes in each of the formats."""
    files = [top / f"report.{name}" for name in names]
    formats = [word for name, file in zip(names, files, strict=True) for word in ("--format", f"{name}={file}")]
    ran = run(*command, *formats, *more)
    assert (ran.code, MARK in ran.out + ran.err) == (1, False), (command, ran.err)
    return [file.read_text(encoding="utf-8") for file in files]


def _around(text: str) -> str:
    at = text.find(MARK)
    return text[max(0, at - 300) : at + 80]


def test_members_of_enums_stay(sides: tuple[Path, Path, Path]) -> None:
    old, new, objects = sides
    report = run("simulate", old, new, "--objects", objects, "--format", "json", "--redact").report
    causes = {cause["path"]: cause["values"] for cause in report["summary"]["causes"]}
    assert causes["status.p"] == ["B"]
    assert causes["spec.nested[*].kind"] == ["B"]
    assert causes["spec.typed"] == [HIDDEN]
    assert causes["spec.password"] == [HIDDEN]  # a member, but of a field that is named like a secret
    (item,) = (item for item in report["objects"] if item["object"]["name"] == "one")
    write = item["writes"]["create"]
    said = {error["field"]: error["text"] for error in write["errors"]}
    assert said["spec.token"] == f"spec.token: Invalid value: \"{HIDDEN}\": spec.token in body should match '^[a-z]+$'"
    assert said["spec.counted"] == "spec.counted: Too many: 2: must have at most 1 item"
    texts = dict.fromkeys(error["text"] for error in write["errors"])
    assert write["message"] == f'Widget.example.com "one" is invalid: [{", ".join(texts)}]'
    assert any("--no-redact" in note for note in report["notes"])
    assert MARK not in json.dumps(item["repair"])


def test_unexplained_errors(sides: tuple[Path, Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.findings.recorded_evidence._explains", lambda finding, fact: False)
    old, new, objects = sides
    for name, more, shows in (("json", [], True), ("json", ["--redact"], False), ("sarif", [], False)):
        out = run("diff", old, new, "--objects", objects, "--format", name, *more).out
        assert (f'Invalid value: \\"{MARK}-1\\"' in out, f'Invalid value: \\"{HIDDEN}\\"' in out) == (shows, not shows)
        assert shows or MARK not in out
    for name in ("text", "markdown", "html"):
        for more, hides in (["--redact"], True), (["--no-redact"], False):
            ran = run("diff", old, new, "--objects", objects, "--format", name, *more)
            assert (NOTE.replace("(--no-redact", "(\\-\\-no-redact") in ran.out or NOTE in ran.out) is hides
            assert (MARK in ran.out) is not hides
    fine = write(tmp_path / "fine.json", fleets.widget("fine"))
    assert NOTE not in run("diff", old, new, "--objects", fine, "--redact").out


def test_judge(sides: tuple[Path, Path, Path], tmp_path: Path) -> None:
    old, new, _ = sides
    file = write(tmp_path / "object.json", json.dumps(OBJECT))
    for side, code in ((old, 1), (new, 0)):
        args = ("judge", side / "w.json", file, "--op", "validate", "--kube-version", "1.31")
        for more in ([], ["--format", "json"]):
            ran = run(*args, *more, "--redact")
            assert ran.code == code
            assert MARK not in ran.out, _around(ran.out)
        request = {"id": 1, "crd": str(side / "w.json"), "op": "validate", "kube": "1.31", "new": OBJECT}
        ran = run("judge", "--requests", "-", "--redact", stdin=json.dumps(request).encode())
        assert ran.code == 0
        assert MARK not in ran.out
    result = json.loads(ran.out)["result"]
    assert (result["kind"], result["metadata"]["name"], result["status"]) == ("Widget", "one", {"p": "B"})
    assert result["spec"]["nested"] == [{"secretName": HIDDEN, "kind": "B"}]


def test_a_failed_apply_shows_no_value(tmp_path: Path) -> None:
    for side, kind in (("1.1", "string"), ("1.2", "integer")):
        write(tmp_path / side / "w.json", json.dumps(crd(root(spec=obj(a={"type": kind})))))
    item = {**fleets.widget("one"), "spec": {"a": 31415926}}
    objects = write(tmp_path / "objects.json", json.dumps(item))
    args = ("simulate", tmp_path / "1.1", tmp_path / "1.2", "--objects", objects, "--format", "json")
    shown, redacted = (run(*args, more).report["objects"][0]["writes"] for more in ("--no-redact", "--redact"))
    assert "31415926" in shown["apply"]["message"]
    assert redacted["apply"]["message"].endswith(f": {HIDDEN}")
    assert redacted["status-update"] == shown["status-update"]  # it shows a type
