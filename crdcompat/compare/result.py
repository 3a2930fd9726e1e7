"""The result of a comparison: changes with their effect in each direction, and undecided differences."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from crdcompat.apiserver.server_versions import Server
from crdcompat.compare.changes import Change, Undecided
from crdcompat.compare.witness import Witness
from crdcompat.crds.context import is_default
from crdcompat.crds.resolving import Chosen
from crdcompat.vocabulary import Direction, Effect, Side
from crdcompat.vocabulary.installers import Window, window_of
from crdcompat.vocabulary.judging import Harm, Named
from crdcompat.vocabulary.writes import Spared, WriteKind


class Occurrence(Struct, frozen=True, eq=False):
    """One occurrence of a change: its context, and the chosen versions of both sides.

    ``direction`` is set where the two are different versions: then the change has an effect in that direction only.
    """

    context: str
    terminal: bool
    old: Chosen
    new: Chosen
    change: Change
    direction: Direction | None = None

    def at(self, side: Side) -> tuple[Chosen, ...]:
        """The places of the change on a side."""
        return (self.old if side == Side.OLD else self.new).everywhere()

    def reader(self, direction: Direction) -> Chosen:
        """The version by which objects are read after a step in this direction."""
        return self.old if direction == Direction.ROLLBACK else self.new

    @property
    def written_as(self) -> str:
        """The version that objects are written as, if it differs from the one that reads them; else ""."""
        if not self.direction:
            return ""
        return (self.new if self.direction == Direction.ROLLBACK else self.old).version.name


class Lone(Struct, frozen=True, eq=False):
    """One occurrence of a change that shows on one side alone, such as a CRD that the other side lacks.

    ``elsewhere``: the other side has the CRD in another context. ``has_sources``: it has it outside of its payload.
    """

    context: str
    terminal: bool
    side: Side
    chosen: Chosen
    written_as: str = ""
    elsewhere: bool = False
    has_sources: bool = False

    def at(self, side: Side) -> tuple[Chosen, ...]:
        """The places of the change on a side."""
        return self.chosen.everywhere() if side == self.side else ()


class Judged(Struct, frozen=True, eq=False):
    """A change with its effect in one direction, for all contexts where change and effect are equal.

    ``labels``: the enum values (or other labels of trials) with this effect. ``windows``: the effects on rollback and
    on upgrade. ``version`` is "" for changes of the CRD itself. ``doubtful``: nothing proves the effect, it may occur.
    ``writer_default``: the writer sets the rejected value by default where the field is left out.
    ``unlikely``: no controller writes a state that has the effect. ``writes`` are the kinds of write of the witness
    that the reader's server rejects, None if they are not known; ``spared``: which updates it accepts by ratcheting;
    ``spared_since``: the Kubernetes minor from which on servers accept some, where nothing names the server.
    ``early``: the reader's CRD is applied while the writer's API server still serves, and this server was asked.
    ``reason`` ends the message: what only this result knows. ``named``: who writes the value of the witness
    (``Named``), None if nobody asked. ``harms``: what the change takes from every user of the field (``Harm``).
    ``servers``: the supported servers with this effect; empty if all have it.
    ``since``: which of the releases that were read have it in the feature set Default, in words.
    ``cut``: the budget of the comparison ended before all of this was known. ``stays``: the installer replaces none of
    its CRDs. ``turned_on_by``: the value without which helm installs none of its charts.
    """

    change: Change
    direction: Direction
    effect: Effect
    witness: Witness
    labels: tuple[Any, ...]
    windows: tuple[Effect, Effect]
    crd: str
    kind: str
    version: str
    occurrences: tuple[Occurrence | Lone, ...]
    doubtful: bool = False
    writer_default: bool = False
    unlikely: bool = False
    writes: tuple[WriteKind, ...] | None = None
    spared: Spared | None = None
    spared_since: int = 0
    reason: str = ""
    early: bool = False
    named: Named | None = None
    harms: tuple[Harm, ...] = ()
    servers: tuple[Server, ...] = ()
    since: str = ""
    cut: bool = False
    stays: bool = False
    turned_on_by: str = ""

    @property
    def window(self) -> Window | None:
        """The controllers and the CRD that meet for good, because the CRD stays; None where CRDs are replaced."""
        return window_of(self.change.kind, self.direction) if self.stays else None

    @property
    def move(self) -> Direction:
        """What a cluster does when the effect occurs."""
        return self.direction if self.window is None else self.window.move

    @property
    def is_in_default(self) -> bool:
        """Whether clusters of the feature set Default have the change; false in trees without feature sets."""
        contexts = (occurrence.context for occurrence in self.occurrences)
        return any("/" in context and is_default(context) for context in contexts)


class Open(Struct, frozen=True, eq=False):
    """An undecided difference with its CRD, version and contexts."""

    undecided: Undecided
    crd: str
    version: str
    contexts: tuple[str, ...]
    old: Chosen | None
    new: Chosen | None


class Harmless(Struct, frozen=True):
    """A change without effect in one direction, and why it has none."""

    crd: str
    version: str
    contexts: tuple[str, ...]
    change: Change
    direction: Direction
    reason: str


class Comparison(Struct):
    """Everything found: judged changes that have an effect, those without, undecided differences, and counts.

    ``texts`` lists changes of texts, ``compared`` and
    ``changed`` names of CRDs. ``versions`` are pairs of a CRD and a version that both sides have, ``""`` where
    they share none.
    """

    judged: list[Judged] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)
    without_effect: list[Harmless] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    compared: set[str] = field(default_factory=set)
    versions: set[tuple[str, str]] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
