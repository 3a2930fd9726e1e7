"""The outcome of one recording of a fleet: bounded in size, and encoded as one line of JSON for the journal.

Every outcome is encoded and decoded, also within one process. So runs in one process, in several, and from a journal
give the same report. The field names are the journal's keys.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Sequence
from typing import Any

import orjson
from msgspec import Struct, ValidationError, convert, to_builtins

from crdcompat.errors import Problem
from crdcompat.schema.paths import Pointer
from crdcompat.vocabulary.writes import Apart, Endpoint, WriteResult

OUTSIDE = "outside"
#: The verdicts of an object, worst first; "" where it is not judged.
OBJECT_VERDICTS = (*WriteResult, "", OUTSIDE)
#: The size of the digest of an object's name.
NAME_BYTES = 8


class RecordingCause(Struct, frozen=True):
    """What a target rejects at one path of one recording's objects.

    ``file``, ``index`` and ``pointer`` give the place in the CRD that rejects it, if a line of a CRD does. Long
    ``values`` are cut text. ``hidden``: which of them are not to be published.
    """

    crd: str
    kind: str
    path: str
    type: str
    endpoint: Endpoint
    values: tuple[Any, ...]
    hidden: tuple[bool, ...]
    objects: int
    example: str
    file: str = ""
    index: int = 0
    pointer: Pointer = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the cause, equal in all clusters."""
        return (self.crd, self.path, self.type)


class UnjudgedObjects(Struct, frozen=True):
    """Objects that were not judged for one reason: their number, and one of them as an example."""

    reason: str
    objects: int
    example: str


class TargetOutcome(Struct, frozen=True):
    """One recording against one target: objects by their worst verdict, causes of rejections, unjudged objects.

    ``apart`` counts objects with rejections or losses that the writing release has as well.
    """

    verdicts: dict[WriteResult, int]
    causes: tuple[RecordingCause, ...]
    missed: tuple[UnjudgedObjects, ...]
    apart: dict[Apart, int]


class StoredResult(Struct, frozen=True):
    """The result of one object against one target; ``causes`` and ``missed`` are indices in the target's lists.

    ``verdict`` is the worst of its writes, `OUTSIDE` if neither release defines its kind, "" if it was not judged.
    """

    verdict: str
    causes: tuple[int, ...]
    missed: tuple[int, ...]
    apart: tuple[Apart, ...] = ()


class ResultGroup(Struct, frozen=True):
    """Objects with the same result against every target: digests of their names, in base 64."""

    objects: str
    stands: tuple[StoredResult, ...]


class RejectedObject(Struct, frozen=True):
    """An object that a target rejects; ``causes`` are, for each target, indices in its list of causes."""

    object: str
    causes: tuple[tuple[int, ...], ...]


class Outcome(Struct, frozen=True):
    """One recording against every target; ``failure`` is why it could not be read, else "".

    ``id``, ``version`` and ``platform`` are the cluster's. ``outside`` counts objects of kinds that neither release
    defines. ``problems`` are the first of ``problem_count``. ``recorded`` are the CRDs of which there is an object or
    an empty list. ``fates`` identify the objects if the recording has an ``id``:
    only then can another recording be of the same cluster. ``rejected`` are the first objects that a target rejects.
    """

    failure: str = ""
    id: str | None = None
    version: str | None = None
    platform: str | None = None
    objects: int = 0
    outside: int = 0
    targets: tuple[TargetOutcome, ...] = ()
    problems: tuple[Problem, ...] = ()
    problem_count: int = 0
    recorded: tuple[str, ...] = ()
    fates: tuple[ResultGroup, ...] = ()
    rejected: tuple[RejectedObject, ...] = ()


def encode(outcome: Outcome) -> bytes:
    """Encode an outcome as one line of JSON, without a newline."""
    return orjson.dumps(to_builtins(outcome), option=orjson.OPT_NON_STR_KEYS)


def decode(line: bytes) -> Outcome:
    """Decode a line of ``encode``. Raises ValueError."""
    return from_data(orjson.loads(line))


def from_data(data: Any) -> Outcome:
    """The outcome of parsed JSON. Raises ValueError."""
    if not isinstance(data, dict) or set(data) != set(Outcome.__struct_fields__):
        raise ValueError("no outcome: other keys")  # of another version of the program
    try:
        outcome = convert(data, Outcome)
    except ValidationError as error:
        raise ValueError(f"no outcome: {error}") from None
    whole = (set(WriteResult), set(Apart))
    if any((set(target.verdicts), set(target.apart)) != whole for target in outcome.targets):
        raise ValueError("no outcome: other verdicts")
    for group in outcome.fates:
        _check_group(group, outcome.targets)
    for item in outcome.rejected:
        for places, target in zip(item.causes, outcome.targets, strict=True):
            _check_places(places, target.causes)
    return outcome


def _check_group(group: ResultGroup, targets: Sequence[TargetOutcome]) -> None:
    """Raise ValueError for results that the targets do not have."""
    if len(b64decode(group.objects, validate=True)) % NAME_BYTES:
        raise ValueError("no outcome: half an object")
    for result, target in zip(group.stands, targets, strict=True):
        for places, listed in ((result.causes, target.causes), (result.missed, target.missed)):
            _check_places(places, listed)
        if result.verdict not in OBJECT_VERDICTS:
            raise ValueError("no outcome: another verdict")


def _check_places(places: Sequence[int], listed: Sequence[object]) -> None:
    """Raise ValueError for an index that the list does not have."""
    if not all(0 <= place < len(listed) for place in places):
        raise ValueError("no outcome: a place that is not there")
