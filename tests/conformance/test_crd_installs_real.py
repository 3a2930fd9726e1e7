"""12,933 CRDs posted to nine servers, or put over an installed one: the same verdicts, errors and sentences.

Every other server is asked in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks all.
"""

from __future__ import annotations

import gzip
import json
import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from helpers import Json, spawn

_SERVERS = ["openshift-4.13", "openshift-4.14", "openshift-4.15", "openshift-4.16", "openshift-4.17", "openshift-4.18"]
_SERVERS += ["openshift-4.20", "openshift-4.21", "1.36"]
if "CRDCOMPAT_FUZZ" not in os.environ:
    _SERVERS = _SERVERS[::2]
#: What is reached, in percent of the installations of one server: verdicts, types and fields of errors, sentences.
_VERDICTS, _ERRORS, _TEXTS = 100.0, 99.9, 99.2


def _lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().split("\n") if line]


@pytest.fixture(scope="module")
def installations(shared: Path) -> dict[str, list[tuple[Json, Json]]]:
    """The installations with our answers, by server; one process answers all of them."""
    folder = shared / "data/api-server"
    if not (folder / "crd-install.ndjson.gz").is_file():
        pytest.skip("no answers about CRDs in ../shared")
    crds = {each["id"]: each["crd"] for each in _lines(folder / "crd-install-crds.ndjson.gz")}
    asked = [each for each in _lines(folder / "crd-install.ndjson.gz") if each["kube"] in _SERVERS]
    requests = (
        {"id": each["id"], "op": f"{each['op']}CRD", "kube": each["kube"], "new": crds[each["crd"]]}
        | ({"old": crds[each["old"]]} if each["old"] else {})
        for each in asked
    )
    ran = spawn("judge", "--requests", "-", stdin="\n".join(map(json.dumps, requests)).encode())
    assert ran.code == 0, ran.err
    answers = [json.loads(line, parse_constant=pytest.fail) for line in ran.out.split("\n") if line]
    assert [answer["id"] for answer in answers] == [each["id"] for each in asked]
    assert not [answer["id"] for answer in answers if answer["unknown"]]
    found: dict[str, list[tuple[Json, Json]]] = defaultdict(list)
    for each, answer in zip(asked, answers, strict=True):
        found[each["kube"]].append((each, answer))
    return found


def _cause(recorded: Json, answer: Json) -> str:
    """A key for what the two answers have not alike: the sentences without names and numbers."""
    said = {f"{cause['message']}" for cause in recorded["causes"]} or {recorded["message"] or "accepted"}
    ours = {error["text"].removeprefix(f"{error['field']}: ") for error in answer["errors"]}
    ours = ours or {answer["aggregate"] or "accepted"}
    odd = sorted(f"only the server's: {each}" for each in said - ours) or sorted(
        f"only ours: {each}" for each in ours - said
    )
    plain = re.sub(r'"(?:\\.|[^"\\])*"', '"…"', odd[0] if odd else "another field")
    return re.sub(r"\d+", "N", re.sub(r"Invalid value: (apiextensions|[\[{]).*?: ", "Invalid value: …: ", plain))[:160]


def _texts(texts: set[str]) -> set[str]:
    """Sentences without what differs from answer to answer: the number of the type of self, addresses."""
    return {re.sub(r"selfType\d+", "selfType0", re.sub(r"0x[0-9a-f]+|0x…", "0x…", text)) for text in texts}


@pytest.mark.parametrize("server", _SERVERS)
def test_installations(installations: dict[str, list[tuple[Json, Json]]], server: str) -> None:
    count, right = len(installations[server]), Counter[str]()
    causes, refused = Counter[str](), []
    for recorded, answer in installations[server]:
        taken = recorded["code"] < 300
        verdicts = answer["accepted"] is taken
        errors = verdicts and {(cause["reason"], cause["field"]) for cause in recorded["causes"]} == {
            (error["type"], error["field"]) for error in answer["errors"]
        }
        said = {f"{cause['field']}: {cause['message']}" for cause in recorded["causes"]} or {recorded["message"] or ""}
        ours = {error["text"] for error in answer["errors"]} or {answer["aggregate"]}
        texts = errors and _texts(said) == _texts(ours)
        right.update({"verdict": verdicts, "errors": errors, "text": texts})
        if not errors:
            causes[_cause(recorded, answer)] += 1
        if taken and not answer["accepted"]:
            refused.append((recorded["id"], recorded["fault"], answer["aggregate"]))
    assert refused == []
    rates = {what: 100 * right[what] / count for what in ("verdict", "errors", "text")}
    enough = rates["verdict"] >= _VERDICTS and rates["errors"] >= _ERRORS and rates["text"] >= _TEXTS
    assert enough, (rates, causes.most_common(12))
