"""The report of simulate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import Struct, field

from crdcompat.models.outcome import Judgement, WithVerdict, counted, judged_writes
from crdcompat.vocabulary import Direction
from crdcompat.vocabulary.writes import COUNTED_WRITES, Endpoint, RepairVerdict, WriteKind, WriteResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.finding import Finding, Growth, Location
    from crdcompat.models.release import Release

#: The type of a cause that no release rejects: values that are held before the release that is declared to write them.
TOO_EARLY = "ValueTooEarly"
#: The type of the cause of a fleet that Helm deletes the objects, with their CRD.
DELETED = "DeletedWithCrd"


class Said(Struct, frozen=True):
    """The answer of a server to a write: its errors as data, and the message to the client."""

    errors: tuple[dict[str, Any], ...] = ()
    message: str = ""


class WriteVerdict(Struct, frozen=True):
    """The verdict on one kind of write of one object: accepted, rejected, loses-data or unknown.

    ``already``: the release that wrote the object rejects the write as well, so that the rejection does not count.
    ``redacted`` is the answer without values of the object; None if it has none to hide. ``manager`` is the field
    manager that the object names for the write; without the values at ``accepted_without`` its write is accepted.
    """

    verdict: WriteResult
    errors: tuple[dict[str, Any], ...] = ()
    message: str = ""
    note: str = ""
    already: bool = False
    redacted: Said | None = None
    manager: str = ""
    accepted_without: tuple[str, ...] = ()


class Repair(Struct, frozen=True):
    """The repair of an object: ``verdict`` is the endpoint of the single write, ``deadlock`` or ``not-needed``.

    ``patch`` is the merge patch for that endpoint; in a deadlock it contains the changes that both halves need.
    ``redacted`` is the patch without values of the object.
    """

    verdict: RepairVerdict
    patch: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    redacted: dict[str, Any] = field(default_factory=dict)


class SimulatedObject(Struct, frozen=True):
    """One replayed object: the verdict on every kind of write, and the repair.

    ``pruned`` are the fields that it loses. The release that wrote it prunes ``not_stored`` as well: the recording has
    fields that are not stored.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    source: str
    crd: str
    version: str
    writes: dict[WriteKind, WriteVerdict]
    repair: Repair
    pruned: tuple[str, ...]
    defaulted: tuple[str, ...]
    not_stored: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """``ClusterVersion/version`` or ``Machine/namespace/name``."""
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)

    @property
    def worst(self) -> WriteResult:
        """The worst verdict over all writes that count."""
        counted = map(self.writes.__getitem__, COUNTED_WRITES)
        return worst_verdict(write.verdict for write in counted if not write.already)

    @property
    def only_create_is_rejected(self) -> bool:
        """Whether the object goes on working, but cannot be restored from a backup."""
        create = self.writes.get(WriteKind.CREATE)
        rejects = create is not None and create.verdict is WriteResult.REJECTED and not create.already
        return rejects and self.worst is not WriteResult.REJECTED


def worst_verdict(verdicts: Iterable[WriteResult]) -> WriteResult:
    """The worst of the verdicts on an object's writes."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=WriteResult.ACCEPTED)


class RejectedCause(Struct, frozen=True):
    """Values at one path of one kind's recorded objects that the judging release rejects.

    ``objects`` of ``total`` are affected; ``endpoint`` (``main`` or ``status``) is where a write can remove the values,
    ``location`` the line of the judging release's CRD to widen. ``redacted`` are the values to publish. ``growth`` is
    the declaration that a cause of the type ``TOO_EARLY`` breaks: the judging release may accept its values. ``writes``
    are the kinds of write that fail by the values; () if no error names them.
    """

    crd: str
    kind: str
    path: str
    type: str
    values: tuple[Any, ...]
    objects: int
    total: int
    endpoint: Endpoint
    location: Location | None
    example: str
    redacted: tuple[Any, ...] = ()
    growth: Growth | None = None
    writes: tuple[WriteKind, ...] = ()


class NotSimulated(Struct, frozen=True):
    """A recorded object (or file) that could not be replayed, and why.

    ``crd`` is the CRD of its kind, "" if unknown. ``outside``: neither release defines its kind. ``alike``: both
    judge its kind alike. ``lost``: the installer deletes it with its CRD. ``problem`` is the problem of the input, if
    that is the reason.
    """

    object: str
    source: str
    reason: str
    crd: str = ""
    outside: bool = False
    problem: Problem | None = None
    alike: bool = False
    lost: bool = False


class Unrecorded(Struct, frozen=True):
    """A kind with findings of which the recording has no object and no empty list: its verdict is unknown.

    ``findings`` counts its errors and warnings in the direction of the replay.
    """

    crd: str
    kind: str
    findings: int


class SimulationReport(WithVerdict, frozen=True):
    """The result of ``simulate``.

    ``causes`` are what the judging release alone rejects, then values that are held too early. ``already`` is what the
    writing release rejects as well. ``hidden`` are findings on recorded kinds that cannot show in the objects of a
    cluster older than the writing release. ``recorded`` are the names of the recorded CRDs, also those with an empty
    list; ``unrecorded`` are the kinds with findings that are not among them.
    """

    KIND: ClassVar[Literal["simulation"]] = "simulation"

    old: Release
    new: Release
    direction: Direction
    objects: tuple[SimulatedObject, ...]
    not_simulated: tuple[NotSimulated, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = field(default=())
    causes: tuple[RejectedCause, ...] = field(default=())
    already: tuple[RejectedCause, ...] = field(default=())
    hidden: tuple[Finding, ...] = field(default=())
    recorded: frozenset[str] = field(default=frozenset())
    unrecorded: tuple[Unrecorded, ...] = field(default=())

    @property
    def early(self) -> tuple[RejectedCause, ...]:
        """The values that are held before the release that is declared to write them: errors, accepted or not."""
        return tuple(cause for cause in self.causes if cause.growth is not None)

    def by_verdict(self) -> dict[WriteResult, int]:
        """The number of objects per worst verdict."""
        return counted(WriteResult, (item.worst for item in self.objects))

    @property
    def missed(self) -> tuple[NotSimulated, ...]:
        """The objects that were not judged, and that the releases may judge differently."""
        return tuple(item for item in self.not_simulated if not (item.outside or item.alike or item.lost))

    @property
    def lost(self) -> tuple[NotSimulated, ...]:
        """The objects that the installer deletes with their CRDs."""
        return tuple(item for item in self.not_simulated if item.lost)

    @property
    def judgement(self) -> Judgement:
        """What decides the verdict: rejected writes, a ``create`` alone excepted, values held too early, losses."""
        unjudged = bool(self.missed or self.unrecorded)
        undone = bool(self.problems) or not (self.objects or self.lost)
        fails = bool(self.early or self.lost)
        return judged_writes(self.by_verdict(), unjudged=unjudged, undone=undone, fails=fails)


# The fields that recorded objects lose through an accepted write, summed up by kind and field.


_ITEM = re.compile(r"\[\d+\]")


class Loss(Struct):
    """A field that ``objects`` of one kind lose or do not store, and an example.

    ``[*]`` in a path is any item of a list.
    """

    crd: str
    kind: str
    path: str
    objects: int
    example: str


def general_path(path: str) -> str:
    """The path with ``[*]`` for each item of a list."""
    return _ITEM.sub("[*]", path)


class LossCounter:
    """Counts the fields that objects lose; memory grows with distinct fields, not with objects.

    ``most`` limits the number of fields, because a key of a map makes a path of its own. ``has_more``: some are not
    listed.
    """

    def __init__(self, most: int | None = None) -> None:
        self._found: dict[tuple[str, str], Loss] = {}
        self._most = most
        self.has_more = False

    def add(self, crd: str, kind: str, label: str, paths: Sequence[str]) -> None:
        """Count the fields of one object; ``label`` names it."""
        for path in dict.fromkeys(map(general_path, paths)):
            if (crd, path) not in self._found and len(self._found) == self._most:
                self.has_more = True
                continue
            loss = self._found.setdefault((crd, path), Loss(crd, kind, path, 0, label))
            loss.objects += 1

    def losses(self) -> list[Loss]:
        """All fields; fields of most objects come first."""
        return sorted(self._found.values(), key=lambda loss: (-loss.objects, loss.crd, loss.path))


def losses(report: SimulationReport) -> list[Loss]:
    """The fields that the next accepted write erases; fields of most objects come first."""
    return _counted((item, item.pruned) for item in report.objects if _loses(item))


def not_stored(report: SimulationReport) -> list[Loss]:
    """The recorded fields that the writing release prunes as well; fields of most objects come first."""
    return _counted((item, item.not_stored) for item in report.objects)


def _counted(items: Iterable[tuple[SimulatedObject, Sequence[str]]]) -> list[Loss]:
    counter = LossCounter()
    for item, paths in items:
        counter.add(item.crd, item.kind, item.label, paths)
    return counter.losses()


def _loses(item: SimulatedObject) -> bool:
    return any(write.verdict == WriteResult.LOSES_DATA for write in item.writes.values())
