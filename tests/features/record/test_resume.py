"""record --resume: kinds that were finished are kept, the others are read."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from api_server import ApiServer
from helpers import Json, Run, crd, obj, run, string, write
from widgets import GADGET, NEW, WIDGETS, widget

pytest.importorskip("kubernetes")

GADGETS = "/apis/example.com/v1/gadgets"


@pytest.fixture
def broken(cluster: ApiServer) -> ApiServer:
    """A cluster of which Widgets could be recorded, and Gadgets could not: then it has other objects, and answers."""
    cluster.put(WIDGETS, [widget("before", spec={"mode": "c"})])
    cluster.refuse(GADGETS, 503)
    assert record().code == 2
    assert kinds() == {"Widget": ["before"]}
    cluster.put(WIDGETS, [widget("after", spec={"mode": "c"})])
    cluster.put(GADGETS, [{**widget("new", spec={"mode": "a"}), "kind": "Gadget"}])
    cluster.asked.clear()
    return cluster


def record(*more: str) -> Run:
    return run("record", *more, "--cluster", "prod", "-o", "r.json.gz" if "gz" in more else "r.json")


def kinds() -> dict[str, list[str]]:
    items: list[Json] = json.loads(Path("r.json").read_text())["items"]
    found: dict[str, list[str]] = {}
    for item in items:
        if item["kind"] in ("Widget", "Gadget"):
            found.setdefault(item["kind"], []).append(item["metadata"]["name"])
    return found


def listed(cluster: ApiServer) -> Counter[str]:
    paths = (each.partition("?")[0] for each in cluster.asked)
    return Counter(path for path in paths if path in (WIDGETS, GADGETS))


def test_finished_kinds_are_kept(broken: ApiServer) -> None:
    ran = record("--resume")
    assert (ran.code, kinds()) == (0, {"Widget": ["before"], "Gadget": ["new"]})
    assert "kept from the earlier run, as they were then: widgets.example.com\n" in ran.err
    assert listed(broken) == {GADGETS: 1}
    found = run("preflight", "old", "--objects", "r.json", "--all", "--format", "json").report
    assert (found["answer"], found["summary"]["objects"], found["missing"]) == ("no", 2, [])


def test_without_the_option_all_is_read(broken: ApiServer) -> None:
    assert record().code == 0
    assert (kinds(), listed(broken)) == ({"Widget": ["after"], "Gadget": ["new"]}, {WIDGETS: 1, GADGETS: 1})


def test_a_crd_that_changed_is_read_again(broken: ApiServer) -> None:
    broken.install(crd(GADGET, kind="Gadget"), crd(NEW))
    broken.put(WIDGETS, [widget("after", spec={"mode": "c"})])
    assert record("--resume").code == 0
    assert (kinds(), listed(broken)) == ({"Widget": ["after"]}, {WIDGETS: 1, GADGETS: 1})


def test_a_file_that_is_not_there_is_begun(cluster: ApiServer) -> None:
    ran = record("--resume")
    assert (ran.code, "kept" in ran.err) == (0, False)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("old",), "--resume: recording:r.json was made for all releases: name the same OLD"),
        (("--redact",), "--resume: recording:r.json has values that --redact hides: record anew"),
        (("--hash-names",), "--resume: --hash-names gives names other hashes in each run: record anew"),
    ],
)
def test_a_recording_that_does_not_fit(broken: ApiServer, more: tuple[str, ...], says: str) -> None:
    before = Path("r.json").read_bytes()
    ran = record("--resume", *more)
    assert (ran.code, ran.err, Path("r.json").read_bytes()) == (2, f"crdcompat: {says}\n", before)


def test_another_release(cluster: ApiServer) -> None:
    assert record("old").code == 0
    write(Path("other/widgets.json"), crd(obj(spec=obj(mode=string("a")))))
    said = "crdcompat: --resume: recording:r.json was made for old: name the same OLD\n"
    assert [record("--resume", *more).err for more in (("other",), ())] == [said, said]


def test_a_file_that_is_no_recording(cluster: ApiServer) -> None:
    write(Path("r.json"), {"apiVersion": "v1", "kind": "List", "items": []})
    ran = record("--resume")
    said = "crdcompat: --resume: recording:r.json is no recording of crdcompat record, or not whole\n"
    assert (ran.code, ran.err) == (2, said)
