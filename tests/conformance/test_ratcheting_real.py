"""diff and simulate say the same about each witness of real pairs of releases, on the servers of all eras."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from helpers import PAIRS
from msgspec.structs import replace

import crdcompat
from crdcompat.apiserver.server_versions import known_server
from crdcompat.crds.reader import CrdReader, CrdSet
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.replay.judges import Replayed, Replayer
from crdcompat.vocabulary.writes import WriteResult

#: The servers of both releases; "" are those beside the releases.
_SERVERS = ("", "1.29", "1.30", "openshift-4.18")


@pytest.fixture(scope="module")
def releases(openshift_api: Path) -> Any:
    reader = CrdReader()

    @cache
    def release(name: str) -> CrdSet:
        return crdcompat.load(f"release-{name}", repo=str(openshift_api), reader=reader)

    return release


@pytest.mark.parametrize("server", _SERVERS)
@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_one_answer_about_one_object(old: str, new: str, server: str, releases: Any) -> None:
    before, after = (replace(releases(name), runs=server) for name in (old, new))
    replayers: dict[tuple[object, ...], Replayer] = {}
    wrong, asked = [], 0
    for finding in crdcompat.diff(before, after, locate=False).findings:
        if finding.writes is None:
            continue
        reader, writer = (before, after) if finding.direction == "rollback" else (after, before)
        key = finding.direction, finding.contexts[0], finding.because[1:2]
        if key not in replayers:
            early = "applied before the API server is updated" in finding.because
            replayers[key] = Replayer(reader, writer, known_server(writer) if early else None, finding.contexts[0])
        found = replayers[key].replay_once(Recorded(finding.witness.object, "witness"), set())
        if not isinstance(found, Replayed):
            continue  # a CRD that the server refuses
        asked += 1
        rejected = [kind for kind, answer in found.last.writes.items() if answer.counts is WriteResult.REJECTED]
        if set(rejected) != set(finding.writes):
            wrong.append((finding.direction, finding.crd, finding.path, finding.writes, rejected))
    assert not wrong
    assert asked >= 10
