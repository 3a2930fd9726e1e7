"""What a report of simulate holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from crdcompat.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crdcompat.policy.findings import Location
    from crdcompat.problems import Problem, Skipped
    from crdcompat.report.model import Release


@dataclass(frozen=True, slots=True)
class WriteVerdict:
    """One kind of write of one object: accepted, rejected, loses-data or unknown."""

    verdict: str
    errors: tuple[dict[str, Any], ...] = ()
    message: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class SimulatedObject:
    """One recorded object replayed: every kind of write, and what would repair it."""

    api_version: str
    kind: str
    namespace: str
    name: str
    source: str
    crd: str
    version: str
    writes: dict[str, WriteVerdict]
    repair: dict[str, Any]
    pruned: tuple[str, ...]
    defaulted: tuple[str, ...]

    @property
    def label(self) -> str:
        """``ClusterVersion/version`` or ``Machine/namespace/name``."""
        return "/".join(part for part in (self.kind, self.namespace, self.name) if part)

    @property
    def worst(self) -> str:
        """The worst verdict over all writes."""
        return worst_verdict(write.verdict for write in self.writes.values())


#: Worst first.
VERDICTS = ("rejected", "unknown", "loses-data", "accepted")


def worst_verdict(verdicts: Iterable[str]) -> str:
    """The worst of the verdicts on an object's writes."""
    return min(verdicts, key=VERDICTS.index, default="accepted")


@dataclass(frozen=True, slots=True)
class RejectedCause:
    """What recorded objects of one kind hold at one path that the judging release rejects.

    ``objects`` of ``total`` hold it; ``endpoint`` is where a write can take it out (``main`` or ``status``),
    ``location`` the line of the judging release's CRD that would have to be widened.
    """

    crd: str
    kind: str
    path: str
    type: str
    values: tuple[Any, ...]
    objects: int
    total: int
    endpoint: str
    location: Location | None
    example: str


@dataclass(frozen=True, slots=True)
class NotSimulated:
    """A recorded object (or file) that could not be replayed, and why.

    ``crd`` is the CRD of its kind, where one is known. ``outside``: neither release defines its kind, so neither has
    a say in it. ``problem`` is what is wrong with the input, where that is why.
    """

    object: str
    source: str
    reason: str
    crd: str = ""
    outside: bool = False
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class SimulationReport:
    """The result of ``simulate``."""

    KIND: ClassVar[Literal["simulation"]] = "simulation"

    old: Release
    new: Release
    direction: str
    objects: tuple[SimulatedObject, ...]
    not_simulated: tuple[NotSimulated, ...]
    skipped: tuple[Skipped, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = field(default=())
    causes: tuple[RejectedCause, ...] = field(default=())

    def by_verdict(self) -> dict[str, int]:
        """Objects by their worst verdict."""
        counted = Counter(item.worst for item in self.objects)
        return {verdict: counted[verdict] for verdict in VERDICTS}

    def fails(self, threshold: str) -> bool:
        """Any rejected write fails; ``warning`` and lower count lost data and unknown verdicts too."""
        counted = self.by_verdict()
        if threshold == "never":
            return False
        failing = ["rejected"]
        if threshold in ("warning", "info", "undecided"):
            failing.append("unknown")
        if threshold in ("warning", "info"):
            failing.append("loses-data")
        return any(counted[verdict] for verdict in failing) or (threshold == "undecided" and bool(self.not_simulated))
