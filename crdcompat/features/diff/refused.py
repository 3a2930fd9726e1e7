"""Changed CRDs that the API server refuses: a finding for one of NEW, a remark for one of OLD.

A CRD of NEW that nearly exhausts the cost budget of CEL rules is a finding, too.

No cluster of OLD ever had a CRD that OLD's server refuses, so a rollback cannot fail because of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from crdcompat.apiserver.supported.causes import Cause
from crdcompat.apiserver.supported.ranges import listed
from crdcompat.apiserver.versions import Server
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.near_budget import judge_near_budget
from crdcompat.compare.placed import Placed
from crdcompat.compare.refused import Refused, judge_refused, refused_documents, refused_metadata
from crdcompat.compare.refused_by import judge_refused_by, refusals_by
from crdcompat.crds.model import Crd
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved, resolve
from crdcompat.errors import Problem
from crdcompat.features.diff.comparison import Compared
from crdcompat.features.diff.options import DiffOptions
from crdcompat.vocabulary import Owner, Side
from crdcompat.vocabulary.filters import Filters


def with_refused(compared: Compared, options: DiffOptions) -> Compared:
    """The comparison with the CRDs that the server of their side refuses: among its results, or in remarks."""
    if not options.judge_new and not options.locate:
        return compared
    of_old, of_new = _find_refused(compared, options.cache, of_both=options.judge_new and options.locate)
    if options.locate:
        remarks = [*_remarks_on(compared.old, Side.OLD, of_old)]
        if not options.judge_new:
            remarks += _remarks_on(compared.new, Side.NEW, of_new)
        compared = replace(compared, remarks=tuple(remarks))
    return _with_judged(compared, of_new, options.filters) if options.judge_new else compared


def _find_refused(
    compared: Compared, cache: ComparisonCache, *, of_both: bool
) -> tuple[Sequence[Refused], Sequence[Refused]]:
    """The changed CRDs of OLD, and the changed and added ones of NEW, that the server of their side refuses.

    Parts of OLD that equal a part of NEW without faults are not validated again. ``of_both``: OLD is looked at, too.
    """
    good: dict[str, Crd] = {}
    servers = compared.servers
    of_new = [*_refused(_of_new(compared), servers.of_new, good, cache, assumed=servers.known_new is None)]
    described = (each.new for each in compared.pairs if _is_described_anew(each))
    known = {each.document for each in of_new}
    of_metadata = refused_metadata(described, servers.of_new)
    of_new += [each for each in of_metadata if each.document not in known]
    if not of_both:
        return (), of_new
    olds = (crd_pair.old for crd_pair in _differing(compared))
    return _refused(olds, servers.of_old, good, cache, assumed=servers.known_old is None), of_new


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


def _with_judged(compared: Compared, found: Sequence[Refused], wanted: Filters) -> Compared:
    """The comparison with the CRDs of NEW that its server refuses, or nearly refuses, among its results."""
    if wanted.owners and Owner.CRD not in wanted.owners:
        return compared
    placed = placed_in_new(compared)
    asked = listed(compared.new.supported)
    causes = refusals_by(_of_new(compared), asked) if asked else {}
    found = [_without(each, causes.get(each.document, ())) for each in found]
    documents = [each.document for each in found]
    near = judge_near_budget(placed, _of_new(compared), documents, compared.servers.of_new)
    of_versions = judge_refused_by(placed, causes, asked)
    return replace(compared, judged=(*compared.judged, *judge_refused(placed, found), *near, *of_versions))


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


def _remarks_on(crds: CrdSet, side: Side, found: Iterable[Refused]) -> Iterator[Problem]:
    """The refused CRDs of one side as remarks, one line each."""
    faults = {each.document: each.faults for each in found}
    places = crds.positions.of_values({document: {each.at for each in said} for document, said in faults.items()})
    for document, said in faults.items():
        for fault in said:
            line, _ = places.get((document.file, document.index, (*document.pointer, *fault.at)), (1, 1))
            yield Problem(document.file, line, f"the API server refuses this CRD: {fault.one_line}", side)
