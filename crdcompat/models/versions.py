"""The report of versions: the life of each version of each CRD, and the jumps that lose stored objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from crdcompat.models.outcome import Judgement, WithVerdict, counted, joined, judged_verdicts
from crdcompat.vocabulary.writes import ReleaseVerdict

if TYPE_CHECKING:
    from crdcompat.errors import Problem
    from crdcompat.models.preflight import Step
    from crdcompat.models.release import Release


class VersionLife(Struct, frozen=True):
    """One version of a CRD over the releases, which are listed oldest first.

    ``present`` are the releases that have it, ``served``, ``stored`` and ``deprecated`` those that serve it, store
    objects in it and deprecate it. ``removed_in`` is the first release after the last one that has it, "" if the
    newest release that was judged has it; ``has_crd``: that release still has the CRD.
    """

    crd: str
    kind: str
    version: str
    present: tuple[str, ...]
    served: tuple[str, ...]
    stored: tuple[str, ...]
    deprecated: tuple[str, ...]
    removed_in: str = ""
    has_crd: bool = True

    @property
    def served_since(self) -> str:
        return next(iter(self.served), "")

    @property
    def served_until(self) -> str:
        """The last release that serves it, "" if the last one that has it serves it."""
        return self.served[-1] if self.served and self.served[-1] != self.present[-1] else ""

    @property
    def deprecated_since(self) -> str:
        return next(iter(self.deprecated), "")

    @property
    def stored_since(self) -> str:
        return next(iter(self.stored), "")

    @property
    def stored_until(self) -> str:
        """The last release that stores it, "" if the last one that has it stores it."""
        return self.stored[-1] if self.stored and self.stored[-1] != self.present[-1] else ""


class Lost(Struct, frozen=True):
    """A version that a jump removes, and that objects may be stored in: the server refuses the CRD of the target.

    ``stored`` are the releases up to the origin that store objects in it; of a recorded cluster, which names it in
    ``status.storedVersions``, there are none. ``migrate`` are the releases on the way that have the version and store
    in another one, which the target has: there, the objects can be rewritten. Not ``is_certain``: none of the releases
    stores it, but an earlier one may have.
    """

    crd: str
    kind: str
    version: str
    stored: tuple[str, ...] = ()
    migrate: tuple[str, ...] = ()
    is_certain: bool = True


class Jump(Struct, frozen=True):
    """A way from one release, or from the cluster, to a release. ``unjudged`` are reasons why a CRD was not judged."""

    origin: str
    target: str
    lost: tuple[Lost, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def verdict(self) -> ReleaseVerdict:
        if any(each.is_certain for each in self.lost):
            return ReleaseVerdict.BLOCKED
        if self.unjudged:
            return ReleaseVerdict.UNKNOWN
        return ReleaseVerdict.AT_RISK if self.lost else ReleaseVerdict.CLEAN


class StoredKind(Struct, frozen=True):
    """A CRD of a cluster: ``stored`` is its ``status.storedVersions``, ``storage`` the version that it stores now.

    ``goal`` is the version into which its objects have to be rewritten. ``objects`` are those that were read, None if
    that was not needed or they could not be listed. ``steps`` rewrite them; none if nothing has to be rewritten, or if
    the installed CRD does not serve the goal.
    """

    crd: str
    kind: str
    group: str
    plural: str
    stored: tuple[str, ...]
    storage: str
    goal: str
    objects: int | None = None
    steps: tuple[Step, ...] = ()

    @property
    def is_due(self) -> bool:
        """Whether objects may be stored in another version than the goal."""
        return self.stored != (self.goal,)


class VersionsCluster(Struct, frozen=True):
    """The CRDs of a cluster, or of recordings of one, that say in which versions objects are stored.

    ``has_migrator``: the cluster has the kind StorageVersionMigration of kube-storage-version-migrator.
    """

    source: tuple[str, ...]
    is_live: bool
    kinds: tuple[StoredKind, ...]
    has_migrator: bool = False

    @property
    def title(self) -> str:
        return ", ".join(self.source)

    @property
    def due(self) -> tuple[StoredKind, ...]:
        """The kinds of which objects may have to be rewritten."""
        return tuple(each for each in self.kinds if each.is_due)


class VersionsReport(WithVerdict, frozen=True):
    """The result of ``versions``: ``releases``, oldest first, the life of each version, and the jumps.

    There is a jump for each two releases, or with a ``cluster`` a jump from it to each release. ``unjudged`` are the
    reasons why CRDs were not judged.
    """

    KIND: ClassVar[Literal["versions"]] = "versions"

    releases: tuple[Release, ...]
    context: str
    lives: tuple[VersionLife, ...]
    jumps: tuple[Jump, ...]
    cluster: VersionsCluster | None = None
    unjudged: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = "versions"

    @property
    def is_empty(self) -> bool:
        """Whether there was no CRD to judge."""
        return not (self.lives or self.unjudged or (self.cluster is not None and self.cluster.kinds))

    @property
    def judgement(self) -> Judgement:
        """What decides the verdict: the jumps, and whether each CRD was judged; without any CRD nothing was done."""
        jumps = judged_verdicts((jump.verdict for jump in self.jumps), undone=bool(self.problems) or self.is_empty)
        return joined((jumps, Judgement(is_unjudged=bool(self.unjudged))))

    def by_verdict(self) -> dict[ReleaseVerdict, int]:
        """The number of jumps with each verdict, worst first."""
        return counted(ReleaseVerdict, (jump.verdict for jump in self.jumps))
