"""What servers ignore in CRDs, and what they lack, against recorded installations on nine servers."""

from __future__ import annotations

import contextlib
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import crdcompat
from crdcompat.apiserver.crd_validation.plain import doubtful
from crdcompat.apiserver.server_versions import kubernetes_server
from crdcompat.apiserver.supported.causes import causes
from crdcompat.apiserver.supported.crd_answer import answers_of
from crdcompat.apiserver.supported.ignored import ignorable
from crdcompat.apiserver.supported.ranges import server_name, servers_of
from crdcompat.crds.model import NotACrdError, read_crd


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
        ignored = ignorable(doubtful(raw)).by(kubernetes_server(line["kube"]))
        assert sorted(ignored.warnings) == recorded, (line["id"], line["kube"])
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
        answers = [answers_of(crd, [server])[server] for server in servers]
        found = causes(crd, answers)
        assert {server_name(each.server).id for each in answers if each.faults} == refused[rule], rule
        assert {server_name(server).id for cause in found for server in cause.refused} == refused[rule], rule
        unnamed += [rule for cause in found if cause.kind == "rule"]
    assert len(rules) > 140
    assert unnamed == []


def test_servers_asked_together_answer_as_each_alone(shared: Path, openshift_api: Path) -> None:
    """Of most CRDs only the servers are asked that show whether any refuses it."""
    crds = []
    for _, raw in [*_installed(shared)][::101]:
        with contextlib.suppress(NotACrdError):
            crds.append(read_crd(raw))
    crds += [document.crd for document in crdcompat.load("release-4.16", repo=str(openshift_api)).documents][::15]
    servers = servers_of("1.26-1.36,openshift-4.13-4.18")
    together = [answers_of(crd, servers) for crd in crds]
    alone = [{server: answers_of(crd, [server])[server] for server in servers} for crd in crds]
    assert together == alone
    assert 10 < sum(any(each.faults for each in answers.values()) for answers in together) < len(crds) - 10
