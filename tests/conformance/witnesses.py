"""What findings claim, put to real API servers: the writer's takes the witness, the reader's does what is claimed.

The server of either side may be of another minor, as in a rollback of a whole cluster.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import referee
from differences import compared, in_group, installation, new_group, two_sides
from helpers import Json, at, places
from referee import Answer, Referee

import crdcompat
from crdcompat.apiserver.crd_validation.refusal import refusals, update_refusal
from crdcompat.apiserver.server_versions import kubernetes_server, server_of
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.engine import Comparer
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import read_crd
from crdcompat.crds.pairing import pair
from crdcompat.crds.reader import CrdSet
from crdcompat.features.diff.named_writers import with_names
from crdcompat.features.diff.sample_objects import Seeds, with_seeds


@dataclass(frozen=True, slots=True)
class Claim:
    """The claim of a finding: what ``witness`` meets when it is written as one version and read as ``version``.

    ``exact``: everything else that the witness meets is in the finding, too. That goes for the first pair of schemas
    that a finding is about; in others, the witness may meet more.
    """

    direction: str
    path: str
    effect: str
    witness: Witness
    version: str
    written_as: str = ""  # only where it differs
    exact: bool = True

    @property
    def writer_version(self) -> str:
        return self.written_as or self.version


def claims_of(old: CrdSet, new: CrdSet) -> Iterator[tuple[Claim, Json, Json]]:
    """(claim, writer's CRD, reader's CRD) of each finding, for each pair of schemas that it is about.

    Findings that seeds prove, and witnesses with a value that somebody writes, are among them.
    """
    comparer = Comparer(server_of(old), server_of(new))
    judged, seeds = comparer.compare(pair(old, new).pairs).judged, Seeds(old, new, ComparisonCache())
    for item in with_names(with_seeds(judged, comparer, seeds), comparer, old, new, seeds):
        claim = Claim(item.direction, item.change.place, item.effect, item.witness, item.version)
        seen: set[tuple[int, int]] = set()
        for each in item.occurrences:
            key = id(each.old.version.schema), id(each.new.version.schema)
            if key not in seen:
                seen.add(key)
                crds: list[Any] = [each.old.document.crd.raw, each.new.document.crd.raw]
                writer, reader = crds[::-1] if item.direction == "rollback" else crds
                yield replace(claim, written_as=each.written_as, exact=not seen - {key}), writer, reader


@dataclass(frozen=True, slots=True)
class Side:
    """A CRD of one release, and the server beside that release."""

    crd: Json
    server: Referee
    minor: str


class Desk:
    """Asks about claims. A CRD of one version is installed once per server, however many claims are about it."""

    def __init__(self) -> None:
        # By the CRD's identity, so each is kept.
        self._installed: dict[tuple[int, str, str], tuple[Json, Json, list[str]]] = {}

    def refuted(self, claim: Claim, writer: Side, reader: Side) -> list[str]:
        """What the servers do not show of a claim; they validate the whole object, its status included."""
        (wrote, lines), (reads, more) = (
            self._install(side, version) for side, version in ((writer, claim.writer_version), (reader, claim.version))
        )
        if lines or more:
            return [*lines, *more]
        if not wrote or not reads:
            return []
        if claim.witness.stored is not None:
            held, refusal = _stored(claim, claim.witness.stored, wrote, writer)
            if held is None:
                return [f"the writer refuses what is stored: {refusal}"]
            made = _updated(claim, held, wrote, writer, claim.writer_version)
            if not made.accepted:
                return [f"the writer refuses it: {made.message}"]
            met = _updated(claim, held, reads, reader, claim.version)
        else:
            held, refusal = _stored(claim, claim.witness.object, wrote, writer)
            if held is None:
                return [f"the writer refuses it: {refusal}"]
            obj = _sent(held, reads, claim.version)
            met = reader.server.write("create", reads, obj, version=claim.version)
            reader.server.discard(reads, obj["metadata"]["name"])
        group = reader.crd["spec"]["group"]
        said = {f"{field}: {message}".replace(reads["spec"]["group"], group) for _, field, message in met.causes}
        claimed = set(claim.witness.errors)
        if claim.exact or (claimed and not claimed & said):
            lines += [f"claimed: {line}" for line in sorted(claimed - said)]
            lines += [f"said: {line}" for line in sorted(said - claimed)]
        if met.accepted != (claim.effect != "write-rejected"):
            lines.append(f"{claim.effect}: {met.code} {met.message}")
        if met.accepted and claim.exact:
            lines += [f"is not pruned: {path}" for path in claim.witness.pruned if _has(met.body, path)]
            lines += [f"is not defaulted: {path}" for path in claim.witness.defaulted if not _has(met.body, path)]
        return lines

    def _install(self, side: Side, version: str) -> tuple[Json, list[str]]:
        """The CRD as it is served, {} if the server refuses it; and what is wrong with its installation."""
        key = (id(side.crd), version, side.minor)
        if key not in self._installed:
            crd = in_group(_of_one_version(side.crd, version, status=False), new_group())
            answer = side.server.install(crd)
            served = crd if answer.accepted else {}
            self._installed[key] = side.crd, served, installation(crd, answer, side.minor)
        return self._installed[key][1:]


def _stored(claim: Claim, given: Any, crd: Json, writer: Side) -> tuple[Json | None, str]:
    """The given object as the writer stores it; None and the server's sentence if it refuses it."""
    obj = _sent(given, crd, claim.writer_version)
    name = obj["metadata"]["name"]
    answer = writer.server.write("create", crd, obj, version=claim.writer_version)
    held = writer.server.stored(crd, name) if answer.accepted else None
    writer.server.discard(crd, name)
    return held, answer.message


def _updated(claim: Claim, held: Json, crd: Json, side: Side, version: str) -> Answer:
    """The answer to an update of what the writer has stored, which the side itself need not take as a new object."""
    obj = _sent(claim.witness.object, crd, version)
    side.server.store(crd, {**held, "apiVersion": obj["apiVersion"]})
    answer = side.server.write("update", crd, obj, version=version)
    side.server.discard(crd, obj["metadata"]["name"])
    return answer


def _has(obj: Json, path: str) -> bool:
    steps = [int(step) if step.isdigit() else step for step in path.replace("[", ".").replace("]", "").split(".")]
    try:
        at(obj, steps)
    except (LookupError, TypeError):
        return any(True for _ in places(obj, path))
    return True


def _of_one_version(crd: Json, name: str, *, status: bool) -> Json:
    """The CRD with that version alone; without its subresource status, a create validates the status, too."""
    made = copy.deepcopy(crd)
    (version,) = (each for each in made["spec"]["versions"] if each["name"] == name)
    version |= {"served": True, "storage": True}
    if not status:
        version.get("subresources", {}).pop("status", None)
    made["spec"]["versions"] = [version]
    made["spec"].pop("conversion", None)
    return made


def _sent(obj: Any, crd: Json, version: str) -> Json:
    """The object as a create request of that CRD sends it."""
    meta = {key: value for key, value in obj.get("metadata", {}).items() if key in ("name", "labels", "annotations")}
    meta.setdefault("name", "witness")
    if crd["spec"]["scope"] == "Namespaced":
        meta["namespace"] = referee.NAMESPACE
    named: Json = {**obj, "apiVersion": f"{crd['spec']['group']}/{version}", "kind": crd["spec"]["names"]["kind"]}
    return {**named, "metadata": meta}


def rollbacks(claims: Iterable[tuple[Claim, Side, Side]]) -> Iterator[tuple[Side, Claim | None, str, list[str]]]:
    """(reader, claim, write, what the answers do not have in common), for each swap of CRDs that the claims are about.

    First the whole CRD is swapped, which is of no claim; then, for each version, below the witnesses stored before.
    """
    swaps: dict[tuple[int, int], tuple[Side, Side]] = {}
    of_version: dict[tuple[int, int, str], list[Claim]] = {}
    for claim, writer, reader in claims:
        pair = id(writer.crd), id(reader.crd)
        swaps.setdefault(pair, (writer, reader))
        if claim.witness.object is not None and claim.version and not claim.written_as:
            of_version.setdefault((*pair, claim.version), []).append(claim)
    for writer, reader in swaps.values():
        yield reader, None, "swap", _swapped(writer.crd, reader)
    for (before, after, _), together in of_version.items():
        writer, reader = swaps[before, after]
        for claim, operation, lines in _rolled_back(together, writer.crd, reader):
            yield reader, claim, operation, lines


def _swapped(before: Json, reader: Side) -> list[str]:
    """What the answers do not have in common when the reader's CRD replaces another, all versions at once."""
    server, group = reader.server, new_group()
    current, target = (_unconverted(in_group(crd, group)) for crd in (before, reader.crd))
    if refusals(read_crd(target), kubernetes_server(reader.minor)):
        return []  # its installation is compared: this is about the change alone
    if not server.install(current).accepted:  # some fields are immutable once a CRD is established, and not before
        return []
    answer = server.update_crd(target)
    stored = [version["name"] for version in current["spec"]["versions"] if version["storage"]]
    reported = update_refusal(read_crd(current), read_crd(target), stored, kubernetes_server(reader.minor))
    return two_sides(filter(None, [reported]), filter(None, [answer.message]))


def _unconverted(crd: Json) -> Json:
    """The CRD without its conversion webhook, which does not run here."""
    return {**crd, "spec": {key: value for key, value in crd["spec"].items() if key != "conversion"}}


def _rolled_back(claims: list[Claim], writer: Json, reader: Side) -> Iterator[tuple[Claim, str, list[str]]]:
    """The writes of the witnesses after the swap; all claims are about one version, which both CRDs have."""
    group, version = new_group(), claims[0].version
    before, after = (in_group(_of_one_version(crd, version, status=True), group) for crd in (writer, reader.crd))
    if not reader.server.install(before).accepted:
        return
    held = [(claim, _stored_with_status(claim, before, reader)) for claim in claims]
    if reader.server.swap(after).accepted:
        for claim, obj in held:
            if obj is not None:
                for operation, lines in _writes(claim, obj, after, reader):
                    yield claim, operation, lines


def _stored_with_status(claim: Claim, crd: Json, side: Side) -> Json | None:
    """The witness as a server stores it, taken out of etcd again; None if it refuses it."""
    obj = _sent(claim.witness.object, crd, claim.version)
    name = obj["metadata"]["name"]
    if not side.server.write("create", crd, obj, version=claim.version).accepted:
        return None
    if "status" in obj and _has_status(crd):
        side.server.write("updateStatus", crd, obj, version=claim.version)
    held = side.server.stored(crd, name)
    side.server.discard(crd, name)
    return held


def _has_status(crd: Json) -> bool:
    return "status" in (crd["spec"]["versions"][0].get("subresources") or {})


def _writes(claim: Claim, held: Json, crd: Json, side: Side) -> Iterator[tuple[str, list[str]]]:
    """Each kind of write of an object that another CRD let in, answered by both."""
    server, name = side.server, held["metadata"]["name"]
    label: Json = {"metadata": {"labels": {"a": "b"}}}
    status = held.get("status")
    touched = {**label, "status": {**status, "zzz": 1}} if isinstance(status, dict) else label
    server.store(crd, held)
    for operation, patch in (
        ("updateStatus", {}),
        ("mergePatchStatus", touched),
        ("mergePatch", label),
        ("update", {}),
        ("create", {}),
    ):
        if "Status" in operation and not _has_status(crd):
            continue
        stored = server.stored(crd, name)
        assert stored is not None
        new = stored
        if operation == "create":
            stored, new = None, _sent(claim.witness.object, crd, claim.version)
            server.discard(crd, name)
        elif "Patch" in operation:
            new = patch
        answer = server.write(operation, crd, new, name=name, version=claim.version)
        verdict = crdcompat.judge(crd, operation, new, stored, version=claim.version, kubernetes=side.minor)
        yield operation, compared(operation, verdict, answer)
    server.discard(crd, name)
