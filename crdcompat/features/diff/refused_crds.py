"""Changed CRDs that the API server refuses: the upgrade to NEW's, or the rollback to OLD's, fails.

What the server refuses on both sides is no effect of the change. A CRD of NEW that nearly exhausts the cost budget of
CEL rules is a finding, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.refusal import Fault
from crdcompat.apiserver.server_versions import NEWEST_SERVER, Server
from crdcompat.apiserver.supported.causes import Cause
from crdcompat.apiserver.supported.ranges import listed, meeting, server_name, spans_of
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.near_budget import judge_near_budget
from crdcompat.compare.placed import Placed, documents_of
from crdcompat.compare.refused import Refused, judge_refused, refused_documents, refused_metadata
from crdcompat.compare.refused_by import causes_in, fresh, judge_refused_by
from crdcompat.compare.result import Judged
from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved, resolve
from crdcompat.errors import Problem
from crdcompat.features.diff.compared import Compared
from crdcompat.features.diff.diff_options import DiffOptions
from crdcompat.features.diff.on_servers import specs_differ
from crdcompat.vocabulary import Owner, Side
from crdcompat.vocabulary.server_names import needed


def with_refused(compared: Compared, options: DiffOptions) -> Compared:
    """The comparison with the CRDs that a server of their side refuses: among its results, or in remarks.

    A fault that the other side has, too, is no effect of the change: it stays a remark. Where nothing names a server, a
    fault that newer minors do not find is a remark, too.
    """
    changed = [each.old for each in _differing(compared)], [*_of_new(compared)]
    by_some = refused_by_some((compared.old, compared.new), changed, options.cache)
    found = _find_refused(compared, options.cache, by_some[Side.OLD].accepted | by_some[Side.NEW].accepted)
    of_old, of_new = (
        [_without(each, by_some[side].causes.get(each.document, ())) for each in of_side]
        for side, of_side in zip((Side.OLD, Side.NEW), found, strict=True)
    )
    fresh_new, known_new = _apart(of_new, of_old)
    if options.locate:
        remarks = [*_remarks_on(compared.new, Side.NEW, known_new if options.judge_new else of_new)]
        for side, crds in ((Side.OLD, compared.old), (Side.NEW, compared.new)):
            remarks += _remarks_on(crds, side, by_some[side].in_remarks(side), begin="")
        compared = replace(compared, remarks=tuple(remarks))
    if not options.filters.want_owner(Owner.CRD):
        return compared
    judged = [*compared.judged]
    if options.judge_old:
        olds = [Placed(crd_pair.context, crd_pair.terminal, crd_pair.old) for crd_pair in compared.pairs]
        fresh_old = filter(_concerns_updates, _apart(of_old, of_new)[0])
        judged += judge_refused(olds, fresh_old, Side.OLD)
        judged += by_some[Side.OLD].judged(olds, Side.OLD)
    if options.judge_new:
        placed = placed_in_new(compared)
        judged += judge_refused(placed, fresh_new)
        refused = [each.document for each in found[1]]
        judged += judge_near_budget(placed, _of_new(compared), refused, compared.servers.of_new)
        judged += by_some[Side.NEW].judged(placed, Side.NEW)
    return replace(compared, judged=tuple(judged))


def _concerns_updates(refused: Refused) -> bool:
    """Whether a CRD of OLD has a fault besides ``preserveUnknownFields``, which the facet of that name reports."""
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


def _find_refused(
    compared: Compared, cache: ComparisonCache, accepted: frozenset[CrdDocument]
) -> tuple[Sequence[Refused], Sequence[Refused]]:
    """The changed CRDs of OLD, and the changed and added ones of NEW, that the server of their side refuses.

    Those ``accepted`` by it are not validated again, nor are parts of OLD that equal a part of NEW without faults.
    """
    good: dict[str, Crd] = {}
    servers = compared.servers
    news = _but(accepted, _of_new(compared))
    of_new = [*_refused(news, servers.of_new, good, cache, assumed=servers.known_new is None)]
    described = [each for each in compared.pairs if _is_described_anew(each)]
    of_new += _of_metadata((each.new for each in described), servers.of_new, of_new)
    olds = _but(accepted, (crd_pair.old for crd_pair in _differing(compared)))
    same = servers.of_old == servers.of_new
    of_old = [*_refused(olds, servers.of_old, good if same else {}, cache, assumed=servers.known_old is None)]
    return [*of_old, *_of_metadata((each.old for each in described), servers.of_old, of_old)], of_new


def _but(accepted: frozenset[CrdDocument], crds: Iterable[Resolved]) -> Iterator[Resolved]:
    return (each for each in crds if not accepted.issuperset(documents_of(each)))


def _of_metadata(crds: Iterable[Resolved], server: Server, known: Iterable[Refused]) -> list[Refused]:
    """The documents with refused metadata that are not known yet."""
    documents = {each.document for each in known}
    return [each for each in refused_metadata(crds, server) if each.document not in documents]


def _refused(
    crds: Iterable[Resolved], server: Server, good: dict[str, Crd], cache: ComparisonCache, *, assumed: bool
) -> Sequence[Refused]:
    return refused_documents(crds, server, good, cache.faults.setdefault((server, assumed), {}), assumed=assumed)


def _of_new(compared: Compared) -> Iterator[Resolved]:
    """The CRDs of NEW that differ from OLD's, or that OLD lacks."""
    yield from (crd_pair.new for crd_pair in _differing(compared))
    yield from (placed.crd for placed in _entering(compared))


def _differing(compared: Compared) -> Iterator[CrdPair]:
    return (each for each in compared.pairs if each.old.name in compared.found.changed or specs_differ(each))


def _is_described_anew(crd_pair: CrdPair) -> bool:
    """Whether the metadata of the documents differs between the sides."""
    old, new = ([each.crd.raw.get("metadata") for each in side.documents] for side in (crd_pair.old, crd_pair.new))
    return old != new


def _without(refused: Refused, causes: Sequence[Cause]) -> Refused:
    """The refusal without the places that servers differ on: these are findings or remarks of their own."""
    places = {cause.at for cause in causes}
    return replace(refused, faults=tuple(fault for fault in refused.faults if fault.at not in places))


def placed_in_new(compared: Compared) -> list[Placed]:
    """The CRDs of NEW in their contexts: first CRDs that both sides have, then CRDs of NEW alone."""
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


# Changed CRDs that some of the servers refuse which both releases meet, and others take.


class RefusedBySome(Struct, frozen=True):
    """The ``causes`` for which some of the ``asked`` servers refuse CRDs of one side, and others take them.

    ``fresh`` are those that the other side's CRD does not have; ``is_known``: something names the servers. ``accepted``
    are the documents that each server takes which both releases meet.
    """

    asked: tuple[Server, ...] = ()
    causes: Mapping[CrdDocument, Sequence[Cause]] = {}
    fresh: Mapping[CrdDocument, Sequence[Cause]] = {}
    is_known: bool = True
    accepted: frozenset[CrdDocument] = frozenset()

    def judged(self, placed: Sequence[Placed], side: Side) -> Iterator[Judged]:
        """The fresh causes on supported servers. Where nothing names a server, that is the newest one."""
        found = {at: [each for each in causes if self._counts(each)] for at, causes in self.fresh.items()}
        yield from judge_refused_by(placed, found, self.asked, side)

    def in_remarks(self, side: Side) -> Iterator[Refused]:
        """The causes of both sides, said of NEW, if the servers are known; else the causes on older servers alone."""
        if self.is_known and side == Side.OLD:
            return
        for document, causes in self.causes.items():
            own = self.fresh[document]
            told = [each for each in causes if each not in own] if self.is_known else own
            if faults := tuple(
                _of_minors(each, self.asked) for each in told if self.is_known or not self._counts(each)
            ):
                yield Refused(document, faults)

    def _counts(self, cause: Cause) -> bool:
        return self.is_known or NEWEST_SERVER in cause.refused


def refused_by_some(
    sides: tuple[CrdSet, CrdSet], crds: tuple[Sequence[Resolved], Sequence[Resolved]], cache: ComparisonCache
) -> dict[Side, RefusedBySome]:
    """The changed ``crds`` of both sides that some servers refuse and others take. Raises UsageError."""
    met = meeting(*sides)
    asked = [met or listed(each.supported) for each in sides]
    if not any(asked):
        return {side: RefusedBySome() for side in Side}
    old, new = (causes_in(each, servers, cache) for each, servers in zip(crds, asked, strict=True))
    is_known = any(each.supported for each in sides)
    found = {}
    for side, servers, mine, theirs in ((Side.OLD, asked[0], old, new), (Side.NEW, asked[1], new, old)):
        named: dict[str, list[Cause]] = {}
        for document, causes in theirs.items():
            named.setdefault(document.crd.name, []).extend(causes)
        partial = {document: [each for each in causes if each.accepting] for document, causes in mine.items()}
        others = {document: fresh(causes, named.get(document.crd.name, ())) for document, causes in partial.items()}
        accepted = frozenset(document for document, causes in mine.items() if met and not causes)
        found[side] = RefusedBySome(servers, partial, others, is_known, accepted)
    return found


def _of_minors(cause: Cause, asked: Sequence[Server]) -> Fault:
    since, until = (server_name(each) if each is not None else None for each in (cause.since, cause.until))
    what = f"`{cause.what}`" if cause.has_name else cause.title
    refused = [server for server in asked if server in cause.refused]
    refuse = "refuses" if len(refused) == 1 else "refuse"
    begin = f"{spans_of(refused)} {refuse} this CRD"
    if (since is None) == (until is None):
        text = f"{begin} because of {what}"  # older and newer servers take it
    else:
        text = f"{begin}: {what} {needed(since, until, ())}"
    return Fault(cause.at, text, text)
