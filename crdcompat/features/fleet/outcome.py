"""The outcome of one recording of a fleet: bounded in size, and encoded as one line of JSON for the journal.

Every outcome is encoded and decoded, also within one process. So runs in one process, in several, and from a journal
give the same report. The field names are the journal's keys.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from crdcompat.errors import Problem
from crdcompat.schema.paths import Pointer
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.writes import Endpoint, WriteResult

OUTSIDE = "outside"
#: The verdicts of an object, worst first; "" where it is not judged.
OBJECT_VERDICTS = (*WriteResult, "", OUTSIDE)
#: The size of the digest of an object's name.
NAME_BYTES = 8


@dataclass(frozen=True, slots=True)
class RecordingCause:
    """What a target rejects at one path of one recording's objects.

    ``file``, ``index`` and ``pointer`` give the place in the CRD that rejects it. Long ``values`` are cut text.
    """

    crd: str
    kind: str
    path: str
    type: str
    endpoint: Endpoint
    values: tuple[Any, ...]
    objects: int
    example: str
    file: str
    index: int
    pointer: Pointer

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the cause, equal in all clusters."""
        return (self.crd, self.path, self.type)


@dataclass(frozen=True, slots=True)
class UnjudgedObjects:
    """Objects that were not judged for one reason: their number, and one of them as an example."""

    reason: str
    objects: int
    example: str


@dataclass(frozen=True, slots=True)
class TargetOutcome:
    """One recording against one target: objects by their worst verdict, causes of rejections, unjudged objects."""

    verdicts: dict[WriteResult, int]
    causes: tuple[RecordingCause, ...]
    missed: tuple[UnjudgedObjects, ...]


@dataclass(frozen=True, slots=True)
class StoredResult:
    """The result of an object against one target; ``causes`` and ``missed`` are indices in the target's lists.

    ``verdict`` is the worst of its writes, `OUTSIDE` if neither release defines its kind, "" if it was not judged.
    """

    verdict: str
    causes: tuple[int, ...]
    missed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ResultGroup:
    """Objects with the same result against every target: digests of their names, in base 64."""

    objects: str
    stands: tuple[StoredResult, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recording against every target; ``failure`` is why it could not be read, else "".

    ``id`` and ``version`` are the cluster's. ``outside`` counts objects of kinds that neither release defines.
    ``problems`` are the first of ``problem_count``. ``fates`` identify the objects if the recording has an ``id``:
    only then can another recording be of the same cluster.
    """

    failure: str = ""
    id: str | None = None
    version: str | None = None
    objects: int = 0
    outside: int = 0
    targets: tuple[TargetOutcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    fates: tuple[ResultGroup, ...] = ()


def encode(outcome: Outcome) -> bytes:
    """Encode an outcome as one line of JSON, without a newline."""
    return orjson.dumps(outcome, option=orjson.OPT_NON_STR_KEYS)


def decode(line: bytes) -> Outcome:
    """Decode a line of ``encode``. Raises ValueError."""
    return from_data(orjson.loads(line))


def from_data(data: Any) -> Outcome:
    """The outcome of parsed JSON. Raises ValueError."""
    try:
        targets = tuple(_target(item) for item in data["targets"])
        problems = tuple(Problem(**{**item, "side": Side(item["side"])}) for item in data["problems"])
        groups = tuple(_group(item, targets) for item in data["fates"])
        return Outcome(**{**data, "targets": targets, "problems": problems, "fates": groups})
    except (TypeError, KeyError) as error:
        raise ValueError(f"no outcome: {error}") from None


def _target(data: dict[str, Any]) -> TargetOutcome:
    if set(data["verdicts"]) != set(WriteResult):
        raise ValueError("no outcome: other verdicts")
    causes = (
        RecordingCause(
            **{
                **item,
                "endpoint": Endpoint(item["endpoint"]),
                "values": tuple(item["values"]),
                "pointer": tuple(item["pointer"]),
            }
        )
        for item in data["causes"]
    )
    verdicts = {WriteResult(result): count for result, count in data["verdicts"].items()}
    return TargetOutcome(verdicts, tuple(causes), tuple(UnjudgedObjects(**item) for item in data["missed"]))


def _group(data: dict[str, Any], targets: Sequence[TargetOutcome]) -> ResultGroup:
    group = ResultGroup(data["objects"], tuple(_result(*each) for each in zip(data["stands"], targets, strict=True)))
    if len(b64decode(group.objects, validate=True)) % NAME_BYTES:
        raise ValueError("no outcome: half an object")
    return group


def _result(data: dict[str, Any], target: TargetOutcome) -> StoredResult:
    result = StoredResult(data["verdict"], tuple(data["causes"]), tuple(data["missed"]))
    for places, listed in ((result.causes, target.causes), (result.missed, target.missed)):
        if not all(0 <= place < len(listed) for place in places):
            raise ValueError("no outcome: a place that is not there")
    if result.verdict not in OBJECT_VERDICTS:
        raise ValueError("no outcome: another verdict")
    return result
