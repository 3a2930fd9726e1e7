"""The tally of a preflight: how many objects of a cluster a rollback rejects, changes or loses, by cause and field.

Memory grows with the number of causes and fields, not with the number of objects.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from crdcompat.features.preflight.affected_kinds import Scope
from crdcompat.features.preflight.gaps import Gaps
from crdcompat.features.preflight.plan import Rollback
from crdcompat.features.preflight.writers import managers_of
from crdcompat.features.simulate.early import EarlyValues
from crdcompat.findings.growth import Declaration
from crdcompat.models.preflight import DeletedKind, FieldWriter, JudgedKind, Step, StepKind
from crdcompat.models.simulation import Loss, LossCounter, NotSimulated, RejectedCause
from crdcompat.recordings.recorded_objects import EmptyList, ObjectItem, Recorded
from crdcompat.recordings.telling_kinds import CLUSTER_VERSION, FEATURE_GATE, INFRASTRUCTURE
from crdcompat.replay.rejected_values import CauseCounter
from crdcompat.replay.replayed import ASK, Replayed
from crdcompat.replay.replayed_writes import Cause
from crdcompat.schema.paths import render
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.writes import WriteResult

#: Rejected objects whose repair a report lists.
MAX_REPAIRED = 500
#: Lost fields that a report lists.
MAX_LISTED = 500
#: The CRDs of the kinds that `ClusterFacts` reads.
_TELLING = frozenset(f"{kind.name.lower()}s.{kind.group}" for kind in (CLUSTER_VERSION, INFRASTRUCTURE, FEATURE_GATE))


class Tally:
    """Replays objects of needed kinds one by one, and counts the outcomes.

    ``is_deduplicated``: the source yields each object once. ``gaps`` are the objects that were not judged. ``recorded``
    are the CRDs with an object or an empty list. ``already`` counts the objects that the installed CRDs reject, too;
    ``unlisted`` the rejected objects beyond `MAX_REPAIRED`. ``stuck`` are the CRDs with rejected objects that no step
    repairs. ``early`` has the objects that hold values of ``growth``. The rollback deletes ``lost`` objects of a CRD.
    """

    def __init__(
        self, scope: Scope, rollback: Rollback, *, is_deduplicated: bool, growth: Sequence[Declaration] = ()
    ) -> None:
        self._scope = scope
        self._rollback = rollback
        self.gaps = Gaps()
        self._seen: set[tuple[str, ...]] | None = None if is_deduplicated else set()
        self._causes, self._losses = CauseCounter(_rejected_by), LossCounter(MAX_LISTED)
        self._tolerated = CauseCounter(_tolerated_by)
        self._objects, self._rejected, self._losing = Counter[str](), Counter[str](), Counter[str]()
        self._writers = Counter[tuple[str, str, str, str]]()
        self.early = EarlyValues(growth)
        #: The kinds of which each object may tell something: about its cluster, or about declared values.
        self._told = _TELLING.union(declaration.crd for declaration in growth)
        self.recorded: set[str] = set()
        self.steps: list[Step] = []
        self.stuck: set[str] = set()
        self.unlisted = 0
        self.lost = Counter[str]()
        self.already = 0

    def add(self, item: ObjectItem) -> bool:
        """Replay one more object of a needed kind, or record what was not read.

        Returns whether a report may show it: of the other objects ``add_plain`` gets the number alone.
        """
        replayer = self._rollback.replayer
        if isinstance(item, EmptyList):
            self.recorded.add(replayer.crd_of(item))
        elif not isinstance(item, Recorded):
            self.gaps.add_unread(item)
        else:
            item = replayer.completed(item)
            crd = self._rollback.crd_of(item.data)
            if crd in self._scope.needed:
                self.recorded.add(crd)
                outcome = replayer.replay_once(item, set() if self._seen is None else self._seen)
                if isinstance(outcome, NotSimulated) and outcome.lost:
                    self.lost[crd] += 1
                elif isinstance(outcome, NotSimulated):
                    self.gaps.add(crd, outcome.reason)
                elif isinstance(outcome, Replayed):
                    self._count(outcome)
                    return crd in self._told or not _is_plain(outcome)
        return True

    def add_plain(self, crd: str, objects: int) -> None:
        """Count objects of a kind that were replayed before, and of which no report shows more than their number."""
        if objects:
            self.recorded.add(crd)
            self._objects[crd] += objects
            self._causes.add_plain(crd, objects)
            self._tolerated.add_plain(crd, objects)

    def kinds(self) -> tuple[JudgedKind, ...]:
        """The counts of judged objects for each needed kind, in their order."""
        return tuple(
            JudgedKind(
                crd,
                self._scope.news[crd].crd.kind,
                findings,
                self._objects[crd],
                self._rejected[crd],
                self._losing[crd],
            )
            for crd, findings in self._scope.needed.items()
            if crd not in self._scope.deleted
        )

    def deleted(self) -> tuple[DeletedKind, ...]:
        """The kinds with objects that the rollback deletes."""
        news = self._scope.news
        return tuple(DeletedKind(crd, news[crd].crd.kind, count) for crd, count in sorted(self.lost.items()))

    def causes(self) -> tuple[RejectedCause, ...]:
        """The values that OLD rejects."""
        return self._causes.summary(self._scope.old, Side.OLD)

    def tolerated(self) -> tuple[RejectedCause, ...]:
        """The values that OLD's schema rejects, but its server ratchets: writes that do not change them pass."""
        return self._tolerated.summary(self._scope.old, Side.OLD)

    def losses(self) -> tuple[Loss, ...]:
        """The fields that the next accepted write erases."""
        return tuple(self._losses.losses())

    @property
    def loses_more(self) -> bool:
        """Whether ``losses`` omits fields beyond `MAX_LISTED`."""
        return self._losses.has_more

    def writers(self) -> tuple[FieldWriter, ...]:
        """The managers of rejected values; managers of most objects come first."""
        return tuple(FieldWriter(*key, count) for key, count in self._writers.most_common())

    def _count(self, replayed: Replayed) -> None:
        crd = replayed.crd
        self._objects[crd] += 1
        self._causes.add(replayed)
        self._tolerated.add(replayed)
        self.early.add(replayed)
        worst = replayed.worst
        self.already += any(answer.already for answer in replayed.last.writes.values())
        counts = {answer.counts for answer in replayed.last.writes.values()}
        # A rejected object loses its fields once it is repaired.
        if replayed.last.pruned and not counts.isdisjoint((WriteResult.LOSES_DATA, WriteResult.REJECTED)):
            self._losing[crd] += 1
            self._losses.add(crd, replayed.kind, replayed.label, replayed.last.pruned)
        if worst is WriteResult.UNKNOWN:
            self.gaps.add(crd, replayed.doubt, StepKind.NAME_SERVER if replayed.doubt == ASK else StepKind.TRY)
        elif worst is WriteResult.REJECTED:
            self._rejected[crd] += 1
            self._add_writers(replayed)
            if self._is_full:
                self.unlisted += 1
            else:
                repairs = self._rollback.repairs.steps(replayed)
                self.steps += repairs
                if not repairs:
                    self.stuck.add(crd)

    @property
    def _is_full(self) -> bool:
        return sum(self._rejected.values()) > MAX_REPAIRED

    def _add_writers(self, replayed: Replayed) -> None:
        found = {
            (manager, replayed.crd, replayed.kind, render(cause.path))
            for cause in replayed.last.causes
            if cause.pointer
            for manager in managers_of(replayed.item.data, cause.pointer)
        }
        self._writers.update(sorted(found))


def _is_plain(replayed: Replayed) -> bool:
    """Whether nothing is to be said of an object but that it was judged."""
    last = replayed.last
    return replayed.worst is WriteResult.ACCEPTED and not (last.causes or last.pruned or replayed.apart)


def _rejected_by(replayed: Replayed) -> Iterable[Cause]:
    return replayed.last.causes if replayed.worst is WriteResult.REJECTED else ()


def _tolerated_by(replayed: Replayed) -> Iterable[Cause]:
    return () if replayed.worst is WriteResult.REJECTED else replayed.last.causes
