"""CRDs that the API server refuses which still serves when they are applied: the upgrade or the rollback stops there.

OpenShift replaces CRDs and API servers in one go, and some CRDs before the servers (``crds/run_level.py``). Such a CRD
of NEW meets OLD's server on the way up, and such a CRD of OLD meets NEW's server on the way back. What the server has
stored already does not count: it takes a fault again that the installed CRD has, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.crd_validation.refusal import Fault, refusals
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.causes import Cause, ask
from crdcompat.apiserver.supported.ranges import server_name
from crdcompat.compare.changes import Change
from crdcompat.compare.placed import Placed, documents_of, in_contexts, judged_alone, place_of
from crdcompat.compare.refused import NEEDS_NO_OBJECT
from crdcompat.compare.result import Judged
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import CrdDocument
from crdcompat.crds.resolving import Resolved
from crdcompat.crds.run_level import precedes_api_server, run_level
from crdcompat.features.diff.compared import Compared
from crdcompat.features.diff.refused_crds import placed_in_new
from crdcompat.schema.paths import Pointer, SchemaPath
from crdcompat.vocabulary import Effect, Owner, Side
from crdcompat.vocabulary.filters import Filters
from crdcompat.vocabulary.server_names import needed

#: The kind of change of a CRD that a server refuses which it meets on the way to its own.
REFUSED_ON_WAY = "crd.refused-on-way"


class _Refusal(Struct, frozen=True):
    """What a server refuses in a CRD for one reason: the first place, all names, and the servers that have them."""

    version: str
    path: SchemaPath
    at: Pointer
    names: tuple[str, ...]
    message: str
    reason: str


def with_refused_on_way(compared: Compared, wanted: Filters) -> Compared:
    """The comparison with the changed CRDs of both sides that the other side's API server refuses while it serves."""
    old, new = compared.servers.known_old, compared.servers.known_new
    if old is None or new is None or old == new or old.openshift is None or new.openshift is None:
        return compared
    if not wanted.want_owner(Owner.CRD):
        return compared
    of_old = [Placed(each.context, each.terminal, each.old) for each in compared.pairs]
    before = {each.new.name: each.old for each in compared.pairs}
    after = {each.old.name: each.new for each in compared.pairs}
    found = [
        *_refused(placed_in_new(compared), before, old, Side.NEW),
        *_refused(of_old, after, new, Side.OLD),
    ]
    return replace(compared, judged=(*compared.judged, *found))


def _refused(placed: Iterable[Placed], others: dict[str, Resolved], server: Server, side: Side) -> Iterator[Judged]:
    """The refusals of the CRDs of a side, when that side is installed; ``others`` are the installed ones by name."""
    early = [each for each in placed if precedes_api_server(_level(each.crd))]
    known: dict[tuple[int, int], tuple[_Refusal, ...]] = {}
    facts: dict[CrdDocument, tuple[_Refusal, ...]] = {}
    for each in early:
        installed = others.get(each.crd.name)
        for document in documents_of(each.crd):
            key = id(document.crd.versions), id(installed.crd.versions) if installed is not None else 0
            if key not in known:
                known[key] = tuple(_of_document(document, installed, replace(server, first_patch=True)))
            facts[document] = known[key]
    for fact, occurrences in in_contexts(early, facts, side):
        level = run_level(each.chosen.document.file for each in occurrences)
        serves = f"{server_name(server)} serves until run level 20 is complete, and this CRD is of run level {level}"
        by = server_name(server).id
        yield judged_alone(
            Change(REFUSED_ON_WAY, fact.path, None, by, fact.names, old_at=fact.at, new_at=fact.at, of_crd=True),
            Effect.CRD_REJECTED,
            Witness(None, (fact.message,), reason=NEEDS_NO_OBJECT),
            fact.version,
            occurrences,
            f"{fact.reason} ({serves})",
        )


def _level(crd: Resolved) -> int | None:
    return run_level(document.file for document in documents_of(crd))


def _of_document(document: CrdDocument, installed: Resolved | None, server: Server) -> Iterator[_Refusal]:
    crd = document.crd
    if installed is not None and installed.crd.raw.get("spec") == crd.raw.get("spec"):
        return
    found = refusals(crd, server)
    if not found:
        return
    olds = documents_of(installed) if installed is not None else ()
    stored = {fault.text for item in olds for fault in refusals(item.crd, server)}
    causes = {cause.at: cause for cause in ask(crd, [server]).causes}
    lasting = {fault.at for fault in refusals(crd, replace(server, first_patch=False))}
    groups: dict[str, list[tuple[Fault, str]]] = {}
    for fault in found:
        if fault.text not in stored:
            name, needs = _needs(fault, causes.get(fault.at))
            patched = "" if fault.at in lasting else f"; later patches of {server_name(server)} take it"
            groups.setdefault(f"{needs}{patched}", []).append((fault, name))
    for needs, members in groups.items():
        first = members[0][0]
        names = tuple(dict.fromkeys(name for _, name in members))
        more = f" (at {len(members)} places)" if len(members) > 1 else ""
        reason = f"it {needs.format(', '.join(names))}{more}"
        yield _Refusal(*place_of(crd, first.at), first.at, names, first.one_line, reason)


def _needs(fault: Fault, cause: Cause | None) -> tuple[str, str]:
    """What the server refuses, and which servers take it; ``{}`` is the place of all names."""
    if cause is None or not cause.accepting:
        return fault.one_line, "is refused by every server: {}"
    since, until = (server_name(each) if each is not None else None for each in (cause.since, cause.until))
    return cause.title, f"{needed(since, until, map(server_name, cause.refused))} for {{}}"
