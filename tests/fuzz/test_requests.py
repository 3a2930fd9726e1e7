"""Lines of ``judge --requests``: each line has one answer, in order, whatever it holds, and one line spoils no other.

The cases are the same in every run; ``CRDCOMPAT_FUZZ=20000`` (``make fuzz``) asks 300,000 requests.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from helpers import Json, run, spawn
from hostile import CASES, bounded, garbage, sound, spoiled, spoiled_crd

_LINES = 200
_BATCHES = max(CASES * 15 // _LINES, 1)
_OPERATIONS = (
    "create", "validate", "update", "updateStatus", "apply", "applyStatus", "createCRD", "updateCRD", "delete", "", 5,
)  # fmt: skip
_KEYS = ("id", "crd", "version", "op", "kube", "ratcheting", "old", "new", "kind", "namespace", "answer", "")
_DAMAGE = (
    b"",
    b" ",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"id": 1',
    b'{"id": "\\ud800"}',
    b"1e400",
    b"{}" * 3,
    b"\x00",
)


@pytest.mark.parametrize("batch", range(_BATCHES))
def test_hostile_requests(tmp_path: Path, real: list[Json], batch: int) -> None:
    rng = random.Random(batch)
    crds = [rng.choice(real) for _ in range(4)]
    for number, definition in enumerate(crds):
        made = spoiled_crd(definition, rng) if number % 2 else definition
        (tmp_path / f"{number}.json").write_text(json.dumps(made))
    lines = [_line(crds, rng) for _ in range(_LINES)]
    asked = [line for line in lines if line.strip()]
    with bounded():
        ran = (spawn if batch % 20 == 0 else run)(
            "judge", "--requests", "-", cwd=tmp_path, stdin=b"\n".join(lines) + b"\n"
        )
    sound(ran, batch)
    answers = [json.loads(answer) for answer in ran.out.splitlines()]
    assert len(answers) == len(asked), (batch, ran.err)
    for line, answer in zip(asked, answers, strict=True):
        _answered(line, answer, batch)
    unanswered = [answer for answer in answers if "request" in (item["what"] for item in answer["unknown"])]
    assert ran.code == (2 if unanswered else 0), (batch, ran.err)


def _answered(line: bytes, answer: Json, batch: int) -> None:
    """A request that was judged is accepted with an object or rejected with a message; else the answer says why not."""
    try:
        wanted = json.loads(line)["id"]
    except (ValueError, LookupError, TypeError):
        wanted = None
    if isinstance(wanted, str) and wanted.isascii():
        assert answer["id"] == wanted, (batch, line)
    if not answer.get("unknown"):
        assert answer["accepted"] == (not answer["aggregate"]), (batch, line, answer)
        assert answer["accepted"] == (answer["result"] is not None), (batch, line, answer)


def _line(crds: list[Json], rng: random.Random) -> bytes:
    if rng.random() < 0.04:
        return rng.choice(_DAMAGE)
    number = rng.randrange(len(crds))
    spec = crds[number]["spec"]
    version = rng.choice(spec["versions"])
    request: Json = {
        "id": f"r{rng.randrange(1000)}",
        "crd": f"{number}.json",
        "version": version["name"],
        "op": rng.choice(_OPERATIONS[:8]),
        "kube": rng.choice(("1.21", "1.26", "1.31", "1.36", "openshift-4.12", "openshift-4.18")),
        "new": _object(spec, version, rng),
    }
    if rng.random() < 0.6:
        request["old"] = _object(spec, version, rng)
    for _ in range(rng.choice((0, 0, 0, 1, 2))):
        spoiled(request, rng, _KEYS)
    if rng.random() < 0.05:
        request[rng.choice(_KEYS)] = rng.choice((garbage(rng), *_OPERATIONS))
    return json.dumps(request).encode()


def _object(spec: Json, version: Json, rng: random.Random) -> Json:
    made: Json = {"apiVersion": f"{spec['group']}/{version['name']}", "kind": spec["names"]["kind"]}
    schema = version.get("schema", {}).get("openAPIV3Schema", {})
    members = schema.get("properties", {})
    parts = {name: _value(member, rng, 5) for name, member in members.items() if name not in made}
    metadata = {"name": "a", "namespace": "default", "resourceVersion": "1", "uid": "u"}
    return {**made, **parts, "metadata": garbage(rng) if rng.random() < 0.05 else metadata}


def _value(schema: Any, rng: random.Random, depth: int) -> Any:
    """A value that mostly fits its schema."""
    if not depth or rng.random() < 0.03:
        return garbage(rng)
    if schema.get("enum") and rng.random() < 0.9:
        return rng.choice(schema["enum"])
    match schema.get("type"):
        case "object":
            members = schema.get("properties", {})
            required = set(schema.get("required", ()))
            names = [name for name in members if name in required or rng.random() < 0.3]
            return {name: _value(members[name], rng, depth - 1) for name in names}
        case "array":
            return [_value(schema.get("items", {}), rng, depth - 1) for _ in range(rng.randrange(3))]
        case "integer" | "number":
            return rng.choice((0, 1, 5, -1, 2**31, 2**53 + 1, 1.5))
        case "boolean":
            return rng.random() < 0.5
        case "string":
            return rng.choice(("", "a", "abc", "10.0.0.1", "2020-01-01T00:00:00Z", "1h", "x" * 300))
    return garbage(rng)
