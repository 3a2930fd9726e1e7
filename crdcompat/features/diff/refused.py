"""Changed CRDs that the API server refuses: the upgrade to NEW's, or the rollback to OLD's, fails.

What the server refuses on both sides is no effect of the change. A CRD of NEW that nearly exhausts the cost budget of
CEL rules is a finding, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.refusal import Fault
from crdcompat.apiserver.supported.causes import Cause
from crdcompat.apiserver.supported.ranges import ALL, listed, server_name, spans_of
from crdcompat.apiserver.versions import Server
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.near_budget import judge_near_budget
from crdcompat.compare.placed import Placed
from crdcompat.compare.refused import Refused, judge_refused, refused_documents, refused_metadata
from crdcompat.compare.refused_by import judge_refused_by, refusals_by
from crdcompat.compare.result import Judged
from crdcompat.crds.model import Crd
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved, resolve
from crdcompat.errors import Problem
from crdcompat.features.diff.comparison import Compared
from crdcompat.features.diff.options import DiffOptions
from crdcompat.vocabulary import Owner, Side
from crdcompat.vocabulary.filters import Filters
from crdcompat.vocabulary.servers import needed


def with_refused(compared: Compared, options: DiffOptions) -> Compared:
    """The comparison with the CRDs that the server of their side refuses: among its results, or in remarks.

    A fault that the other side has, too, is no effect of the change: it stays a remark.
    """
    of_old, of_new = _find_refused(compared, options.cache)
    fresh_new, known_new = _apart(of_new, of_old)
    if options.locate:
        remarks = [*_remarks_on(compared.new, Side.NEW, known_new if options.judge_new else of_new)]
        remarks += _remarks_on(compared.new, Side.NEW, _refused_by_some(compared), begin="")
        compared = replace(compared, remarks=tuple(remarks))
    fresh_old = [*filter(_concerns_updates, _apart(of_old, of_new)[0])] if options.judge_old else []
    return _with_judged(compared, fresh_old, fresh_new if options.judge_new else None, options.filters)


def _refused_by_some(compared: Compared) -> Iterator[Refused]:
    """The changed CRDs of NEW that some Kubernetes minors refuse and others take, where nothing names a server.

    The oldest minor is asked; if it takes a CRD, the others do so, too. Faults that OLD's CRD has, too, do not count.
    """
    servers = compared.servers
    if servers.known_old is not None or servers.known_new is not None or compared.new.supported:
        return
    pairs = {each.new.name: each.old for each in _differing(compared)}
    for document, causes in refusals_by((each.new for each in _differing(compared)), ALL[:1]).items():
        olds = refusals_by([pairs[document.crd.name]], ALL[:1]) if causes else {}
        known = {(cause.what, cause.rule) for found in olds.values() for cause in found}
        faults = tuple(_of_minors(cause) for cause in causes if (cause.what, cause.rule) not in known)
        if faults:
            yield Refused(document, faults)


def _of_minors(cause: Cause) -> Fault:
    since, until = (server_name(each) if each is not None else None for each in (cause.since, cause.until))
    what = f"`{cause.what}`" if cause.has_name else cause.title
    refuse = "refuses" if len(cause.refused) == 1 else "refuse"
    needs = needed(since, until, map(server_name, cause.refused))
    text = f"{spans_of(cause.refused)} {refuse} this CRD: {what} {needs}"
    return Fault(cause.at, text, text)


def _concerns_updates(refused: Refused) -> bool:
    """Whether a CRD of OLD has faults that only this module finds: what updates may not set is a change of its own."""
    return any(fault.at[-1:] != ("preserveUnknownFields",) for fault in refused.faults)


def _apart(mine: Sequence[Refused], theirs: Sequence[Refused]) -> tuple[list[Refused], list[Refused]]:
    """The refusals of one side without the faults that the other side's CRD of the same name has, and these faults."""
    known: dict[str, set[str]] = {}
    for each in theirs:
        known.setdefault(each.document.crd.name, set()).update(fault.text for fault in each.faults)
    fresh: list[Refused] = []
    common: list[Refused] = []
    for each in mine:
        texts = known.get(each.document.crd.name, set())
        for kept, is_common in ((fresh, False), (common, True)):
            faults = tuple(fault for fault in each.faults if (fault.text in texts) == is_common)
            kept += [replace(each, faults=faults)] if faults else []
    return fresh, common


def _find_refused(compared: Compared, cache: ComparisonCache) -> tuple[Sequence[Refused], Sequence[Refused]]:
    """The changed CRDs of OLD, and the changed and added ones of NEW, that the server of their side refuses.

    Parts of OLD that equal a part of NEW without faults are not validated again.
    """
    good: dict[str, Crd] = {}
    servers = compared.servers
    of_new = [*_refused(_of_new(compared), servers.of_new, good, cache, assumed=servers.known_new is None)]
    described = (each.new for each in compared.pairs if _is_described_anew(each))
    known = {each.document for each in of_new}
    of_metadata = refused_metadata(described, servers.of_new)
    of_new += [each for each in of_metadata if each.document not in known]
    olds = (crd_pair.old for crd_pair in _differing(compared))
    same = servers.of_old == servers.of_new
    return _refused(olds, servers.of_old, good if same else {}, cache, assumed=servers.known_old is None), of_new


def _refused(
    crds: Iterable[Resolved], server: Server, good: dict[str, Crd], cache: ComparisonCache, *, assumed: bool
) -> Sequence[Refused]:
    return refused_documents(crds, server, good, cache.faults.setdefault((server, assumed), {}), assumed=assumed)


def _of_new(compared: Compared) -> Iterator[Resolved]:
    """The CRDs of NEW that differ from OLD's, or that OLD lacks."""
    yield from (crd_pair.new for crd_pair in _differing(compared))
    yield from (placed.crd for placed in _entering(compared))


def _differing(compared: Compared) -> Iterator[CrdPair]:
    return (each for each in compared.pairs if each.old.name in compared.found.changed or _specs_differ(each))


def _specs_differ(crd_pair: CrdPair) -> bool:
    """Whether the documents differ at all: a group or a plural alone is no change that the comparison reports."""
    old, new = ([each.crd.raw["spec"] for each in side.documents] for side in (crd_pair.old, crd_pair.new))
    return old != new


def _is_described_anew(crd_pair: CrdPair) -> bool:
    """Whether the metadata of the documents differs."""
    old, new = ([each.crd.raw.get("metadata") for each in side.documents] for side in (crd_pair.old, crd_pair.new))
    return old != new


def _with_judged(
    compared: Compared, of_old: Sequence[Refused], of_new: Sequence[Refused] | None, wanted: Filters
) -> Compared:
    """The comparison with the CRDs that the server of their side refuses, or nearly refuses, among its results.

    None for ``of_new``: those of NEW are no results.
    """
    if wanted.owners and Owner.CRD not in wanted.owners:
        return compared
    olds = [Placed(crd_pair.context, crd_pair.terminal, crd_pair.old) for crd_pair in compared.pairs]
    judged = [*compared.judged, *judge_refused(olds, of_old, Side.OLD)]
    if of_new is not None:
        judged += _judged_new(compared, of_new)
    return replace(compared, judged=tuple(judged))


def _judged_new(compared: Compared, found: Sequence[Refused]) -> Iterator[Judged]:
    placed = placed_in_new(compared)
    asked = listed(compared.new.supported)
    causes = refusals_by(_of_new(compared), asked) if asked else {}
    found = [_without(each, causes.get(each.document, ())) for each in found]
    yield from judge_refused(placed, found)
    yield from judge_near_budget(placed, _of_new(compared), [each.document for each in found], compared.servers.of_new)
    yield from judge_refused_by(placed, causes, asked)


def _without(refused: Refused, causes: Sequence[Cause]) -> Refused:
    """The refusal without the places that supported servers differ on: these are findings of their own."""
    places = {cause.at for cause in causes}
    return replace(refused, faults=tuple(fault for fault in refused.faults if fault.at not in places))


def placed_in_new(compared: Compared) -> list[Placed]:
    """The CRDs of NEW in their contexts: those that both sides have, then those of NEW alone."""
    pairs = [Placed(crd_pair.context, crd_pair.terminal, crd_pair.new) for crd_pair in compared.pairs]
    return [*pairs, *_entering(compared)]


def _entering(compared: Compared) -> Iterator[Placed]:
    """The CRDs that NEW alone has."""
    return (Placed(item.context, item.terminal, resolve(item.documents)) for item in compared.entering)


def _remarks_on(
    crds: CrdSet, side: Side, found: Iterable[Refused], begin: str = "the API server refuses this CRD: "
) -> Iterator[Problem]:
    """The refused CRDs of one side as remarks, one line each."""
    faults = {each.document: each.faults for each in found}
    places = crds.positions.of_values({document: {each.at for each in said} for document, said in faults.items()})
    for document, said in faults.items():
        for fault in said:
            line, _ = places.get((document.file, document.index, (*document.pointer, *fault.at)), (1, 1))
            yield Problem(document.file, line, f"{begin}{fault.one_line}", side)
