"""Changed CRDs that some of the supported servers refuse, and the features that these servers lack.

One set of CRDs is installed on many Kubernetes minors, and these know different CEL functions, fields and keywords.
``apiserver.supported`` asks the servers and finds the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from crdcompat.apiserver.crd_validation.refusal import refusals
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.causes import Cause, ask
from crdcompat.apiserver.supported.eras import asked_about
from crdcompat.apiserver.supported.ranges import server_name
from crdcompat.compare.changes import Change
from crdcompat.compare.comparison_cache import ComparisonCache
from crdcompat.compare.placed import Placed, in_contexts, judged_alone, of_documents, place_of
from crdcompat.compare.refused import NEEDS_NO_OBJECT
from crdcompat.compare.result import Judged
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.resolving import Resolved
from crdcompat.schema.paths import Pointer, SchemaPath
from crdcompat.vocabulary import Effect, Side
from crdcompat.vocabulary.server_names import ServerName, needed, spans

#: The kind of change of a CRD that some of the supported servers refuse.
REFUSED_BY = "crd.refused-by"


class _Refusal(Struct, frozen=True):
    """A cause of refusals as the finding shows it: its name, its place, the servers, and the message of one."""

    version: str
    path: SchemaPath
    at: Pointer
    what: str
    is_code: bool
    refused: tuple[ServerName, ...]
    needs: str
    message: str


def causes_in(
    crds: Iterable[Resolved], servers: Sequence[Server], shared: ComparisonCache
) -> dict[CrdDocument, tuple[Cause, ...]]:
    """The causes in each document for which some of the ``servers`` refuse it; also those of all servers."""
    known = shared.causes.setdefault(tuple(servers), {})
    return dict(of_documents(crds, lambda crd: _causes(crd, servers), known))


def taking(crd: Crd, servers: Sequence[Server], shared: ComparisonCache) -> list[Server]:
    """Those of the servers that take a CRD."""
    known = shared.causes.setdefault(tuple(servers), {})
    key = id(crd.versions)
    if key not in known:
        known[key] = _causes(crd, servers)
    return [server for server in servers if not any(server in each.refused for each in known[key])]


def _causes(crd: Crd, servers: Sequence[Server]) -> tuple[Cause, ...]:
    asked = asked_about(crd, servers)
    if not any(refusals(crd, server) for server in asked):  # no other server finds a fault, and no cause is to be named
        return ()
    return tuple(each for each in ask(crd, servers).causes if not each.refused.keys().isdisjoint(servers))


def fresh(causes: Iterable[Cause], others: Iterable[Cause]) -> tuple[Cause, ...]:
    """The causes that the CRD of the other side does not have on the same servers."""
    known: dict[tuple[object, ...], set[Server]] = {}
    for each in others:
        known.setdefault(_key(each), set()).update(each.refused)
    return tuple(each for each in causes if each.refused.keys() - known.get(_key(each), set()))


def _key(cause: Cause) -> tuple[object, ...]:
    """The key of a cause: a rule may move, and keywords have names alone."""
    return cause.kind, cause.what, cause.rule or cause.at


def judge_refused_by(
    crds: Iterable[Placed],
    causes: Mapping[CrdDocument, Iterable[Cause]],
    asked: Sequence[Server],
    side: Side = Side.NEW,
) -> Iterator[Judged]:
    """The refusals of the CRDs of a side as judged changes: one for each cause at a place of a CRD."""
    facts = {document: [_refusal(document, cause, asked) for cause in found] for document, found in causes.items()}
    for fact, occurrences in in_contexts(crds, facts, side):
        servers = [name.id for name in fact.refused]
        old, new = ((servers, None), (None, servers))[side == Side.NEW]
        texts = {"removed" if side == Side.OLD else "added": (fact.what,)}
        change = Change(REFUSED_BY, fact.path, old, new, old_at=fact.at, new_at=fact.at, of_crd=True, **texts)
        what = f"`{fact.what}`" if fact.is_code else fact.what
        refuse = "refuses" if len(fact.refused) == 1 else "refuse"
        why = f"because {what} {fact.needs}" if fact.needs else f"because of {what}"
        reason = f"{spans(fact.refused)} {refuse} it, {why}"
        witness = Witness(None, (fact.message,), reason=NEEDS_NO_OBJECT)
        yield judged_alone(change, Effect.CRD_REJECTED, witness, fact.version, occurrences, reason)


def _refusal(document: CrdDocument, cause: Cause, asked: Sequence[Server]) -> _Refusal:
    since, until = (server_name(each) if each is not None else None for each in (cause.since, cause.until))
    refused = tuple(server_name(server) for server in asked if server in cause.refused)
    # Servers between others that take it: there is no version to need.
    needs = "" if (since is None) == (until is None) else needed(since, until, ())
    place = place_of(document.crd, cause.at)
    return _Refusal(*place, cause.at, cause.title, cause.has_name, refused, needs, cause.message)
