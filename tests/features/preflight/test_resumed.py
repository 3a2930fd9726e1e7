"""preflight --resume: kinds that were read to the end are kept, and the answer is that of an unbroken run."""

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
FILE = "read.ndjson"
_REJECTED = widget("w", "operator", spec={"mode": "c"}, status={"phase": "Paused"})
_LOSES = widget("x", spec={"mode": "a", "size": 3})
_FINE = [widget(f"y{number:04}", spec={"mode": "a"}) for number in range(700)]
_KEPT = f"kept from an earlier run, as they were then: widgets.example.com ({FILE})"


def _gadget(name: str) -> Json:
    return {**widget(name, spec={"mode": "a"}), "kind": "Gadget"}


def preflight(*more: str, old: str = "old") -> Run:
    return run("preflight", old, "--cluster", "prod", "--all", "--format", "json", *more)


def answer(ran: Run) -> Json:
    """The report without the note about the file."""
    return {**ran.report, "notes": [note for note in ran.report["notes"] if FILE not in note]}


def listed(cluster: ApiServer) -> Counter[str]:
    paths = (each.partition("?")[0] for each in cluster.asked)
    return Counter(path for path in paths if path in (WIDGETS, GADGETS))


@pytest.fixture
def whole(cluster: ApiServer) -> Json:
    """The report of a run that nothing breaks; Widgets come after Gadgets."""
    cluster.put(WIDGETS, [_REJECTED, _LOSES, *_FINE])
    cluster.put(GADGETS, [_gadget("g")])
    return answer(preflight())


@pytest.fixture
def broken(cluster: ApiServer, whole: Json) -> ApiServer:
    """The same cluster after a run that read Widgets and not Gadgets."""
    answers = cluster.answers[GADGETS]
    cluster.refuse(GADGETS, 503)
    ran = preflight("--resume", FILE)
    assert (ran.report["answer"], Path(FILE).stat().st_mode & 0o777) == ("unknown", 0o600)
    cluster.answers[GADGETS] = answers
    cluster.asked.clear()
    return cluster


def test_the_rest_is_read_and_the_answer_is_the_same(broken: ApiServer, whole: Json) -> None:
    ran = preflight("--resume", FILE)
    assert listed(broken) == {GADGETS: 1}
    assert answer(ran) == whole
    assert _KEPT in ran.report["notes"]
    assert not Path(FILE).exists()  # a finished run deletes it
    assert broken.methods.keys() == {"GET"}


def test_values_that_a_server_tolerates_are_counted_alike(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, [widget("w", spec={"mode": "c"}), *_FINE])
    newer = ("--kube-version", "1.34")
    whole = answer(preflight(*newer))
    answers = cluster.answers[GADGETS]
    cluster.refuse(GADGETS, 503)
    preflight("--resume", FILE, *newer)
    cluster.answers[GADGETS] = answers
    assert answer(preflight("--resume", FILE, *newer)) == whole
    assert [each["total"] for each in whole["tolerated"]] == [701]


def test_it_can_break_off_again(broken: ApiServer, whole: Json) -> None:
    answers = broken.answers[GADGETS]
    broken.refuse(GADGETS, 503)
    assert preflight("--resume", FILE).report["answer"] == "unknown"
    broken.answers[GADGETS] = answers
    assert answer(preflight("--resume", FILE)) == whole
    assert listed(broken)[WIDGETS] == 0


def test_a_kind_of_which_a_page_is_missing_is_read_again(cluster: ApiServer, whole: Json) -> None:
    answers = cluster.answers[WIDGETS]
    cluster.answers[WIDGETS] = lambda token: answers(token) if not token else (403, b"{}")
    assert preflight("--resume", FILE).report["answer"] == "unknown"
    cluster.answers[WIDGETS] = answers
    cluster.asked.clear()
    assert answer(preflight("--resume", FILE)) == whole
    assert listed(cluster) == {WIDGETS: 2}


def test_only_what_an_answer_shows_is_in_the_file(broken: ApiServer) -> None:
    lines = [json.loads(line) for line in Path(FILE).read_text().splitlines()]
    assert [line["object"]["metadata"]["name"] for line in lines if "object" in line] == ["w", "x"]
    assert [(line["end"], line["plain"]) for line in lines if "end" in line] == [("widgets.example.com", 700)]


def test_a_crd_that_changed_is_read_again(broken: ApiServer) -> None:
    broken.install(crd(GADGET, kind="Gadget"), crd(NEW))  # with other resourceVersions
    broken.put(WIDGETS, [_FINE[0]])
    broken.put(GADGETS, [_gadget("g")])
    found = preflight("--resume", FILE).report
    assert (found["answer"], listed(broken)) == ("yes", {WIDGETS: 1, GADGETS: 1})
    assert f"read again, because {FILE} is damaged or the CRD was changed: widgets.example.com" in found["notes"]


def test_a_damaged_file_gives_the_same_answer_or_none(broken: ApiServer, whole: Json) -> None:
    data = Path(FILE).read_bytes()
    answers = 0
    for at in range(0, len(data), 97):
        Path(FILE).write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        ran = preflight("--resume", FILE)
        if ran.out:
            assert answer(ran) == whole, at
            answers += 1
        else:
            assert (ran.code, ran.err.startswith(f"crdcompat: --resume: {FILE} is ")) == (2, True)
    assert answers > 5


def test_another_run(broken: ApiServer) -> None:
    before = Path(FILE).read_bytes()
    write(Path("other/widgets.json"), crd(obj(spec=obj(mode=string("a")))))
    for ran, what in (
        (preflight("--resume", FILE, old="other"), "release: "),
        (preflight("--resume", FILE, "--kube-version", "1.33"), "servers: "),
    ):
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.startswith(f"crdcompat: --resume: {FILE} is of another run ({what}")
        assert ran.err.endswith("now): name another file\n")
    assert Path(FILE).read_bytes() == before


def test_a_file_of_another_sort_is_left_as_it_is(cluster: ApiServer) -> None:
    Path(FILE).write_text("mine\n")
    ran = preflight("--resume", FILE)
    said = f"crdcompat: --resume: {FILE} is no file of preflight --resume: it is left as it is\n"
    assert (ran.code, ran.err, Path(FILE).read_text()) == (2, said, "mine\n")


def test_a_recording_needs_none(cluster: ApiServer) -> None:
    ran = run("preflight", "old", "--objects", "r.json", "--resume", FILE)
    assert (ran.code, ran.err) == (2, "crdcompat: --resume goes with --cluster: a recording is read as a whole\n")
