"""Changed CRDs that some of the supported servers refuse, and the features that these servers lack.

One set of CRDs is installed on many Kubernetes minors, and these know different CEL functions, fields and keywords.
``apiserver.supported`` asks the servers and finds the cause.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from crdcompat.apiserver.supported.causes import Cause, ask
from crdcompat.apiserver.supported.ranges import server_name
from crdcompat.apiserver.versions import Server
from crdcompat.compare.changes import Change
from crdcompat.compare.placed import Placed, in_contexts, judged_alone, of_documents, place_of
from crdcompat.compare.refused import NEEDS_NO_OBJECT
from crdcompat.compare.result import Judged
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.resolving import Resolved
from crdcompat.schema.paths import Pointer, SchemaPath
from crdcompat.vocabulary import Effect
from crdcompat.vocabulary.servers import ServerName, needed, spans

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


def refusals_by(crds: Iterable[Resolved], asked: Sequence[Server]) -> dict[CrdDocument, list[Cause]]:
    """The causes in each document for which some of the ``asked`` servers refuse it and other servers accept it."""
    return dict(of_documents(crds, lambda crd: [cause for cause in ask(crd, asked).causes if cause.accepting]))


def judge_refused_by(
    crds: Iterable[Placed], causes: dict[CrdDocument, list[Cause]], asked: Sequence[Server]
) -> Iterator[Judged]:
    """The refusals as judged changes: one for each cause at a place of a CRD."""
    facts = {document: [_refusal(document, cause, asked) for cause in found] for document, found in causes.items()}
    for fact, occurrences in in_contexts(crds, facts):
        servers = [name.id for name in fact.refused]
        change = Change(REFUSED_BY, fact.path, None, servers, added=(fact.what,), new_at=fact.at, of_crd=True)
        what = f"`{fact.what}`" if fact.is_code else fact.what
        refuse = "refuses" if len(fact.refused) == 1 else "refuse"
        reason = f"{spans(fact.refused)} {refuse} it, because {what} {fact.needs}"
        witness = Witness(None, (fact.message,), reason=NEEDS_NO_OBJECT)
        yield judged_alone(change, Effect.CRD_REJECTED, witness, fact.version, occurrences, reason)


def _refusal(document: CrdDocument, cause: Cause, asked: Sequence[Server]) -> _Refusal:
    since, until = (server_name(each) if each is not None else None for each in (cause.since, cause.until))
    refused = tuple(server_name(server) for server in asked if server in cause.refused)
    needs = needed(since, until, map(server_name, cause.refused))
    place = place_of(document.crd, cause.at)
    return _Refusal(*place, cause.at, cause.title, cause.has_name, refused, needs, cause.message)
