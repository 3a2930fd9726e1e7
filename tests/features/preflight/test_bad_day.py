"""preflight while the API server restarts: passing failures are waited out, and a list goes on where it stopped."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence

import pytest
from api_server import CRDS, Answer, ApiServer
from helpers import Json, run
from widgets import WIDGETS, widget

from crdcompat.sources import open_cluster
from crdcompat.vocabulary.steps import listening

pytest.importorskip("kubernetes")

COUNT = 1200
MANY = [widget(f"w{number:04}", spec={"mode": "c" if number == 1100 else "a"}) for number in range(COUNT)]
BROKEN = "broken"


def report() -> Json:
    return run("preflight", "old", "--cluster", "prod", "--format", "json").report


def failing(server: ApiServer, path: str, token: str, faults: Sequence[int | str], after: str = "") -> None:
    """Let the first requests for one page of a list fail: with these statuses, or without an answer."""
    whole, left = server.answers[path], iter(faults)

    def answer(asked: str) -> Answer:
        fault = next(left, None) if asked == token else None
        if fault is None:
            return whole(asked)
        if fault == BROKEN:
            raise ConnectionAbortedError
        return int(fault), b'{"kind":"Status","message":"not now"}', {"Retry-After": after} if after else {}

    server.answers[path] = answer


def asked(server: ApiServer, path: str) -> int:
    return sum(each.partition("?")[0] == path for each in server.asked)


@pytest.mark.parametrize("fault", [429, 500, 502, 503, 504, BROKEN])
@pytest.mark.parametrize("token", ["", "1000"])
def test_a_failure_that_passes(cluster: ApiServer, waits: list[float], token: str, fault: int | str) -> None:
    cluster.put(WIDGETS, MANY)
    whole = report()
    failing(cluster, WIDGETS, token, [fault] * 3)
    assert report() == whole
    assert (whole["summary"]["objects"], whole["summary"]["rejected"]) == (COUNT, 1)
    assert waits == [1, 2, 4]
    assert cluster.methods.keys() == {"GET"}


def test_the_crds_are_asked_for_again(cluster: ApiServer, waits: list[float]) -> None:
    failing(cluster, CRDS, "", [503, 503], after="5")
    assert report()["answer"] == "yes"
    assert waits == [5, 5]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [(503, [1, 2, 4, 8, 16, 16]), (500, [1, 2, 4]), (BROKEN, [1, 2, 4, 8, 16, 16]), (403, []), (404, []), (501, [])],
)
def test_a_failure_that_stays(cluster: ApiServer, waits: list[float], fault: int | str, expected: list[float]) -> None:
    cluster.put(WIDGETS, MANY)
    failing(cluster, WIDGETS, "500", [fault] * 99)
    found = report()
    assert (found["answer"], found["summary"]["objects"]) == ("unknown", 500)
    assert waits == expected


def test_all_requests_of_a_run_wait_for_five_minutes_at_most(cluster: ApiServer, waits: list[float]) -> None:
    """A server that asks for a long time before each page."""
    items = [widget(f"w{number:05}", spec={"mode": "a"}) for number in range(12 * 500)]
    cluster.put(WIDGETS, items)
    for token in ("", *(str(500 * number) for number in range(1, 12))):
        failing(cluster, WIDGETS, token, [503], after="50")
    found = report()
    assert (found["answer"], found["summary"]["objects"]) == ("unknown", 6 * 500)
    assert waits == [50] * 6


def test_a_server_that_never_answered_is_not_waited_for(cluster: ApiServer, waits: list[float]) -> None:
    failing(cluster, CRDS, "", [BROKEN] * 99)
    assert report()["answer"] == "unknown"
    assert (asked(cluster, CRDS), waits) == (2, [1])


def expiring(server: ApiServer, tokens: Callable[[str], Iterator[str | None]]) -> None:
    """Let pages expire: ``tokens`` yields, for a page, the token in the answer 410, "" for none, None for the page."""
    whole, known = server.answers[WIDGETS], dict[str, Iterator[str | None]]()

    def answer(token: str) -> Answer:
        following = next(known.setdefault(token, tokens(token)), None)
        if following is None:
            return whole(token.removeprefix("again-"))
        status = {"kind": "Status", "message": "too old", "code": 410, "metadata": {"continue": following}}
        return 410, json.dumps(status).encode()

    server.answers[WIDGETS] = answer


NOTE = (
    "the list expired and was continued (widgets.example.com): objects that changed meanwhile are judged as they were "
    "read, and new ones may not have been read"
)


@pytest.mark.parametrize(
    ("tokens", "answer", "requests"),
    [
        ({"1000": ["again-1000"]}, "no", 4),
        ({"500": ["again-500"], "1000": ["again-1000"]}, "no", 5),
        ({"1000": [""]}, "no", 6),
        ({"500": [""], "1000": [""]}, "no", 8),
        ({"1000": ["again-1000"], "again-1000": ["again-1000"]}, "no", 7),
        ({"1000": ["", ""]}, "unknown", 6),
    ],
)
def test_a_list_that_expires_goes_on(
    cluster: ApiServer, tokens: dict[str, list[str]], answer: str, requests: int
) -> None:
    cluster.put(WIDGETS, MANY)
    expiring(cluster, lambda token: iter(tokens.get(token, ())))
    found = report()
    assert (found["answer"], asked(cluster, WIDGETS)) == (answer, requests)
    assert found["summary"]["objects"] == (COUNT if answer == "no" else 1000)
    assert NOTE in found["notes"]


def test_a_list_that_does_not_expire_has_no_note(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, MANY)
    assert NOTE not in report()["notes"]


def test_the_kinds_are_counted(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, MANY)
    seen: list[tuple[str, int, int | None]] = []
    tree = open_cluster("prod")
    with listening(lambda *step: seen.append(step)):
        names = [entry.path for entry, _ in tree.stream(lambda path: path.startswith("example.com/"))]
    assert len(names) == COUNT
    assert [each for each in seen if each[0] == "Kinds read"] == [("Kinds read", done, 2) for done in (0, 1, 2)]
    counted = [each for each in seen if each[0] == "Objects read"]
    assert counted == [("Objects read", done, COUNT) for done in (*range(1, COUNT + 1), COUNT)]


def test_nobody_asks_how_many_objects_there_are_if_nobody_watches(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, MANY)
    [*open_cluster("prod").stream(lambda path: path.startswith("example.com/"))]
    assert asked(cluster, WIDGETS) == 3


@pytest.mark.parametrize("refused", [403, 404])
def test_a_kind_that_is_refused_has_no_objects_to_wait_for(cluster: ApiServer, refused: int) -> None:
    cluster.put(WIDGETS, MANY)
    cluster.refuse("/apis/example.com/v1/gadgets", refused)
    assert {total for *_, total in _objects_read()} == {COUNT}


def test_a_server_that_does_not_say_how_many_there_are(cluster: ApiServer) -> None:
    cluster.put(WIDGETS, MANY)
    whole = cluster.answers[WIDGETS]
    cluster.answers[WIDGETS] = lambda token: (200, whole(token)[1].replace(b"remainingItemCount", b"other"))
    counted = _objects_read()
    assert counted[0] == ("Objects read", 1, None) and counted[-1] == ("Objects read", COUNT, COUNT)


def _objects_read() -> list[tuple[str, int, int | None]]:
    seen: list[tuple[str, int, int | None]] = []
    with listening(lambda *step: seen.append(step)):
        [*open_cluster("prod").stream(lambda path: path.startswith("example.com/"))]
    return [each for each in seen if each[0] == "Objects read"]


@pytest.mark.parametrize(("times", "answer", "waited"), [(2, "no", [1, 2]), (3, "unknown", [1, 2])])
def test_a_server_that_is_silent_for_a_while(
    cluster: ApiServer, waits: list[float], times: int, answer: str, waited: list[float]
) -> None:
    """Each try waits for the whole --read-timeout, so there are three."""
    cluster.put(WIDGETS, MANY)
    whole, left, end = cluster.answers[WIDGETS], iter(range(times)), threading.Event()

    def silent(asked: str) -> Answer:
        if asked == "1000" and next(left, None) is not None:
            end.wait(30)
        return whole(asked)

    cluster.answers[WIDGETS] = silent
    try:
        found = run("preflight", "old", "--cluster", "prod", "--format", "json", "--read-timeout", "1").report
    finally:
        end.set()
    assert (found["answer"], waits) == (answer, waited)
