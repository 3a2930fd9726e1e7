"""24,000 requests to real API servers of 1.27 to 1.36: the answers of ``judge --requests`` are the servers'."""

from __future__ import annotations

from pathlib import Path

import pytest
from server_answers import SORTS, Difference, File, by_cause, compared, files_of, table

#: The least percentage of equal answers in any file.
WANTED = dict(zip(SORTS, (100.0, 100.0, 100.0, 99.85, 100.0, 100.0), strict=True))
#: Requests that are answered in another way, by a part of the server's answer, and why.
EXCEPTIONS = {"managedFields": "the sentence shows the patched object, and recordings leave managed fields out"}


@pytest.fixture(scope="module")
def files(shared: Path) -> list[File]:
    found = files_of(shared / "data/api-server")
    if not found:
        pytest.skip("no requests with answers of API servers in ../shared")
    return [compared(path) for path in found]


@pytest.mark.parametrize("about", SORTS)
def test_answers(files: list[File], about: str) -> None:
    assert sum(file.asked["verdict"] for file in files) > 20_000
    low = [file for file in files if file.rate(about) < WANTED[about]]
    assert not low, f"{table(files)}\n{_causes(low, about)}"


def test_every_difference_is_explained(files: list[File]) -> None:
    differences = [each for file in files for each in file.differences]
    left = [each for each in differences if not any(text in str(each.servers) for text in EXCEPTIONS)]
    assert [f"{each.request['id']} {each.cause}" for each in left] == []
    unused = [text for text in EXCEPTIONS if not any(text in str(each.servers) for each in differences)]
    assert not unused


def _causes(files: list[File], about: str) -> str:
    wrong = [each for file in files for each in file.differences if each.about == about]
    return "\n".join(f"{len(each)} {cause} ({each[0].request['id']})" for cause, each in by_cause(wrong)[:40])


REQUEST = {"id": "a", "note": "", "op": "create"}


def test_causes_leave_out_what_a_request_says() -> None:
    """The same fault of two requests counts as one; another fault does not."""
    sides: tuple[tuple[list[str], list[str]], ...] = (
        (['spec.a.b: Invalid value: "x": must be 1'], []),
        (['spec.l[0]: Invalid value: "y z": must be 22'], []),
        (["spec.l[0]: Required value"], []),
    )
    found = by_cause([Difference("text", REQUEST, *each) for each in sides])
    assert [len(each) for _, each in found] == [2, 1]
