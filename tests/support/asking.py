"""Many writes put to the installed command: one process of ``judge --requests`` for all of them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from helpers import Json, spawn


class Request(NamedTuple):
    """A write to one version of a CRD on a server; ``old`` is the stored object."""

    crd: Json
    version: str
    operation: str
    kube: str
    new: Json
    old: Json | None = None


class SaidError(NamedTuple):
    """An error as the answer shows it."""

    type: str
    field: str
    detail: str
    sentence: str

    def text(self) -> str:
        """The sentence, as ``FieldError.text`` gives it."""
        return self.sentence


class Answered(NamedTuple):
    """The answer to one write, with the names of ``Verdict``."""

    accepted: bool | None
    errors: tuple[SaidError, ...]
    object: Json | None
    message: str
    pruned: tuple[str, ...]
    defaulted: tuple[str, ...]


def asked(requests: Sequence[Request]) -> list[Answered]:
    """The answers, in order. Raises AssertionError unless each is answered."""
    if not requests:
        return []
    with tempfile.TemporaryDirectory() as folder:
        files: dict[int, str] = {}
        for each in requests:
            if id(each.crd) not in files:
                files[id(each.crd)] = f"{len(files)}.json"
                (Path(folder) / files[id(each.crd)]).write_text(json.dumps(each.crd))
        lines = [
            json.dumps(
                {
                    "id": number,
                    "crd": files[id(each.crd)],
                    "version": each.version,
                    "op": each.operation,
                    "kube": each.kube,
                    "new": each.new,
                    "old": each.old,
                }
            )
            for number, each in enumerate(requests)
        ]
        ran = spawn("judge", "--requests", "-", cwd=Path(folder), stdin="\n".join(lines).encode())
    answers = [json.loads(line) for line in ran.out.split("\n") if line]
    assert [answer["id"] for answer in answers] == list(range(len(requests))), ran.err
    unanswered = [answer["unknown"] for answer in answers if any(u["what"] == "request" for u in answer["unknown"])]
    assert not unanswered, unanswered[0]
    return [*map(_answered, answers)]


def _answered(answer: dict[str, Any]) -> Answered:
    errors = (SaidError(each["type"], each["field"], each["detail"], each["text"]) for each in answer["errors"])
    return Answered(
        answer["accepted"],
        tuple(errors),
        answer["result"],
        answer["aggregate"],
        tuple(answer["pruned_paths"]),
        tuple(answer["defaulted_paths"]),
    )
