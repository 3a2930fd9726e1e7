"""Prove the effect of a change by a witness, which the writer and the reader judge before a report shows it.

A witness is the smallest example object found that every writer accepts and on which every reader shows the effect.
Where no valid object can have the value, there is no effect; where the search found none, the outcome has the reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import orjson
from msgspec import Struct

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.equivalence import equivalence_key
from crdcompat.apiserver.errors import REQUIRED
from crdcompat.apiserver.strategy import Resource
from crdcompat.apiserver.versions import Server
from crdcompat.compare.changes import Change
from crdcompat.compare.exhaust import cannot_hold, forbids
from crdcompat.compare.facet import Facet
from crdcompat.compare.objects import whole_object
from crdcompat.compare.registry import facet_of
from crdcompat.compare.search import find_valid, shrink
from crdcompat.compare.site import ReaderVerdict, Trial, Trials, WriterReader
from crdcompat.schema.paths import Object, Pointer, SchemaPath, field_of, node_at, value_at, with_value
from crdcompat.schema.sample import concrete
from crdcompat.schema.structural import ABSENT, Node
from crdcompat.vocabulary import Direction, Effect

#: Values proved one by one; a giant enum's other values count as proved with them.
_MAX_TRIED = 64


class Witness(Struct, frozen=True):
    """The proof of an effect, or the ``reason`` why there is none (then ``object`` is None).

    ``errors`` are the reader's messages, ``pruned`` and ``defaulted`` the paths of fields that it removes and adds,
    ``at`` is the path of the effect, if it differs from the change's own path.
    """

    object: Object | None
    errors: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    defaulted: tuple[str, ...] = ()
    reason: str | None = None
    at: SchemaPath | None = None


class Outcome(Struct, frozen=True):
    """The effect of a change in one direction, its witness, and the labels of the values that have the effect."""

    effect: Effect
    witness: Witness
    labels: tuple[Any, ...] = ()


#: Results of a trial. ``_NEVER``: no value of the field is possible in any object; ``_NOT_THIS``: this one is not.
_PROVED, _NO_EFFECT, _NEVER, _NOT_THIS, _OPEN = "proved", "no effect", "never", "not this", "open"


class _Tried(Struct, frozen=True):
    """The result of one trial, with a witness if it is proved, and the reason ``why`` if it is open."""

    ended: str
    witness: Witness | None = None
    effect: Effect = Effect.NONE
    why: str = ""

    @property
    def refuted(self) -> bool:
        """Whether this value is known to have no effect."""
        return self.ended in (_NO_EFFECT, _NEVER, _NOT_THIS)


class TrialBook:
    """Caches the trials of each change per pair of nodes, because variants of a CRD mostly have equal nodes."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], Trials] = {}
        self._digests: dict[Node, bytes] = {}
        self._servers: dict[bytes, dict[Server, Server]] = {}

    def trials(self, facet: Facet, change: Change, direction: Direction, pair: WriterReader) -> Trials:
        """``facet.trials``, cached by its inputs: the node on both sides and, if ``looks_above``, its parent."""
        paths = (change.path, change.path[:-1]) if facet.looks_above else (change.path,)
        inputs = [
            self._look(node_at(side.node, path), side.server) for side in (pair.writer, pair.reader) for path in paths
        ]
        key = (change.kind, change.path, direction, *inputs)
        if key not in self._known:
            self._known[key] = facet.trials(change, direction, pair)
        return self._known[key]

    def _look(self, node: Node | None, server: Server) -> tuple[bytes, Server] | None:
        """The key of ``node`` in the cache: its digest, and the first server with the same equivalence key for it."""
        if node is None:
            return None
        digest = self.digest(node)
        servers = self._servers.setdefault(digest, {server: server})
        if server not in servers:
            mine = equivalence_key(server, node)
            equivalent = (first for first in set(servers.values()) if equivalence_key(first, node) == mine)
            servers[server] = next(equivalent, server)
        return digest, servers[server]

    def digest(self, node: Node) -> bytes:
        """A digest of a node's schema, cached: each member of an object needs the digest of its parent."""
        if node not in self._digests:
            self._digests[node] = blake2b(orjson.dumps(node.raw), digest_size=16).digest()
        return self._digests[node]


def prove(change: Change, direction: Direction, pair: WriterReader, book: TrialBook) -> Outcome:
    """The effect of ``change`` when ``pair.reader`` reads objects that are valid under ``pair.writer``."""
    facet = facet_of(change.kind)
    effects = facet.effects[change.kind].towards(direction)
    if not effects:
        return Outcome(Effect.NONE, Witness(None))
    trials = book.trials(facet, change, direction, pair)
    tried: list[tuple[Trial, _Tried]] = []
    known: Object | None = None
    for trial in trials.values[:_MAX_TRIED]:
        answer = _try(trial, change, effects, facet, pair, known)
        known = answer.witness.object if answer.witness is not None else known
        tried.append((trial, answer))
        if answer.witness is not None and answer.effect == effects[0] and not trials.complete:
            break  # one value proves the effect of an open set
    proved = [answer for _, answer in tried if answer.witness is not None]
    remaining = [trial.label for trial, answer in tried if not answer.refuted]
    remaining += [trial.label for trial in trials.values[_MAX_TRIED:]]
    labels = tuple(label for label in remaining if label is not ABSENT)
    if proved:
        best = min(proved, key=lambda answer: effects.index(answer.effect))
        assert best.witness is not None
        return Outcome(best.effect, best.witness, labels)
    if trials.complete and not remaining:
        return Outcome(Effect.NONE, Witness(None))
    if tried and all(answer.ended in (_NEVER, _NO_EFFECT) for _, answer in tried):
        return Outcome(Effect.NONE, Witness(None))
    reasons = list(dict.fromkeys(answer.why for _, answer in tried if answer.why))
    return Outcome(effects[0], Witness(None, reason=_reason(reasons)), labels)


def _reason(reasons: list[str]) -> str:
    if not reasons:
        return "no value could be made for this field"
    return reasons[0]


def _try(
    trial: Trial, change: Change, effects: tuple[Effect, ...], facet: Facet, pair: WriterReader, known: Object | None
) -> _Tried:
    writer, reader = pair.writer, pair.reader
    keep = concrete(trial.path)

    def accepts(obj: Object) -> Verdict:
        return writer.create(obj, keep_status=True)

    def effect_on(stored: Object) -> tuple[Effect, Verdict]:
        verdict = reader.create(stored, keep_status=True)
        return _effect(verdict, trial.at or change.path, effects, facet), verdict

    def still(obj: Object) -> bool:
        answer = accepts(obj)
        return answer.accepted is True and answer.object is not None and effect_on(answer.object)[0] == effect

    if trial.value is ABSENT and not _has_members(node_at(writer.node, trial.path[:-1])):
        return _Tried(_NEVER)
    start = _start(trial, keep, writer, known)
    if start is None:
        return _Tried(_OPEN, why="no valid object with this field could be made")
    verdict = accepts(start)
    if verdict.accepted is False and (ended := _impossible(trial, verdict, pair)):
        return _Tried(ended)
    found, verdict = find_valid(start, verdict, keep, writer, accepts)
    if found is None:
        return _Tried(_OPEN, why=_why_rejected(verdict, writer))
    if verdict.object is None or (_at(verdict.object, keep) is ABSENT) != (trial.value is ABSENT):
        return _Tried(_NOT_THIS)  # decoding changes it: it drops the null, or sets a default for the field
    effect, answer = effect_on(verdict.object)
    if effect == Effect.NONE:
        return _Tried(_NO_EFFECT)
    small = found
    if found is not start:  # the search adds members; the start is minimal
        small = shrink(found, keep, still)
        effect, answer = effect_on(accepts(small).object or small)
    witness = Witness(
        small,
        errors=tuple(error.text() for error in answer.errors),
        pruned=answer.pruned,
        defaulted=answer.defaulted,
        at=trial.at,
    )
    return _Tried(_PROVED, witness=witness, effect=effect)


def _effect(verdict: Verdict, at: SchemaPath, effects: tuple[Effect, ...], facet: Facet) -> Effect:
    """The strongest of ``effects`` that a verdict shows at a path; NONE if it shows none."""
    pointer = concrete(at)
    observed = ReaderVerdict(verdict, pointer, field_of(pointer))
    for effect in effects:
        if facet.shows(effect, observed):
            return effect
    return Effect.NONE


def _has_members(parent: Node | None) -> bool:
    """Whether values of a node may be objects: only these can lack a member."""
    return parent is not None and (not parent.types or parent.type == "object")


def _start(trial: Trial, keep: Pointer, writer: Resource, known: Object | None) -> Object | None:
    """The start of the search: the last witness with the new value if the writer accepts it, else a minimal one."""
    if known is not None:
        try:
            swapped: Object = with_value(known, keep, trial.value)
        except LookupError:
            swapped = known
        if swapped is not known and writer.create(swapped, keep_status=True).accepted:
            return swapped
    return whole_object(writer, trial.path, trial.value)


def _impossible(trial: Trial, verdict: Verdict, pair: WriterReader) -> str:
    """_NEVER or _NOT_THIS if the writer rejects the value in every object; "" if not known."""
    root, server = pair.writer.node, pair.writer.server
    if trial.value is ABSENT:
        missing = concrete(trial.path)
        needed = any(error.type == REQUIRED and error.pointer == missing for error in verdict.errors)
        return _NEVER if needed else ""
    node = node_at(root, trial.path)
    if node is not None and forbids(node, trial.value, server):
        return _NOT_THIS
    parent, member = node_at(root, trial.path[:-1]) if trial.path else None, trial.path[-1:]
    if parent is None or not member or not isinstance(member[0], str):
        return ""
    return _NEVER if cannot_hold(parent, member[0], trial.value, server) else ""


def _why_rejected(verdict: Verdict, writer: Resource) -> str:
    if verdict.unknown and not verdict.errors:
        first = verdict.unknown[0]
        return f"cannot be judged: {first.field}: {first.what}: {first.reason}"
    return f"no valid object found that holds the value: {verdict.errors[0].text()}"


def _at(obj: Object, pointer: tuple[str | int, ...]) -> Any:
    try:
        return value_at(obj, pointer)
    except LookupError:
        return ABSENT


def proves(witness: Witness, change: Change, effect: Effect, pairs: Sequence[WriterReader]) -> bool:
    """Whether a witness proves the effect for other pairs, too (contexts whose schemas differ elsewhere)."""
    if witness.object is None:
        return False
    facet = facet_of(change.kind)
    for pair in pairs:
        verdict = pair.writer.create(witness.object, keep_status=True)
        if verdict.accepted is not True or verdict.object is None:
            return False
        answer = pair.reader.create(verdict.object, keep_status=True)
        if _effect(answer, witness.at or change.path, (effect,), facet) == Effect.NONE:
            return False
    return True
