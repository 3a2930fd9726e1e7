"""The requests that show a claim to a server: the writer's CRD, the reader's, and the witness.

The server judges a whole object in one request, so a CRD is installed with the one version that the claim is about,
without the status endpoint, at which a create would drop the status, and without a conversion webhook.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from crdcompat.apiserver.admission import SERVER_SET
from crdcompat.crds.pairing import CrdPair, pair
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved
from crdcompat.features.verify.scratch_cluster import NAMESPACE
from crdcompat.models.verification import Claim
from crdcompat.vocabulary import Direction, Effect, Side

Json = dict[str, Any]


class Form(Struct, frozen=True, eq=False):
    """A CRD as it is installed. Forms of equal ``key`` are of one CRD of one release, and are equal."""

    key: tuple[int, str]
    crd: Json


class Trial(Struct, frozen=True, eq=False):
    """A claim with both forms.

    ``written_as`` is the version of the witness. ``whole``: the claim is about the CRDs themselves.
    """

    claim: Claim
    writer: Form
    reader: Form
    written_as: str = ""
    whole: bool = False


class NoTrial(Struct, frozen=True):
    """A claim that cannot be put to a server, and why."""

    claim: Claim
    reason: str


def trials(claims: Iterable[Claim], old: CrdSet, new: CrdSet) -> Iterator[Trial | NoTrial]:
    """A trial for each claim, in an order in which CRDs are exchanged seldom."""
    claims = list(claims)
    pairs = _pairs({context for claim in claims for context in claim.contexts}, old, new)
    forms = _Forms()
    found = [_trial(claim, pairs, forms) for claim in claims]
    yield from (each for each in found if isinstance(each, NoTrial))
    yield from sorted((each for each in found if isinstance(each, Trial)), key=_order)


def _order(trial: Trial) -> tuple[Any, ...]:
    # NEW's CRD stays when its objects have been the readers', and are the writers' next.
    upgrade_first = trial.claim.judged_as != Direction.UPGRADE
    return trial.claim.crd, trial.whole, trial.claim.version, upgrade_first, trial.writer.key, trial.reader.key


_Pairs = Mapping[tuple[str, str], Sequence[CrdPair]]


def _pairs(contexts: Iterable[str], old: CrdSet, new: CrdSet) -> _Pairs:
    """(context, CRD) -> a pair for each copy of it; contexts of different name are paired as the report has them."""
    forced = [(a, b) for a, equals, b in (name.partition("=") for name in contexts) if equals]
    found: dict[tuple[str, str], list[CrdPair]] = {}
    for each in (*pair(old, new).pairs, *(pair(old, new, forced).pairs if forced else ())):
        found.setdefault((each.context, each.old.name), []).append(each)
    return found


def _pair_of(claim: Claim, pairs: _Pairs) -> CrdPair | None:
    """The pair that the claim is about. If copies differ, the pair in the files that the claim names."""
    found = (each for context in claim.contexts for each in pairs.get((context, claim.crd), ()))
    return max(found, key=lambda each: len(claim.files & _files(each)), default=None)


def _files(each: CrdPair) -> set[tuple[str, str]]:
    sides = ((Side.OLD, each.old), (Side.NEW, each.new))
    return {(side.value, document.file) for side, crd in sides for document in crd.documents}


class _Forms:
    """The forms of CRDs, each made once."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, str], Form] = {}

    def of_version(self, crd: Mapping[str, Any], version: str) -> Form:
        """The CRD with that version alone, so that the server judges and keeps the object by it."""
        key = id(crd), version
        if key not in self._made:
            made = _without_conversion(crd)
            (entry,) = (copy.deepcopy(each) for each in made["spec"]["versions"] if each["name"] == version)
            entry |= {"served": True, "storage": True}
            (entry.get("subresources") or {}).pop("status", None)
            made["spec"]["versions"] = [entry]
            self._made[key] = Form(key, made)
        return self._made[key]

    def whole(self, crd: Mapping[str, Any]) -> Form:
        """The CRD with all its versions."""
        key = id(crd), ""
        if key not in self._made:
            self._made[key] = Form(key, _without_conversion(crd))
        return self._made[key]


def _without_conversion(crd: Mapping[str, Any]) -> Json:
    return {**crd, "spec": {key: value for key, value in crd["spec"].items() if key != "conversion"}}


def _trial(claim: Claim, pairs: _Pairs, forms: _Forms) -> Trial | NoTrial:
    shown = claim.errors if claim.effect == Effect.CRD_REJECTED else claim.witness
    if not shown:  # some depend on what a cluster has stored, others are about a CRD that one release lacks
        return NoTrial(claim, claim.reason or "the finding has no witness")
    both = _pair_of(claim, pairs)
    if both is None:
        return NoTrial(claim, f"the releases as they are read now do not both have {claim.crd} in {_listed(claim)}")
    writer, reader = (both.new, both.old) if claim.judged_as == Direction.ROLLBACK else (both.old, both.new)
    if claim.effect == Effect.CRD_REJECTED:
        before, after = (forms.whole(side.crd.raw) for side in (writer, reader))
        return Trial(claim, before, after, whole=True)
    if claim.effect == Effect.REQUEST_FAILED:
        return NoTrial(claim, "a request that fails for any object: a dry run cannot show it")
    written_as = str((claim.witness or {}).get("apiVersion", "")).rpartition("/")[2]
    for side, version in ((writer, written_as), (reader, claim.version)):
        if version not in side.versions:
            return NoTrial(claim, f"a release as it is read now has no version {version or '?'} of {claim.crd}")
    return Trial(claim, _form(writer, written_as, forms), _form(reader, claim.version, forms), written_as)


def _form(side: Resolved, version: str, forms: _Forms) -> Form:
    return forms.of_version(side.versions[version].document.crd.raw, version)


def _listed(claim: Claim) -> str:
    return ", ".join(claim.contexts) or "any context"


def sent(obj: Json, crd: Json, version: str) -> Json:
    """An object as it is sent to the endpoint of that version."""
    meta = {key: value for key, value in (obj.get("metadata") or {}).items() if key not in SERVER_SET}
    meta["namespace"] = NAMESPACE
    if crd["spec"]["scope"] != "Namespaced":
        del meta["namespace"]
    spec = crd["spec"]
    return {**obj, "apiVersion": f"{spec['group']}/{version}", "kind": spec["names"]["kind"], "metadata": meta}
