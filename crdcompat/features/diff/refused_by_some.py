"""Changed CRDs that some of the servers refuse which both releases meet, and others take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from crdcompat.apiserver.crd_validation.refusal import Fault
from crdcompat.apiserver.supported.causes import Cause
from crdcompat.apiserver.supported.ranges import listed, meeting, server_name, spans_of
from crdcompat.apiserver.versions import NEWEST_SERVER, Server
from crdcompat.compare.memory import ComparisonCache
from crdcompat.compare.placed import Placed
from crdcompat.compare.refused import Refused
from crdcompat.compare.refused_by import causes_in, fresh, judge_refused_by
from crdcompat.compare.result import Judged
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.reader import CrdSet
from crdcompat.crds.resolving import Resolved
from crdcompat.vocabulary import Side
from crdcompat.vocabulary.servers import needed


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
        """The causes of both sides, said of NEW, if the servers are known; else those of older servers alone."""
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
    needs = needed(since, until, map(server_name, cause.refused))
    text = f"{spans_of(refused)} {refuse} this CRD: {what} {needs}"
    return Fault(cause.at, text, text)
