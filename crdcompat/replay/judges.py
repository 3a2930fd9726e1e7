"""Selects the CRD that judges a recorded object, and replays the object on it; reusable for many recordings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache, partial

from msgspec import Struct

from crdcompat.apiserver.crd_validation.refusal import refusal
from crdcompat.apiserver.server_versions import NEWEST_SERVER, Server, known_server
from crdcompat.apiserver.strategy import TOO_DEEP, Resource
from crdcompat.apiserver.supported.ranges import judging_server
from crdcompat.crds.context import DEFAULT
from crdcompat.crds.pairing import version_pairs
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Chosen, Resolved, lacking, resolve_all
from crdcompat.errors import Problem
from crdcompat.models.simulation import NotSimulated
from crdcompat.recordings.capture import CaptureFacts, digest_of, unfit
from crdcompat.recordings.layouts import Hint, crd_of
from crdcompat.recordings.recorded_objects import EmptyList, Recorded
from crdcompat.replay.already import without_already
from crdcompat.replay.replayed import Replayed, worst_of_copies
from crdcompat.replay.replayed_writes import Replay, replay, without_version
from crdcompat.vocabulary.writes import WriteResult

#: One server of each era (docs/semantics.md#eras). Where all agree, no version is needed.
_REPRESENTATIVE_SERVERS = (Server(26), Server(29), Server(30), Server(32), Server(36))


class Unasked(Struct, frozen=True):
    """What is said of an object of a CRD that is not asked about."""

    crd: str


class Replayer:
    """The CRDs of both releases by (group, kind), resolved in one context, and their compiled versions.

    The CRDs and the server of ``target`` judge the objects that ``new`` wrote; with ``upgrade``, those of ``new`` judge
    what ``target`` wrote. ``server`` and ``crds`` are as in ``simulate``. Rejections and losses that the CRDs and the
    server of the writing release show as well are marked. Without ``notes``, accepted writes do not say which field
    they change. Memory grows with the CRDs, not with the objects.
    """

    def __init__(
        self,
        target: CrdSet,
        new: CrdSet,
        server: Server | None,
        context: str | None,
        crds: Sequence[str] = (),
        *,
        upgrade: bool = False,
        notes: bool = True,
    ) -> None:
        reader, writer = (new, target) if upgrade else (target, new)
        self._reader, self._crds, self._upgrade, self._notes = reader, crds, upgrade, notes
        self._server = server or judging_server(reader)
        self._writers_server = writing_server(reader, writer)
        name, self._readers = resolve_all(reader, writer, context)
        _, self._writers = resolve_all(writer, reader, context)
        note = f"variants of CRDs are those of context {name} (choose another with --context)"
        self.notes = (note,) if name != DEFAULT and context is None else ()
        self._resources: dict[tuple[int, Server], Resource] = {}
        self._refusals: dict[int, str] = {}
        # A recording has a thousand empty lists; in a fleet, each has the same.
        self._name_of = lru_cache(maxsize=8192)(self._find_name)

    def completed(self, item: Recorded) -> Recorded:
        """The object with the apiVersion and kind that its path implies."""
        return item.completed(self._writers, self._readers)

    def crd_of(self, empty: EmptyList) -> str:
        """The name of the CRD whose list was recorded without items; "" if neither release has it."""
        return self._name_of(empty.hint)

    def _find_name(self, hint: Hint) -> str:
        crd = crd_of(hint, self._writers, self._readers)
        return crd.name if crd is not None else ""

    def doubts(self, recording: CaptureFacts) -> Iterator[str]:
        """The reasons why a recording cannot answer for this release, or not for all objects of its cluster."""
        facts = recording.facts
        if self._upgrade and facts.release:
            yield f"the recording was made for a rollback to {facts.release} alone"
        elif why := unfit(recording, self._reader, lambda _: self._digest):
            yield why
        yield from (f"{what}: not recorded: {reason}" for what, reason in facts.missing)

    @cached_property
    def _digest(self) -> str:
        """The digest of the judging release: a fleet asks for it once for each recording."""
        return digest_of(self._reader)

    def replay_once(self, item: Recorded, seen: set[tuple[str, ...]]) -> Replayed | NotSimulated | Unasked | None:
        """Replay one recorded object, `completed`; None if ``seen`` has it."""
        item = self.completed(item)
        identity = item.identity
        if identity is not None:
            if identity in seen:
                return None
            seen.add(identity)
        return self._replay(item)

    def _replay(self, item: Recorded) -> Replayed | NotSimulated | Unasked:
        """Replay one recorded object, or give the reason why it cannot be simulated."""
        if not isinstance(item.data, dict):
            return NotSimulated("", item.source, "not an object")
        api_version, kind = item.data.get("apiVersion"), item.data.get("kind")
        label = item.label
        if not isinstance(api_version, str) or not isinstance(kind, str) or not kind:
            if item.hint is not None:
                reason = f"its CRD is in neither release (by its path: {item.hint})"
                return NotSimulated(label, item.source, reason, outside=True)
            return NotSimulated(label, item.source, "no apiVersion and kind: its CRD is not known")
        if item.identity is None:
            return NotSimulated(label, item.source, "no metadata.name: not a stored object")
        group, _, version = api_version.rpartition("/")
        reader, writer = self._readers.get((group, kind)), self._writers.get((group, kind))
        name = next((each.name for each in (reader, writer) if each is not None), "")
        if self._crds and name and name not in self._crds:
            return Unasked(name)
        if name in self._reader.deleted:
            reason = f"helm {'upgrade' if self._upgrade else 'rollback'} deletes the CRD, and each object with it"
            return NotSimulated(label, item.source, reason, crd=name, lost=True)
        if reader is None:
            if writer is None:
                return NotSimulated(label, item.source, "its CRD is in neither release", outside=True)
            reason = f"{self._reader.name} has no CRD for it: its API answers 404 there"
            return NotSimulated(label, item.source, reason, crd=writer.name)
        missed = partial(NotSimulated, label, item.source, crd=reader.name)
        chosen = reader.versions.get(version)
        before = writer.versions.get(version) if writer is not None else None
        served_before = before is not None and before.version.served
        if chosen is None or (served_before and not chosen.version.served):
            does = "does not know" if chosen is None else "does not serve"
            why = f"{self._reader.name} {does} version {version} of {reader.name}"
            if before is None:
                return missed(why)
            server = self._server or _REPRESENTATIVE_SERVERS[-1]
            absent = without_version(version, server, why)
            there = chosen or lacking(reader, version), (before.version.node,), ((server, absent),)
            return Replayed(item, label, kind, api_version, reader.name, *there)
        if _converts(reader):
            return missed(f"{reader.name} converts versions by a webhook, which cannot be asked here")
        copies = self._copies(reader, writer if before is not None else None, version)
        outcomes = [self._by_copies(item, api_version, *each) for each in copies]
        rivals = [(each, *each.rivals) for each in (chosen, before) if each is not None and each.rivals]
        return worst_of_copies(outcomes, [each for side in rivals for each in side])

    def _copies(self, reader: Resolved, writer: Resolved | None, version: str) -> list[tuple[Chosen, Chosen | None]]:
        """The definitions of a version in the judging release, each with its counterpart in the release that wrote."""
        chosen = reader.versions[version]
        if writer is None:
            return [(each, None) for each in (chosen, *chosen.rivals)]
        old, new = (writer, reader) if self._upgrade else (reader, writer)
        pairs = version_pairs(old, new, version)
        return [(b, a) if self._upgrade else (a, b) for a, b in pairs]

    def _by_copies(
        self, item: Recorded, api_version: str, chosen: Chosen, before: Chosen | None
    ) -> Replayed | NotSimulated:
        """Replay an object on one copy of its CRD, written under one copy of the other release."""
        crd, label = chosen.document.crd, item.label
        missed = partial(NotSimulated, label, item.source, crd=crd.name)
        if chosen.version.schema is None:
            return missed(f"{crd.name} {chosen.version.name} has no schema in {self._reader.name}")
        had_status = before.version.has_status if before is not None else chosen.version.has_status
        servers = (self._server,) if self._server is not None else _REPRESENTATIVE_SERVERS
        refused = self._refusal(chosen, servers[-1])
        if refused:
            problem = Problem(chosen.document.file, None, f"the API server refuses this CRD: {refused}")
            return missed(f"the API server refuses the CRD {crd.name}: {refused}", problem=problem)
        try:
            found = [(on, self._on(chosen, on, item, before, had_status=had_status)) for on in servers]
        except RecursionError:
            return missed(TOO_DEEP)
        schemas = [
            each.version.node for each in (chosen, before) if each is not None and each.version.schema is not None
        ]
        return Replayed(item, label, crd.kind, api_version, crd.name, chosen, tuple(schemas), tuple(found))

    def _on(self, chosen: Chosen, server: Server, item: Recorded, before: Chosen | None, *, had_status: bool) -> Replay:
        resource = self._resource(chosen, server)
        found = replay(resource, item.data, had_status=had_status, notes=self._notes)
        if before is None or before.version.schema is None or not _has_effect(found):
            return found
        its_server = self._writers_server or server
        if self._refusal(before, its_server):
            return found
        writers = self._resource(before, its_server)
        return without_already(resource, writers, item.data, found, notes=self._notes)

    def _resource(self, chosen: Chosen, server: Server) -> Resource:
        key = (id(chosen.version), server)
        if key not in self._resources:
            self._resources[key] = Resource(chosen.document.crd, chosen.version, server)
        return self._resources[key]

    def _refusal(self, chosen: Chosen, server: Server) -> str:
        """Why no server would serve this version of a CRD; "" if servers do."""
        key = id(chosen.version)
        if key not in self._refusals:
            self._refusals[key] = refusal(chosen.document.crd, server)
        return self._refusals[key]


def _has_effect(found: Replay) -> bool:
    return bool(found.pruned) or any(answer.verdict is not WriteResult.ACCEPTED for answer in found.writes.values())


def _converts(resolved: Resolved) -> bool:
    webhook = resolved.crd.conversion_strategy == "Webhook"
    # With a single version nothing is ever converted.
    return webhook and len(resolved.versions) > 1


# A move of the API server alone: both sides have the same CRDs, and only the server is rolled back or upgraded.
#
# The server of the writing side accepted every stored object. The other server can refuse it: servers differ in
# ratcheting, the scope of writes to /status, formats, and functions of CEL rules.


def has_same_crds(one: CrdSet, other: CrdSet) -> bool:
    """Whether two sets have the same CRDs. The same reader must have read both."""
    return _schemas(one) == _schemas(other)


def writing_server(reader: CrdSet, writer: CrdSet) -> Server | None:
    """The server of the writing side; None if nothing names it. In a range of supported servers it is the judging one.

    If the CRDs are the same, only a difference between the servers can cause a rejection. Then the result is the newest
    server, because it accepts most. With the judging server on both sides, no rejection would be new.
    """
    if (known := known_server(writer) or (judging_server(reader) if reader.supported else None)) is not None:
        return known
    return NEWEST_SERVER if has_same_crds(reader, writer) else None


def server_note(reader: CrdSet, writer: CrdSet, judge: Server | None) -> str:
    """A note on the change of the server; "" if the CRDs differ, or the judging server is unknown."""
    judge = judge or judging_server(reader)
    before = writing_server(reader, writer)
    if judge is None or before is None or not has_same_crds(reader, writer):
        return ""
    if judge == before:
        return f"both sides have the same CRDs and run on {judge}: nothing changes (--kube-version names another)"
    assumed = "" if known_server(writer) else f" ({before} is assumed: nothing names the server of {writer.name})"
    return f"both sides have the same CRDs, only the server changes: from {before} to {judge}{assumed}"


def _schemas(crds: CrdSet) -> frozenset[tuple[str, int]]:
    return frozenset((document.crd.name, id(document.crd.versions)) for document in crds.documents)
