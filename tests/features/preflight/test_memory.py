"""A cluster of any size: nothing is kept for each of its objects."""

from __future__ import annotations

import gc
import json
import sys

import pytest
from api_server import PAGE, ApiServer
from helpers import Json, run
from widgets import WIDGETS, widget

pytest.importorskip("kubernetes")

#: The numbers of objects at which the blocks of memory in use are counted; the first one fills the list of repairs.
FIRST, LAST, END = 500, 1000, 1500


def stored(number: int) -> Json:
    """An object with a rejected value, a lost field, and a value of its own."""
    status = {"phase": "Paused", "seen": [f"a place {number}"]}
    return widget(f"w{number:06}", f"manager-{number % 3}", spec={"mode": "c", "size": number}, status=status)


def served(server: ApiServer) -> list[int]:
    """Serve objects page by page; the list gets the number of blocks in use."""
    blocks: list[int] = []

    def page(token: str) -> tuple[int, bytes]:
        start = int(token or 0)
        if start in (FIRST, LAST):
            gc.collect()
            blocks.append(sys.getallocatedblocks())
        more = str(start + PAGE) if start + PAGE < END else ""
        items = [stored(number) for number in range(start, start + PAGE)]
        return 200, json.dumps({"metadata": {"resourceVersion": "9", "continue": more}, "items": items}).encode()

    server.answers[WIDGETS] = page
    return blocks


def kept(blocks: list[int]) -> float:
    """The blocks of memory that each object took."""
    first, last = blocks
    return (last - first) / (LAST - FIRST)


def test_preflight_keeps_nothing_of_an_object(cluster: ApiServer) -> None:
    blocks = served(cluster)
    found = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    assert (found["summary"]["rejected"], found["unlisted"]) == (END, END - 500)
    assert kept(blocks) < 0.2


def test_record_keeps_nothing_of_an_object(cluster: ApiServer) -> None:
    blocks = served(cluster)
    assert run("record", "old", "--cluster", "prod", "-o", "r.json").code == 0
    assert kept(blocks) < 0.2
