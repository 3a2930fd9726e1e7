"""The files of record: each name that help and docs show is written and read, and no secret is in them."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest
from api_server import ApiServer
from helpers import Json, crd, obj, run, string, write
from offline import PROJECT
from widgets import WIDGETS, widget

from crdcompat.cli.help import EXAMPLES
from crdcompat.features.record.record_workflow import RECORDING_NAMES
from crdcompat.replay.judges import Replayer

pytest.importorskip("kubernetes")

TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJlLW9mLXRoZS10ZXN0"
APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def shown_names() -> list[str]:
    """The names of recordings in the help, in the documentation, and in the message that lists them."""
    texts = [*EXAMPLES["record"], *(path.read_text() for path in sorted(PROJECT.glob("docs/*.md")))]
    shown = [name for text in texts for name in re.findall(r"crdcompat record .*-o (\S+)", text)]
    return sorted({*shown, *(f"r{end}" for end in RECORDING_NAMES)})


def test_help_and_docs_show_both_forms() -> None:
    assert {name[name.index(".") :] for name in shown_names()} == {*RECORDING_NAMES}


@pytest.mark.parametrize("name", shown_names())
def test_a_recording_is_read_back(cluster: ApiServer, name: str) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c"}), widget("v", spec={"mode": "a"})])
    assert run("record", "old", "--cluster", "prod", "-o", name).code == 0
    data = Path(name).read_bytes()
    text = gzip.decompress(data) if name.endswith(".gz") else data
    assert [item["kind"] for item in json.loads(text)["items"]].count("Widget") == 2
    found = run("preflight", "old", "--objects", name, "--format", "json").report
    live = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    assert (found["answer"], found["summary"]["kinds"]) == (live["answer"], live["summary"]["kinds"])
    more = ("--kube-version", "1.29", "--format", "json")
    again = run("simulate", "old", f"recording:{name}", "--objects", name, *more).report
    assert again["summary"]["verdicts"] == {"rejected": 1, "unknown": 0, "loses-data": 0, "accepted": 1}
    assert again["summary"]["problems"] == []
    (only,) = run("simulate", "old", f"recording:{name}", "--fleet", name, "--jobs", "1", *more).report["clusters"]
    assert [each["verdict"] for each in only["targets"]] == ["blocked"]


@pytest.mark.parametrize("name", ["r.yaml", "r.json.zst", "r.tar.gz", "r"])
def test_a_name_that_nothing_reads_as_a_recording(cluster: ApiServer, name: str) -> None:
    ran = run("record", "old", "--cluster", "prod", "-o", name)
    said = f"crdcompat: -o {name}: a recording is a file called NAME.json or NAME.json.gz\n"
    assert (ran.code, ran.err, Path(name).exists(), cluster.asked) == (2, said, False, [])


def test_a_packed_recording_that_is_damaged(cluster: ApiServer) -> None:
    run("record", "old", "--cluster", "prod", "-o", "r.json.gz")
    Path("cut.json.gz").write_bytes(Path("r.json.gz").read_bytes()[:-9])
    found = run("preflight", "old", "--objects", "cut.json.gz", "--format", "json")
    assert (found.code, found.report["answer"]) == (2, "unknown")
    reasons = {each["reason"] for each in found.report["missing"]}
    assert "cut short: it ends in the middle" in reasons


def test_a_recording_that_is_too_large_to_be_read(cluster: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crdcompat.sources.files.MAX_FILE_BYTES", 100)
    ran = run("record", "--cluster", "prod", "-o", "r.json.gz")
    assert ran.code == 2
    assert "bytes unpacked, and no command reads more than 100" in ran.err


def test_secrets_are_not_recorded(cluster: ApiServer) -> None:
    """Neither with a release nor without one, and the answer stays the same."""
    spec = obj(mode=string("a", "b"), note=string(maxLength=3), extra=string())
    write(Path("old/widgets.json"), crd(obj(spec=spec)))
    cluster.install(crd(obj(spec=obj(mode=string(), note=string(), extra=string()))))
    held = widget("w", spec={"mode": "c", "note": TOKEN, "extra": TOKEN})
    held["metadata"]["annotations"] = {APPLIED: json.dumps({"spec": {"note": TOKEN}}), "kept": "yes"}
    cluster.put(WIDGETS, [held, widget("v", spec={"mode": "a", "note": "n"})])
    live = _answer("--cluster", "prod")
    for old in (("old",), ()):
        assert run("record", *old, "--cluster", "prod", "-o", "r.json").code == 0
        text = Path("r.json").read_text()
        assert (TOKEN in text, APPLIED in text) == (False, False)
        assert _answer("--objects", "r.json") == live
    notes = run("preflight", "old", "--objects", "r.json", "--format", "json").report["notes"]
    assert [note.partition(":")[0] for note in notes] == ["the recording hides names or values"]
    (kept, _) = [item for item in json.loads(text)["items"] if item["kind"] == "Widget"]
    assert (kept["metadata"]["annotations"], kept["spec"]["note"]) == ({"kept": "yes"}, "x" * len(TOKEN))


def test_without_secrets_all_is_recorded_and_nothing_hidden(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c"})])
    run("record", "--cluster", "prod", "-o", "r.json")
    found = run("preflight", "old", "--objects", "r.json", "--format", "json").report
    assert [step["patch"] is not None for step in found["steps"] if step["step"] == "patch"] == [True]


def _answer(*source: str) -> Json:
    found = run("preflight", "old", *source, "--format", "json").report
    return {"answer": found["answer"], "paths": [(each["path"], each["objects"]) for each in found["causes"]]}


def test_objects_with_times_are_recorded_with_values_hidden(cluster: ApiServer) -> None:
    parts = {"at": {"type": "string", "format": "date-time"}, "size": {"type": "integer", "minimum": 1}}
    old, new = (obj(spec={**obj(mode=mode, **parts), "required": [*parts]}) for mode in (string("a"), string()))
    write(Path("old/widgets.json"), crd({**old, "required": ["spec"]}))
    cluster.install(crd({**new, "required": ["spec"]}))
    spec = {"mode": "a", "at": "2024-05-06T07:08:09.5+02:00", "size": 7}
    cluster.put(WIDGETS, [widget("w", spec=spec)])
    assert run("record", "--redact", "--cluster", "prod", "-o", "r.json").code == 0
    (kept,) = [item for item in json.loads(Path("r.json").read_text())["items"] if item["kind"] == "Widget"]
    assert kept["spec"] == {"at": "1111-11-11T11:11:11.1+11:11", "size": 1}


def test_objects_that_are_equal_once_hidden_are_tried_once(cluster: ApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
    count = 40
    cluster.put(WIDGETS, [widget(f"w{n}", spec={"mode": "c", "size": n}) for n in range(count)])
    replayed: list[Json] = []
    whole = Replayer.replay_once
    monkeypatch.setattr(
        Replayer,
        "replay_once",
        lambda self, item, seen: replayed.append(item.data) or whole(self, item, seen),
    )
    assert run("record", "old", "--redact", "--hash-names", "--cluster", "prod", "-o", "r.json").code == 0
    assert len(replayed) == count + 1
