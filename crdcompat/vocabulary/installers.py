"""Who installs CRDs, upgrades them and rolls them back, and what follows where a CRD stays (docs/installers.md)."""

from __future__ import annotations

from enum import StrEnum

from crdcompat.vocabulary import Direction


class Installer(StrEnum):
    """What puts the CRDs of a release into a cluster."""

    CVO = "cvo"
    OLM_V0 = "olm-v0"
    OLM_V1 = "olm-v1"
    HELM_TEMPLATES = "helm-templates"
    HELM_CRDS = "helm-crds"
    APPLY = "apply"


class Window(StrEnum):
    """Controllers under the CRD of the other release: for good, where the installer does not replace CRDs."""

    OLD_CRD_NEW_WRITER = "old_crd_new_writer"
    """After an upgrade that leaves OLD's CRD."""
    NEW_CRD_OLD_WRITER = "new_crd_old_writer"
    """After a rollback that leaves NEW's CRD, if somebody applied it."""

    @property
    def judged_as(self) -> Direction:
        """The direction in which the same schemas meet where CRDs are replaced."""
        return Direction.ROLLBACK if self is Window.OLD_CRD_NEW_WRITER else Direction.UPGRADE

    @property
    def move(self) -> Direction:
        """What a cluster does when the window opens."""
        return Direction.UPGRADE if self is Window.OLD_CRD_NEW_WRITER else Direction.ROLLBACK


def judged_as(direction: Direction | str, window: Window | str | None) -> Direction:
    """The direction whose schemas meet in a finding: that of the other move, if the CRD stays."""
    return Direction(direction) if window is None else Window(window).judged_as


#: Families of changes that concern a release by itself, whichever CRD its controllers meet.
_OF_ONE_RELEASE = frozenset({"cel-cost", "crd", "server", "status"})
#: Changes due to which the other release's CRD does not exist.
MISSING_CRDS = frozenset({"crd.added", "crd.renamed"})
#: Changes due to which a CRD that stays has no API at all for the controllers of the other release.
WITHOUT_API = MISSING_CRDS | {"names.kind-changed", "scope.changed", "version.storage-moved"}


def window_of(change: str, direction: Direction) -> Window | None:
    """The window that shows a change, judged in a direction, where the CRD stays; None: no window does."""
    if change.partition(".")[0] in _OF_ONE_RELEASE and change not in MISSING_CRDS:
        return None
    return Window.OLD_CRD_NEW_WRITER if direction is Direction.ROLLBACK else Window.NEW_CRD_OLD_WRITER
