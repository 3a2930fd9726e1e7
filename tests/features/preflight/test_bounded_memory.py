"""A cluster of any size: nothing is kept for each of its objects."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from api_server import PAGE, ApiServer
from helpers import Json, crd, obj, run, string, write
from widgets import WIDGETS, widget

pytest.importorskip("kubernetes")

#: The numbers of objects at which the blocks of memory in use are counted; the first one fills the list of repairs.
FIRST, LAST, END = 500, 1000, 1500


def stored(number: int) -> Json:
    """An object with a rejected value, a lost field, and a value of its own."""
    status = {"phase": "Paused", "seen": [f"a place {number}"]}
    return widget(f"w{number:06}", f"manager-{number % 3}", spec={"mode": "c", "size": number}, status=status)


def keyed(number: int) -> Json:
    """An object that loses a field below a key of its own, which is too long for the cache of the JSON library."""
    return widget(f"w{number:06}", spec={"disks": {f"disk-{number:080}": {"name": "a", "size": 3}}})


def served(server: ApiServer, stored: Callable[[int], Json] = stored) -> list[int]:
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


def test_preflight_lists_only_the_first_of_very_many_lost_fields(cluster: ApiServer) -> None:
    disk = {"name": string()}
    write(Path("old/widgets.json"), _with_disks(obj(**disk)))
    cluster.install(_with_disks(obj(**disk, size={"type": "integer"})))
    blocks = served(cluster, keyed)
    found = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    assert (found["answer"], found["summary"]["losing"], len(found["losses"])) == ("yes, with losses", END, 500)
    assert "objects lose more than 500 fields: the first 500 are listed" in found["notes"]
    assert kept(blocks) < 0.2


def _with_disks(disk: Json) -> Json:
    return crd(obj(spec=obj(disks={"type": "object", "additionalProperties": disk})))


def test_preflight_lists_only_the_first_of_very_many_reasons(cluster: ApiServer) -> None:
    """Each object has a place of its own that cannot be read."""
    blocks = served(cluster, lambda number: {**stored(number), "spec": _deep(250)})
    found = run("preflight", "old", "--cluster", "prod", "--format", "json").report
    assert (found["answer"], len(found["missing"])) == ("unknown", 501)
    others = {"what": "other objects", "reason": f"they could not be judged either ({END - 500} times)"}
    assert {**others, "rule": None, "step": "try"} in found["missing"]
    assert kept(blocks) < 0.2


def _deep(levels: int) -> Json:
    return {"a": _deep(levels - 1)} if levels else {}
