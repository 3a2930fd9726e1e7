"""data/eras.yaml through ``judge --requests``: every server's answer to every write, word by word."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from helpers import Json, crd, root, run, version, write
from offline import DATA

CASES: list[Json] = yaml.safe_load(DATA.joinpath("eras.yaml").read_text(encoding="utf-8"))


def _servers(text: str) -> list[str]:
    """``1.26-1.28`` -> 1.26, 1.27, 1.28."""
    if text.startswith("openshift"):
        return [text]
    first, _, last = text.partition("-")
    minors = [int(end.removeprefix("1.")) for end in (first, last or first)]
    return [f"1.{minor}" for minor in range(minors[0], minors[1] + 1)]


def _definition(case: Json) -> Json:
    parts = {part: {"type": "object", **case.get(part, {})} for part in ("spec", "status")}
    schema = {**root(**parts), **({"x-kubernetes-validations": case["rules"]} if "rules" in case else {})}
    subresources: Json = {"status": {}}
    if case.get("scale"):
        subresources["scale"] = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    return crd(versions=[version(schema, subresources=subresources)])


def _widget(body: Json | None) -> Json | None:
    if body is None:
        return None
    metadata = {"name": "a", "namespace": "default", "resourceVersion": "1", **body.get("metadata", {})}
    metadata = {key: value for key, value in metadata.items() if value is not None}
    return {"apiVersion": "example.com/v1", "kind": "Widget", **body, "metadata": metadata}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Json]:
    """(case, server) -> the answer; all requests in one stream."""
    folder = tmp_path_factory.mktemp("eras")
    requests: list[Json] = []
    for number, case in enumerate(CASES):
        write(folder / f"{number}.json", _definition(case))
        for server in (server for servers in case["expected"] for server in _servers(servers)):
            request = {"crd": f"{number}.json", "version": "v1", "op": case["op"], "kube": server}
            written = {"old": _widget(case.get("old")), "new": _widget(case["new"])}
            requests.append({"id": f"{number} {server}", **request, **written})
    ran = run("judge", "--requests", "-", cwd=folder, stdin="\n".join(map(json.dumps, requests)).encode())
    assert ran.code == 0, ran.err
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert [answer["id"] for answer in found] == [request["id"] for request in requests]
    return {(CASES[int(number)]["name"], server): answer
            for answer in found for number, server in [answer["id"].split()]}  # fmt: skip


@pytest.mark.parametrize(
    ("case", "server", "texts"),
    [
        pytest.param(case, server, texts, id=f"{case['name']}, {server}")
        for case in CASES
        for servers, texts in case["expected"].items()
        for server in _servers(servers)
    ],
)
def test_every_server_answers_as_it_should(
    case: Json, server: str, texts: list[str], answers: dict[tuple[str, str], Any]
) -> None:
    answer = answers[case["name"], server]
    assert not answer["unknown"]
    assert sorted(error["text"] for error in answer["errors"]) == sorted(texts)
    name = "" if case["new"].get("metadata", {}).get("name", "a") is None else "a"
    joined = texts[0] if len(texts) == 1 else f"[{', '.join(error['text'] for error in answer['errors'])}]"
    assert answer["aggregate"] == (f'Widget.example.com "{name}" is invalid: {joined}' if texts else "")
    if texts:
        assert answer["result"] is None
        return
    for part, value in case.get("result", {}).items():
        assert answer["result"].get(part) == value
    if "pruned" in case:
        assert answer["pruned_paths"] == case["pruned"]


def test_all_minors_and_both_kinds_of_answers_occur() -> None:
    minors = {server for case in CASES for servers in case["expected"] for server in _servers(servers)}
    assert minors >= {f"1.{minor}" for minor in range(26, 37)}
    assert {bool(texts) for case in CASES for texts in case["expected"].values()} == {True, False}
    assert all(case["about"].startswith("docs/semantics.md#") for case in CASES)
