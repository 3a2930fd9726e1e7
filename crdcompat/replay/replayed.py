"""The replay of one object on each server, and the verdict if copies of its CRD disagree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.server_versions import Server
from crdcompat.crds.resolving import Chosen
from crdcompat.models.simulation import NotSimulated, worst_verdict
from crdcompat.recordings.recorded_objects import Recorded
from crdcompat.replay.replayed_writes import Replay
from crdcompat.replay.write_answer import Answer
from crdcompat.schema.structural import Node
from crdcompat.vocabulary.writes import COUNTED_WRITES, Apart, WriteKind, WriteResult

ASK = "depends on the Kubernetes version: give --kube-version or --openshift-version"


class Replayed(Struct, frozen=True, dict=True):
    """One object replayed on a version of a CRD, by the known server, else by servers that represent all others.

    ``schemas`` are the judging schema, and the schema of the release that wrote the object, if any.
    """

    item: Recorded
    label: str
    kind: str
    api_version: str
    crd: str
    chosen: Chosen
    schemas: tuple[Node, ...]
    by_server: tuple[tuple[Server, Replay], ...]

    @property
    def last(self) -> Replay:
        """The replay on the newest of the servers."""
        return self.by_server[-1][1]

    def answers(self, write: WriteKind) -> list[tuple[Server, Answer]]:
        """The answer of each server to one kind of write."""
        return [(server, result.writes[write]) for server, result in self.by_server]

    @cached_property
    def worst(self) -> WriteResult:
        """The worst verdict over all writes that count. The verdict on a write is unknown if the servers differ."""
        return worst_verdict(map(self._verdict, COUNTED_WRITES))

    @property
    def doubt(self) -> str:
        """The reason why the answer to a write is unknown, for the first such write; "" if there is none."""
        unknown = (
            name for name in COUNTED_WRITES if name in self.last.writes and self._verdict(name) == WriteResult.UNKNOWN
        )
        answers = (answer for name in unknown for _, answer in self.answers(name)[-1:])
        return next((answer.note if answer.verdict == WriteResult.UNKNOWN else ASK for answer in answers), "")

    @property
    def apart(self) -> tuple[Apart, ...]:
        """The marks of an object that the writing release rejects, too, or does not store as it is."""
        already = any(answer.already for answer in self.last.writes.values())
        return (Apart.ALREADY,) * already + (Apart.NOT_STORED,) * bool(self.last.not_stored)

    def _verdict(self, write: WriteKind) -> WriteResult:
        verdicts = {answer.counts for _, answer in self.answers(write)}
        return verdicts.pop() if len(verdicts) == 1 else WriteResult.UNKNOWN


def worst_of_copies(outcomes: Sequence[Replayed | NotSimulated], copies: Sequence[Chosen]) -> Replayed | NotSimulated:
    """The worst of the outcomes on ``copies`` of a CRD, because a cluster may have any copy.

    If the outcomes differ, notes name the files."""
    worst, *others = sorted(outcomes, key=_rank)
    if not isinstance(worst, Replayed) or all(_rank(other) == _rank(worst) for other in others):
        return worst
    files = sorted({chosen.document.file for chosen in copies})
    reason = f"copies of the CRD disagree ({', '.join(files)})"
    noted = [(server, _noted(result, reason)) for server, result in worst.by_server]
    return replace(worst, by_server=tuple(noted))


def _rank(outcome: Replayed | NotSimulated) -> tuple[int, bool, bool]:
    """The sort key of outcomes: rejections first, then objects that could not be judged.

    Of equal outcomes the first belongs to a copy under which the object can have been written.
    """
    if isinstance(outcome, NotSimulated):
        return WriteResult.UNKNOWN.rank, False, False
    return outcome.worst.rank, True, bool(outcome.apart)


def _noted(result: Replay, reason: str) -> Replay:
    """The replay with ``reason`` as a note on each answer that is not accepted."""
    writes = {
        kind: answer
        if answer.counts is WriteResult.ACCEPTED
        else replace(answer, note="; ".join(filter(None, (answer.note, reason))))
        for kind, answer in result.writes.items()
    }
    return replace(result, writes=writes)
