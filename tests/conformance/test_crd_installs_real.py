"""12,933 CRDs posted to nine servers, or put over an installed one: the same verdicts, errors and sentences."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
from helpers import Json

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.versions import kubernetes_server
from crdcompat.features.judge.verdict import judge_crd

_SERVERS = ["openshift-4.13", "openshift-4.14", "openshift-4.15", "openshift-4.16", "openshift-4.17", "openshift-4.18"]
_SERVERS += ["openshift-4.20", "openshift-4.21", "1.36"]
#: What is reached, in percent of the installations of one server: verdicts, types and fields of errors, sentences.
_VERDICTS, _ERRORS, _TEXTS = 100.0, 99.9, 99.2


def _lines(file: Path) -> list[Json]:
    return [json.loads(line) for line in gzip.decompress(file.read_bytes()).decode().split("\n") if line]


@cache
def _recorded(folder: Path) -> tuple[dict[str, Json], dict[str, list[Json]]]:
    """The CRDs by id, and the installations by server."""
    posted, answers = (
        [
            json.loads(line)
            for line in gzip.decompress((folder / f"{name}.ndjson.gz").read_bytes()).decode().split("\n")
            if line
        ]
        for name in ("crd-install-crds", "crd-install")
    )
    found: dict[str, list[Json]] = defaultdict(list)
    for answer in answers:
        found[answer["kube"]].append(answer)
    return {each["id"]: each["crd"] for each in posted}, found


def _cause(answer: Json, verdict: Verdict) -> str:
    """A key for what the two answers have not alike: the sentences without names and numbers."""
    said = {f"{cause['message']}" for cause in answer["causes"]} or {answer["message"] or "accepted"}
    ours = {error.body() for error in verdict.errors} or {verdict.message or "accepted"}
    odd = sorted(f"only the server's: {each}" for each in said - ours) or sorted(
        f"only ours: {each}" for each in ours - said
    )
    plain = re.sub(r'"(?:\\.|[^"\\])*"', '"…"', odd[0] if odd else "another field")
    return re.sub(r"\d+", "N", re.sub(r"Invalid value: (apiextensions|[\[{]).*?: ", "Invalid value: …: ", plain))[:160]


def _texts(texts: set[str]) -> set[str]:
    """Sentences without what differs from answer to answer: the number of the type of self, addresses."""
    return {re.sub(r"selfType\d+", "selfType0", re.sub(r"0x[0-9a-f]+|0x…", "0x…", text)) for text in texts}


@pytest.mark.parametrize("server", _SERVERS)
def test_installations(shared: Path, server: str) -> None:
    folder = shared / "data/api-server"
    if not (folder / "crd-install.ndjson.gz").is_file():
        pytest.skip("no answers about CRDs in ../shared")
    crds, answers = _recorded(folder)
    count, right = len(answers[server]), Counter[str]()
    causes, refused = Counter[str](), []
    for answer in answers[server]:
        operation = "createCRD" if answer["op"] == "create" else "updateCRD"
        verdict = judge_crd(
            operation, crds[answer["crd"]], crds.get(answer["old"]), kubernetes_server(server), as_sent=True
        )
        taken = answer["code"] < 300
        verdicts = verdict.accepted is taken
        errors = verdicts and {(cause["reason"], cause["field"]) for cause in answer["causes"]} == {
            (error.type, error.field) for error in verdict.errors
        }
        said = {f"{cause['field']}: {cause['message']}" for cause in answer["causes"]} or {answer["message"] or ""}
        texts = errors and _texts(said) == _texts({error.text() for error in verdict.errors} or {verdict.message})
        right.update({"verdict": verdicts, "errors": errors, "text": texts})
        if not errors:
            causes[_cause(answer, verdict)] += 1
        if taken and not verdict.accepted:
            refused.append((answer["id"], answer["fault"], verdict.message))
    assert refused == []
    rates = {what: 100 * right[what] / count for what in ("verdict", "errors", "text")}
    enough = rates["verdict"] >= _VERDICTS and rates["errors"] >= _ERRORS and rates["text"] >= _TEXTS
    assert enough, (rates, causes.most_common(12))
