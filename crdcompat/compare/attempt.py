"""Try one value: search for an object that holds it and shows an effect, and judge it on both sides.

An object that both sides accept except at the change is the best: a server that rejects it for another reason, too,
may skip its rules. Such objects are made from the intersection of both schemas.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.errors import REQUIRED, FieldError
from crdcompat.compare.changes import Change
from crdcompat.compare.exhaust import cannot_hold, forbids
from crdcompat.compare.facet import Facet
from crdcompat.compare.local import NodeJudge, shape
from crdcompat.compare.objects import whole_object
from crdcompat.compare.registry import facet_of
from crdcompat.compare.search import find_valid, shrink
from crdcompat.compare.site import ReaderVerdict, Trial, WriterReader
from crdcompat.schema.paths import Object, Pointer, SchemaPath, field_of, node_at, value_at, with_value
from crdcompat.schema.sample import concrete
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Effect

#: Objects judged at most to get rid of the reader's errors beside the change, after one valid object is known.
_MAX_ALONE = 40
_RULES = "x-kubernetes-validations"


class Ended(Enum):
    """The result of a trial. NEVER: no value of the field is possible in any object; NOT_THIS: this one is not."""

    PROVED = auto()
    NO_EFFECT = auto()
    NEVER = auto()
    NOT_THIS = auto()
    OPEN = auto()


class Tried(Struct, frozen=True):
    """The result of one trial: the ``object`` and the reader's ``answer`` if proved, the reason ``why`` if open."""

    ended: Ended
    object: Object | None = None
    answer: Verdict | None = None
    effect: Effect = Effect.NONE
    why: str = ""

    @property
    def refuted(self) -> bool:
        """Whether this value is known to have no effect."""
        return self.ended in (Ended.NO_EFFECT, Ended.NEVER, Ended.NOT_THIS)


class Claim(Struct, frozen=True):
    """What a change is said to do to an object: one of ``effects`` at ``pointer``, the strongest first."""

    change: Change
    effects: tuple[Effect, ...]
    pointer: Pointer

    @classmethod
    def at(cls, change: Change, effects: tuple[Effect, ...], path: SchemaPath | None) -> Claim:
        """The claim at ``path``, by default the change's own path."""
        return cls(change, effects, concrete(path or change.path))

    def effect(self, verdict: Verdict) -> Effect:
        """The strongest effect that a verdict of the reader shows; NONE if it shows none."""
        observed = ReaderVerdict(verdict, self.pointer, field_of(self.pointer), self.change)
        facet = self._facet
        return next((effect for effect in self.effects if facet.shows(effect, observed)), Effect.NONE)

    def others(self, verdict: Verdict) -> tuple[FieldError, ...]:
        """The errors of a verdict of the reader that do not show the effect."""
        alone = replace(verdict, object=None, pruned=(), defaulted=())
        errors = (error for error in verdict.errors if not error.is_marker)
        return tuple(error for error in errors if self.effect(replace(alone, errors=(error,))) == Effect.NONE)

    @property
    def _facet(self) -> Facet:
        return facet_of(self.change.kind)


def attempt(trial: Trial, claim: Claim, pair: WriterReader, shared: Node, known: Object | None) -> Tried:
    """Try ``trial``; ``shared`` is the intersection of both schemas, ``known`` an object that proves another trial."""
    return _Attempt(trial, claim, pair, concrete(trial.path)).run(shared, known)


class _Attempt(Struct, frozen=True):
    trial: Trial
    claim: Claim
    pair: WriterReader
    keep: Pointer

    def run(self, shared: Node, known: Object | None) -> Tried:
        trial, writer = self.trial, self.pair.writer
        if trial.value is ABSENT and not _has_members(node_at(writer.node, trial.path[:-1])):
            return Tried(Ended.NEVER)
        verdict = None
        for root in (shared, writer.node) if shared is not writer.node else (shared,):
            start = self._start(root, known)
            if start is None:
                continue
            verdict = self._written(start)
            if verdict.accepted is False and (ended := self._impossible(verdict)):
                return Tried(ended)
            found, verdict = find_valid(start, verdict, self.keep, root, self._written)
            if found is not None:
                return self._judged(found, start, verdict, shared)
        return Tried(Ended.OPEN, why=_why_rejected(verdict))

    def _judged(self, found: Object, start: Object, written: Verdict, shared: Node) -> Tried:
        """The result for an object that the writer accepts, or for a better one."""
        if written.object is None or (_at(written.object, self.keep) is ABSENT) != (self.trial.value is ABSENT):
            return Tried(Ended.NOT_THIS)  # decoding changes it: it drops the null, or sets a default for the field
        judge, effect = self._written, self.claim.effect(self._read(found))
        if effect == Effect.NONE and not self._skips_rule(found):
            return Tried(Ended.NO_EFFECT)
        better, _ = find_valid(found, self._shared(found), self.keep, shared, self._shared, most=_MAX_ALONE)
        if better is not None and (seen := self.claim.effect(self._read(better))) != Effect.NONE:
            found, judge, effect = better, self._shared, seen
        if effect == Effect.NONE:
            return Tried(Ended.OPEN, why=f"{_SKIPPED}: {self._read(found).errors[0].text()}")
        if found is not start:  # the search adds members; the start is minimal

            def still(obj: Object) -> bool:
                return judge(obj).accepted is True and self.claim.effect(self._read(obj)) == effect

            found = shrink(found, self.keep, still)
        return Tried(Ended.PROVED, found, self._read(found), effect)

    # -- verdicts ----------------------------------------------------------------------------------

    def _written(self, obj: Object) -> Verdict:
        """The writer's verdict."""
        return self.pair.writer.create(obj, keep_status=True)

    def _read(self, obj: Object) -> Verdict:
        """The reader's verdict on the object as the writer stores it."""
        return self.pair.reader.create(self._written(obj).object or obj, keep_status=True)

    def _shared(self, obj: Object) -> Verdict:
        """The writer's verdict, and if it accepts the object, the reader's errors that are not those of the change."""
        written = self._written(obj)
        others = self.claim.others(self._read(obj)) if written.accepted else ()
        return replace(written, accepted=False, errors=others) if others else written

    # -- objects -----------------------------------------------------------------------------------

    def _start(self, root: Node, known: Object | None) -> Object | None:
        """The start of the search: ``known`` with the new value if the writer accepts it, else a minimal object."""
        if known is not None:
            try:
                swapped: Object = with_value(known, self.keep, self.trial.value)
            except LookupError:
                swapped = known
            if swapped is not known and self._written(swapped).accepted:
                return swapped
        return whole_object(self.pair.writer, self.trial.path, self.trial.value, root)

    def _impossible(self, verdict: Verdict) -> Ended | None:
        """NEVER or NOT_THIS if the writer rejects the value in every object; None if not known."""
        trial, root, server = self.trial, self.pair.writer.node, self.pair.writer.server
        if trial.value is ABSENT:
            needed = any(error.type == REQUIRED and error.pointer == self.keep for error in verdict.errors)
            return Ended.NEVER if needed else None
        node = node_at(root, trial.path)
        if node is not None and forbids(node, trial.value, server):
            return Ended.NOT_THIS
        parent, member = node_at(root, trial.path[:-1]) if trial.path else None, trial.path[-1:]
        if parent is None or not member or not isinstance(member[0], str):
            return None
        return Ended.NEVER if cannot_hold(parent, member[0], trial.value, server) else None

    def _skips_rule(self, found: Object) -> bool:
        """Whether the reader skips its rules for ``found``, and by its rules alone rejects the value."""
        if self.trial.value is ABSENT or not any(error.is_marker for error in self._read(found).errors):
            return False
        node = node_at(self.pair.reader.node, self.trial.path)
        if node is None or not node.rules:
            return False
        by_rules = Node({**shape(node.raw), _RULES: list(node.rules)})
        return NodeJudge(by_rules, self.pair.reader.server).breaks_rules(self.trial.value)


_SKIPPED = "the server skips its rules for every object found, which it rejects for another reason"


def _has_members(parent: Node | None) -> bool:
    """Whether values of a node may be objects: only these can lack a member."""
    return parent is not None and (not parent.types or parent.type == "object")


def _why_rejected(verdict: Verdict | None) -> str:
    if verdict is None:
        return "no valid object with this field could be made"
    if verdict.unknown and not verdict.errors:
        first = verdict.unknown[0]
        return f"cannot be judged: {first.field}: {first.what}: {first.reason}"
    return f"no valid object found that holds the value: {verdict.errors[0].text()}"


def _at(obj: Object, pointer: Pointer) -> Any:
    try:
        return value_at(obj, pointer)
    except LookupError:
        return ABSENT
