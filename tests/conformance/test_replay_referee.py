"""The replay of simulate against real API servers: objects stored under NEW, OLD put below them, and each write sent.

The stories are those of data/rollbacks.yaml. ``make referee`` builds the servers.
"""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from differences import Bench, in_group, new_group
from helpers import Json
from rollback_stories import STORIES, definition, replayed, stored_object, writes_of

_KINDS = {
    "status": "status-update",
    "label": "metadata-update",
    "finalizer": "finalizer-removal",
    "spec": "spec-update",
}


@pytest.mark.parametrize("story", STORIES, ids=[story["name"] for story in STORIES])
def test_each_write_and_the_repair(bench: Bench, story: Json, tmp_path: Path) -> None:
    reported = replayed(story, bench.minor, tmp_path)
    group = new_group()
    new, old = (in_group(definition(story[side]), group) for side in ("new", "old"))
    obj = {**stored_object(story["object"]), "apiVersion": f"{group}/v1"}
    server = bench.server
    assert server.install(new).accepted
    assert server.write("create", new, obj).accepted
    assert server.write("updateStatus", new, obj).accepted
    stored = server.stored(new, "a")
    assert stored is not None
    assert server.swap(old).accepted
    answers = {}
    for name, (operation, request) in writes_of(obj).items():
        answers[_KINDS[name]] = server.write(operation, old, request)
        server.store(old, stored)
    verdicts = {name: "accepted" if answer.accepted else "rejected" for name, answer in answers.items()}
    assert {name: reported["writes"][name]["verdict"] for name in verdicts} == verdicts
    patch, repair = copy.deepcopy(reported["repair"]["patch"]), reported["repair"]["verdict"]
    status = server.write("mergePatchStatus", old, patch, name="a").accepted
    server.store(old, stored)
    main = server.write("mergePatch", old, patch, name="a").accepted
    accepted = {"status": status, "main": main, "deadlock": not (status or main)}
    assert accepted.get(repair, True)
