"""What servers ignore in CRDs, and what they lack, against recorded installations on nine servers."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from crdcompat.apiserver.supported.answers import answer
from crdcompat.apiserver.supported.causes import causes
from crdcompat.apiserver.supported.ignored import ignored_by
from crdcompat.apiserver.supported.ranges import server_name, servers_of
from crdcompat.apiserver.versions import kubernetes_server
from crdcompat.crds.model import read_crd


def _lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        yield from map(json.loads, file)


def _installed(shared: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    folder = shared / "data/api-server"
    crds = {line["id"]: line["crd"] for line in _lines(folder / "crd-install-crds.ndjson.gz")}
    for line in _lines(folder / "crd-install.ndjson.gz"):
        if line["op"] == "create":
            yield line, crds[line["crd"]] if isinstance(line["crd"], str) else line["crd"]


def test_warnings(shared: Path) -> None:
    compared = 0
    for line, raw in _installed(shared):
        if line["code"] != 201:
            continue
        recorded = sorted(json.loads(text.split(" - ", 1)[1]) for text in line.get("warnings") or ())
        assert sorted(ignored_by(raw, kubernetes_server(line["kube"])).warnings) == recorded, (line["id"], line["kube"])
        compared += 1
    assert compared > 5_000


def test_what_rules_need(shared: Path) -> None:
    """Rules that some servers refuse: the servers are those of the recording, and almost every cause has a name."""
    servers = servers_of("openshift-4.13-4.18,openshift-4.20-4.21")
    refused: dict[str, set[str]] = {}
    rules: dict[str, dict[str, Any]] = {}
    for line, raw in _installed(shared):
        if line["fault"].startswith("rule:") and line["kube"] != "1.36":
            rules[line["fault"]] = raw
            refused.setdefault(line["fault"], set()).update({line["kube"]} if line["code"] != 201 else ())
    unnamed = []
    for rule, raw in rules.items():
        if not 0 < len(refused[rule]) < len(servers):
            continue
        crd = read_crd(raw)
        answers = [answer(crd, server) for server in servers]
        found = causes(crd, answers)
        assert {server_name(each.server).id for each in answers if each.faults} == refused[rule], rule
        assert {server_name(server).id for cause in found for server in cause.refused} == refused[rule], rule
        unnamed += [rule for cause in found if cause.kind == "rule"]
    assert len(rules) > 140
    assert unnamed == []
