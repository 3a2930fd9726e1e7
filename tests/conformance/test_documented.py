"""Requests made from Kubernetes' documentation: our answers are those of API servers 1.28 and 1.36.

A line of ``documented.ndjson``: ``about`` (the page, and its sentence in short), ``request`` (CRD and write, see
``Bench.differences``) and ``answers`` by minor. ``make conformance`` asks the servers again; with
``CRDCOMPAT_DOCUMENTED=write`` it records their answers, also those to new lines without any.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from differences import NAME, Bench, Json, body_of, compared, crd_of, crds_of, installation, stored_object, unexplained
from referee import Answer, Referee

import crdcompat

_FILE = Path(__file__).parent / "documented.ndjson"
_MINORS = ("1.28", "1.36")
_LINES: list[Json] = [json.loads(line) for line in _FILE.read_text(encoding="utf-8").splitlines()]
#: Not judged: the union of two sets.
_UNKNOWN = {"rules: + of a set is a union"}


def _group(index: int) -> str:
    return f"d{index}.example.com"


def _crd(index: int) -> Json:
    return crd_of(_LINES[index]["request"], _group(index))


def _differences(minor: str, index: int) -> list[str]:
    """What our answers and the recorded ones do not have in common."""
    request, crd, recorded = _LINES[index]["request"], _crd(index), _LINES[index]["answers"][minor]
    lines = installation(crd, _answer(recorded["crd"]), minor)
    if "update" in recorded:
        before, after = crds_of(request, _group(index))
        return lines + installation(after, _answer(recorded["update"]), minor, {**before, **recorded["installed"]})
    if "write" not in recorded:
        return lines
    old = None if request["op"] == "create" else stored_object(crd, request["old"])
    new = body_of(crd, request["op"], request["new"])
    verdict = crdcompat.judge(crd, request["op"], new, old, version="v1", kubernetes=minor)
    unknown = [f"unknown: {each.reason}" for each in verdict.unknown]
    return lines + unknown + compared(request["op"], verdict, _answer(recorded["write"]))


def _answer(kept: Json) -> Answer:
    return Answer(kept["code"], kept.get("object", kept))


@pytest.mark.parametrize("minor", _MINORS)
@pytest.mark.parametrize("index", range(len(_LINES)), ids=[line["about"] for line in _LINES])
def test_our_answers_are_the_recorded_ones(minor: str, index: int) -> None:
    lines = unexplained(minor, _differences(minor, index))
    if _LINES[index]["about"] in _UNKNOWN:
        assert [line.partition(":")[0] for line in lines] == ["unknown"]
    else:
        assert lines == []


def test_servers_answer_as_recorded(bench: Bench) -> None:
    if bench.minor not in _MINORS:
        pytest.skip(f"recorded are the answers of {' and '.join(_MINORS)}")
    answers = [_asked(bench.server, index) for index in range(len(_LINES))]
    if os.environ.get("CRDCOMPAT_DOCUMENTED") == "write":
        for line, answer in zip(_LINES, answers, strict=True):
            line.setdefault("answers", {})[bench.minor] = answer
        _FILE.write_text("".join(f"{json.dumps(line)}\n" for line in _LINES), encoding="utf-8")
    recorded = [line["answers"][bench.minor] for line in _LINES]
    assert [*map(_without_times, answers)] == [*map(_without_times, recorded)]


def _asked(server: Referee, index: int) -> Json:
    """What a server answers: to the CRD, and to the write if it takes the CRD."""
    request, crd = _LINES[index]["request"], _crd(index)
    if "then" in request:
        before, after = crds_of(request, _group(index))
        installed, current = server.install(before), server.crd(before)
        conditions = [{key: each[key] for key in ("type", "status")} for each in current["status"]["conditions"]]
        status = {"storedVersions": current["status"]["storedVersions"], "conditions": conditions}
        return {"crd": _kept(installed), "installed": {"status": status}, "update": _kept(server.update_crd(after))}
    installed = server.install(crd) if "op" in request else server.create_crd(crd)
    found: Json = {"crd": _kept(installed)}
    if not installed.accepted or "op" not in request:
        return found
    if request["op"] != "create":
        server.store(crd, stored_object(crd, request["old"]))
    answer = server.write(request["op"], crd, body_of(crd, request["op"], request["new"]), name=NAME)
    return {**found, "write": {**_kept(answer), "object": answer.body} if answer.accepted else _kept(answer)}


def _kept(answer: Answer) -> Json:
    causes = [{"reason": kind, "field": field, "message": text} for kind, field, text in answer.causes]
    return {"code": answer.code, "message": answer.message, "details": {"causes": causes}}


def _without_times(answer: Json) -> Json:
    """An answer without what differs from run to run."""
    without: Json = json.loads(re.sub(r"0x[0-9a-f]+", "0x…", json.dumps(answer)))
    if "object" in without.get("write", ()):
        without["write"]["object"]["metadata"] = {}
    return without
