"""The answers of many servers are those that each of them gives, although not each is asked."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from helpers import Json, crd, obj, root, string

from crdcompat.apiserver.crd_validation.refusal import faults
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported import crd_answer
from crdcompat.apiserver.supported.ranges import ALL, between
from crdcompat.crds.model import Crd, read_crd

_SERVERS = (*ALL, *between("openshift-4.13", "openshift-4.21"))
_RULES = "x-kubernetes-validations"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Server]:
    """The servers that are asked."""
    found: list[Server] = []

    def counted(definition: Crd, server: Server) -> list[object]:
        found.append(server)
        return list(faults(definition.raw, server))

    monkeypatch.setattr(crd_answer, "faults_of_crd", counted)
    return found


def _rule(text: str, **more: object) -> Json:
    return crd(root(spec=obj(a={**string(), "maxLength": 20, _RULES: [{"rule": text, **more}]})))


_CRDS = {
    "accepted": (_rule("self != 'x'"), 4),
    "refused by all": (crd(root(spec={"type": "object", "properties": {"a": {}}})), 4),
    "a new function": (_rule("ip(self).family() == 4"), 20),
    "a new field": (_rule("self == oldSelf.orValue('')", optionalOldSelf=True), 20),
    "no such function": (_rule("self.nothing()"), 20),
}


@pytest.mark.parametrize("name", _CRDS)
def test_each_server_gives_its_own_answer(asked: list[Server], name: str) -> None:
    document, most = _CRDS[name]
    given = crd_answer.answers_of(read_crd(document), _SERVERS)
    assert {server: list(answer.faults) for server, answer in given.items()} == {
        server: faults(document, server) for server in _SERVERS
    }
    assert len(asked) <= most
    assert len(set(asked)) == len(asked)


def test_real_crds(shared: Path) -> None:
    file = shared / "data/api-server/crd-install-crds.ndjson.gz"
    if not file.is_file():
        pytest.skip("no CRDs of installations in ../shared")
    refused = 0
    for line in gzip.decompress(file.read_bytes()).decode().splitlines()[::20]:
        document = json.loads(line)["crd"]
        given = crd_answer.answers_of(read_crd(document), _SERVERS)
        expected = {server: faults(document, server) for server in _SERVERS}
        assert {server: list(answer.faults) for server, answer in given.items()} == expected, document["metadata"]
        refused += any(expected.values())
    assert refused > 20
