"""Changed CRDs that the API server of their release refuses: for any cluster that gets them, the upgrade fails.

``apiserver.crd_validation`` decides what a server refuses, and in which words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from crdcompat.apiserver.crd_validation.refusal import refusals
from crdcompat.apiserver.versions import Server
from crdcompat.compare.changes import Change
from crdcompat.compare.result import Judged, Lone
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import Crd, CrdVersion
from crdcompat.crds.pairing import Chosen, Resolved
from crdcompat.crds.reader import CrdDocument
from crdcompat.schema.paths import Pointer, SchemaPath, path_of_keyword, value_at
from crdcompat.vocabulary import Direction, Effect, Side

#: The kind of change of a CRD that the server refuses.
REFUSED = "crd.refused"
_NEEDS_NO_OBJECT = "the CRD itself is refused: it needs no object to show"


class Refused(Struct, frozen=True, eq=False):
    """A document that the server refuses; each fault is a pointer into the document and the server's message."""

    document: CrdDocument
    faults: tuple[tuple[Pointer, str], ...]


class Placed(Struct, frozen=True, eq=False):
    """A CRD of NEW in one context."""

    context: str
    terminal: bool
    crd: Resolved


class _Fault(Struct, frozen=True):
    """The messages about one place of a CRD; ``version`` is "" for faults of the CRD itself."""

    version: str
    path: SchemaPath
    at: Pointer
    sentences: tuple[str, ...]


def refused_documents(crds: Iterable[Resolved], server: Server, good: dict[str, Crd]) -> list[Refused]:
    """The documents that ``server`` refuses.

    ``good`` maps a name to a CRD without faults, whose parts are not validated again; this function adds to it.
    """
    known: dict[int, tuple[tuple[Pointer, str], ...]] = {}
    found = []
    for document in dict.fromkeys(document for crd in crds for document in _documents(crd)):
        crd = document.crd
        if id(crd.versions) not in known:
            known[id(crd.versions)] = tuple(refusals(crd, server, good.get(crd.name)))
        if faults := known[id(crd.versions)]:
            found.append(Refused(document, faults))
        else:
            good.setdefault(crd.name, crd)
    return found


def judge_refused(crds: Iterable[Placed], refused: Iterable[Refused]) -> list[Judged]:
    """The refusals as judged changes: one for each place of a CRD, with the contexts of NEW that get it."""
    faults = {each.document: tuple(_faults(each)) for each in refused}
    found: dict[tuple[str, _Fault], dict[tuple[str, bool], list[Chosen]]] = {}
    for placed in crds:
        for document in dict.fromkeys(_documents(placed.crd)):
            for fault in faults.get(document, ()):
                contexts = found.setdefault((document.crd.name, fault), {})
                contexts.setdefault((placed.context, placed.terminal), []).append(_chosen(document, fault.version))
    return [_judged(fault, contexts) for (_, fault), contexts in found.items()]


def _documents(crd: Resolved) -> Iterator[CrdDocument]:
    return (each.document for chosen in crd.versions.values() for each in chosen.everywhere())


def _faults(refused: Refused) -> Iterator[_Fault]:
    by_place: dict[tuple[str, SchemaPath], list[tuple[Pointer, str]]] = {}
    for at, sentence in refused.faults:
        version = next(
            (each for each in refused.document.crd.versions if at[: len(each.pointer)] == each.pointer), None
        )
        place = ("", ()) if version is None else (version.name, _path(version, at))
        by_place.setdefault(place, []).append((at, sentence))
    for (name, path), said in by_place.items():
        yield _Fault(name, path, said[0][0], tuple(sentence for _, sentence in said))


def _path(version: CrdVersion, at: Pointer) -> SchemaPath:
    root = version.schema_pointer
    return path_of_keyword(at[len(root) :]) if at[: len(root)] == root else ()


def _chosen(document: CrdDocument, version: str) -> Chosen:
    return Chosen(document, document.crd.version(version) or document.crd.versions[0])


def _judged(fault: _Fault, contexts: dict[tuple[str, bool], list[Chosen]]) -> Judged:
    occurrences = tuple(
        Lone(context, terminal, Side.NEW, Chosen(first.document, first.version, tuple(copies)))
        for (context, terminal), (first, *copies) in contexts.items()
    )
    crd = occurrences[0].chosen.document.crd
    try:
        value = value_at(crd.raw, fault.at)
    except LookupError:
        value = None
    return Judged(
        change=Change(REFUSED, fault.path, None, value, new_at=fault.at, of_crd=True),
        direction=Direction.UPGRADE,
        effect=Effect.CRD_REJECTED,
        witness=Witness(None, fault.sentences, reason=_NEEDS_NO_OBJECT),
        labels=(),
        windows=(Effect.NONE, Effect.CRD_REJECTED),
        crd=crd.name,
        kind=crd.kind,
        version=fault.version,
        occurrences=occurrences,
    )
