"""The report of preflight: whether a cluster can go back to a release, the reasons, and the steps to get there."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from msgspec import Struct

from crdcompat.models.outcome import Judgement
from crdcompat.vocabulary import Effect, ExitCode, FailOn, Severity

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdcompat.models.release import Release
    from crdcompat.models.simulation import Loss, RejectedCause
    from crdcompat.vocabulary.installers import Installer


class GoBack(StrEnum):
    """Whether the cluster can go back."""

    YES = "yes"
    WITH_LOSSES = "yes, with losses"
    NO = "no"
    UNKNOWN = "unknown"
    NOTHING = "nothing to roll back"
    """The cluster has none of the CRDs."""


class StepKind(StrEnum):
    """The kinds of steps, in their order: those that close a gap, those that repair, the next run or the rollback."""

    ONE_CLUSTER = "one-cluster"
    """Give the recordings of one cluster alone."""
    ALLOW = "allow"
    """Allow to list a kind."""
    READ = "read"
    """Find out why the cluster does not answer."""
    RECORD = "record"
    """Record a kind that the recording lacks."""
    RECORD_ANEW = "record-anew"
    """Take the recording anew: parts of it cannot be used."""
    MEND = "mend"
    """Mend a manifest or an object that cannot be read."""
    NAME_RELEASE = "name-release"
    NAME_CONTEXT = "name-context"
    NAME_SERVER = "name-server"
    """Name what nothing else tells: the cluster's release, its context, the server after the rollback."""
    TRY = "try"
    """Try the rollback elsewhere: no schema tells the server's answer."""
    KEEP = "keep"
    """Mark a CRD so that Helm keeps it, with its objects."""
    SAVE = "save"
    """Copy objects that lose fields to a file."""
    HOLD_BACK = "hold-back"
    """Let nothing write values before the release that is declared to write them."""
    SCALE_DOWN = "scale-down"
    PATCH = "patch"
    """Remove rejected values while the CRD is the installed one."""
    MOVE_STORAGE = "move-storage"
    """Store objects in a version that OLD has."""
    REWRITE = "rewrite"
    """Write each object once, so that it is stored in that version."""
    FORGET_VERSION = "forget-version"
    """Remove a version from ``status.storedVersions``."""
    WIDEN = "widen"
    """No write repairs the objects: widen OLD's CRD, or recreate the objects."""
    PATCH_AFTER = "patch-after"
    """Remove rejected values once OLD's CRD is installed: the CRD before requires them."""
    CHECK = "check"
    """Run preflight again: the last step where the answer is not yes."""
    ROLL_BACK = "roll-back"
    """The last step where the answer is yes."""


class Step(Struct, frozen=True):
    """One step: for an object, for a CRD (no ``name``), or for the cluster (no ``crd``).

    Of a step that closes a gap, ``crd`` is what is missing, and ``api`` the path of its list. ``status``: the patch
    goes to /status. ``patch`` is a merge patch; with MOVE_STORAGE a JSON patch. ``redacted`` is the patch without
    values of the object. ``versions`` are the versions to store and to forget.
    """

    kind: StepKind
    crd: str = ""
    namespace: str = ""
    name: str = ""
    status: bool = False
    patch: Any = None
    redacted: Any = None
    versions: tuple[str, ...] = ()
    api: str = ""


class JudgedKind(Struct, frozen=True):
    """A kind whose objects can matter, with the numbers of its rollback findings and of its judged objects.

    ``rejected`` counts the objects with a rejected write, ``losing`` those that lose fields.
    """

    crd: str
    kind: str
    findings: int
    objects: int
    rejected: int
    losing: int


class DeletedKind(Struct, frozen=True):
    """A kind with ``objects`` that the rollback deletes, because Helm deletes their CRD."""

    crd: str
    kind: str
    objects: int


class RefusedCrd(Struct, frozen=True):
    """A CRD of OLD that the server refuses as an update of the installed one, with the server's message."""

    crd: str
    message: str


class FieldWriter(Struct, frozen=True):
    """A field manager, a path of a kind, and the number of objects in which it wrote a rejected value there."""

    manager: str
    crd: str
    kind: str
    path: str
    objects: int


class AccessRule(Struct, frozen=True):
    """A rule of a ClusterRole that allows to list these resources of an API group."""

    group: str
    resources: tuple[str, ...]


class Missing(Struct, frozen=True):
    """A gap: something that was not judged, and the reason. If access was denied, ``rule`` is the missing rule.

    ``step`` closes the gap; CHECK: it can be gone when preflight runs again. ``api`` is the path of the missing list.
    """

    what: str
    reason: str
    rule: AccessRule | None = None
    step: StepKind = StepKind.CHECK
    api: str = ""


class WindowEffect(Struct, frozen=True):
    """The failures at a path while the versions of CRD and operator differ, and their finding."""

    finding: str
    crd: str
    kind: str
    path: str
    old_crd_new_writer: Effect
    new_crd_old_writer: Effect


class Admitters(Struct, frozen=True):
    """Admission policies and webhook configurations whose rules match judged kinds; they were not judged.

    ``requirements`` are the CompatibilityRequirements of OpenShift that state the CRDs of the kinds. Where lists were
    refused, ``lists`` names them and ``reason`` says why; then none is known.
    """

    kinds: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    webhooks: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    reason: str = ""


class PreflightReport(Struct, frozen=True):
    """The result of ``preflight``.

    ``new`` is the release that the cluster runs. ``source`` is the kubeconfig context (``is_live``) or the recordings.
    ``platform`` is the version of the cluster's server, ``judge`` the server after the rollback ("": not known).
    ``installed`` counts the CRDs of OLD that the cluster has. ``causes`` are the values that OLD rejects, then those
    held too early, ``tolerated`` values that its server tolerates in writes that do not change them. ``steps`` repair
    the first rejected objects, ``unlisted`` counts the others. ``operator`` is NAMESPACE/DEPLOYMENT of the running
    operator, if named. ``arguments`` belong to the command line that asks the same question again. ``deleted`` are
    the objects that go with their CRDs, ``installers`` the installers of each CRD that the rollback changes.
    """

    KIND: ClassVar[Literal["preflight"]] = "preflight"

    old: Release
    new: Release
    source: tuple[str, ...]
    is_live: bool
    platform: str
    judge: str
    installed: int
    kinds: tuple[JudgedKind, ...] = ()
    refused: tuple[RefusedCrd, ...] = ()
    causes: tuple[RejectedCause, ...] = ()
    tolerated: tuple[RejectedCause, ...] = ()
    losses: tuple[Loss, ...] = ()
    writers: tuple[FieldWriter, ...] = ()
    steps: tuple[Step, ...] = ()
    unlisted: int = 0
    missing: tuple[Missing, ...] = ()
    windows: tuple[WindowEffect, ...] = ()
    notes: tuple[str, ...] = ()
    admission: tuple[Admitters, ...] = ()
    operator: str = ""
    arguments: tuple[str, ...] = ()
    deleted: tuple[DeletedKind, ...] = ()
    installers: Mapping[str, frozenset[Installer]] = {}

    @property
    def answer(self) -> GoBack:
        """The answer. A gap makes it unknown, even if a rejection is known."""
        if self.missing:
            return GoBack.UNKNOWN
        if not (self.installed or self.deleted):
            return GoBack.NOTHING
        if self.says_no:
            return GoBack.NO
        return GoBack.WITH_LOSSES if self.losses else GoBack.YES

    @property
    def is_rejected(self) -> bool:
        """Whether the server refuses a CRD of OLD, or rejects a write of an object."""
        return bool(self.refused or self.rejected)

    @property
    def early(self) -> tuple[RejectedCause, ...]:
        """The values that objects hold before the release that is declared to write them: errors, accepted or not."""
        return tuple(cause for cause in self.causes if cause.growth is not None)

    @property
    def says_no(self) -> bool:
        """Whether the judged part alone gives the answer no."""
        return self.is_rejected or bool(self.early or self.deleted)

    @property
    def rejected(self) -> int:
        """The number of objects with a rejected write."""
        return sum(kind.rejected for kind in self.kinds)

    @property
    def losing(self) -> int:
        """The number of objects that lose fields."""
        return sum(kind.losing for kind in self.kinds)

    @property
    def objects(self) -> int:
        """The number of judged objects."""
        return sum(kind.objects for kind in self.kinds)

    @property
    def judgement(self) -> Judgement:
        """What decides the exit code. A gap comes first and is never allowed: the command fails closed."""
        worst = {GoBack.NO: Severity.ERROR, GoBack.WITH_LOSSES: Severity.WARNING}.get(self.answer)
        return Judgement(worst, is_undone=self.answer is GoBack.UNKNOWN)

    @property
    def exit_code(self) -> ExitCode:
        """0: yes, or nothing to roll back; 1: no; 2: unknown."""
        return self.judgement.decide(FailOn.ERROR).code
