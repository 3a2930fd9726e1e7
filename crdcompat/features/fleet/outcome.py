"""What one recording of a fleet comes to: small, bounded, and as a line of JSON that a journal can hold.

Every outcome goes through that line, whoever made it: so a run in one process, in several, and one that goes on
from a journal say the same.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import orjson

from crdcompat.errors import Problem
from crdcompat.records import dataclass
from crdcompat.schema.paths import Pointer
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.writes import Endpoint, WriteResult

OUTSIDE = "outside"
#: What can become of an object, worst first.
STANDS = (*WriteResult, "", OUTSIDE)
#: Of a digest.
NAME_BYTES = 8


@dataclass(frozen=True, slots=True)
class HeldCause:
    """What a target rejects at one path, in one recording; ``file``, ``index``, ``pointer`` are where its CRD says so.

    ``values`` that are long are cut to text.
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
        """What makes it the same cause in another cluster."""
        return (self.crd, self.path, self.type)


@dataclass(frozen=True, slots=True)
class Missed:
    """Why some objects were not judged, how many, and one of them."""

    reason: str
    objects: int
    example: str


@dataclass(frozen=True, slots=True)
class TargetOutcome:
    """One recording in front of one target: objects by their worst verdict, what is rejected, what was not judged."""

    verdicts: dict[WriteResult, int]
    causes: tuple[HeldCause, ...]
    missed: tuple[Missed, ...]


@dataclass(frozen=True, slots=True)
class Stand:
    """What became of an object in front of one target; ``causes`` and ``missed`` are places in its lists.

    ``verdict`` is the worst of its writes, `OUTSIDE` where it concerns neither release, empty where it was not judged.
    """

    verdict: str
    causes: tuple[int, ...]
    missed: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fate:
    """Objects of which the same became in front of every target: digests of their names, in base 64."""

    objects: str
    stands: tuple[Stand, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recording in front of every target; ``failure`` is why there is nothing of it, else empty.

    ``id`` and ``version`` are the cluster's, ``outside`` counts objects that concern neither release, ``problems`` are
    the first of ``problem_count``. ``fates`` tell the objects apart, where there is an ``id`` that others may have.
    """

    failure: str = ""
    id: str | None = None
    version: str | None = None
    objects: int = 0
    outside: int = 0
    targets: tuple[TargetOutcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    fates: tuple[Fate, ...] = ()


def encode(outcome: Outcome) -> bytes:
    """One line of JSON, without its end."""
    return orjson.dumps(outcome, option=orjson.OPT_NON_STR_KEYS)


def decode(line: bytes) -> Outcome:
    """The outcome of such a line. Raises ValueError."""
    return from_data(orjson.loads(line))


def from_data(data: Any) -> Outcome:
    """The same of a line that was read. Raises ValueError."""
    try:
        targets = tuple(_target(item) for item in data["targets"])
        problems = tuple(Problem(**{**item, "side": Side(item["side"])}) for item in data["problems"])
        fates = tuple(_fate(item, targets) for item in data["fates"])
        return Outcome(**{**data, "targets": targets, "problems": problems, "fates": fates})
    except (TypeError, KeyError) as error:
        raise ValueError(f"no outcome: {error}") from None


def _target(data: dict[str, Any]) -> TargetOutcome:
    if set(data["verdicts"]) != set(WriteResult):
        raise ValueError("no outcome: other verdicts")
    causes = (
        HeldCause(
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
    return TargetOutcome(verdicts, tuple(causes), tuple(Missed(**item) for item in data["missed"]))


def _fate(data: dict[str, Any], targets: Sequence[TargetOutcome]) -> Fate:
    fate = Fate(data["objects"], tuple(_stand(*each) for each in zip(data["stands"], targets, strict=True)))
    if len(b64decode(fate.objects, validate=True)) % NAME_BYTES:
        raise ValueError("no outcome: half an object")
    return fate


def _stand(data: dict[str, Any], target: TargetOutcome) -> Stand:
    stand = Stand(data["verdict"], tuple(data["causes"]), tuple(data["missed"]))
    for places, there in ((stand.causes, target.causes), (stand.missed, target.missed)):
        if not all(0 <= place < len(there) for place in places):
            raise ValueError("no outcome: a place that is not there")
    if stand.verdict not in STANDS:
        raise ValueError("no outcome: another verdict")
    return stand
