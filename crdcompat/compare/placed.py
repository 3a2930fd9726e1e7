"""Placed CRDs: those of one side, each with a context in which a cluster gets it; and facts on them as judged changes.

A fact follows from the document alone: the server refuses the CRD, or its rules nearly exhaust a budget. It needs no
example object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol, TypeVar

from msgspec import Struct

from crdcompat.compare.changes import Change
from crdcompat.compare.result import Judged, Lone
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import Crd, CrdDocument, CrdVersion
from crdcompat.crds.resolving import Chosen, Resolved
from crdcompat.schema.paths import Pointer, SchemaPath, path_of_keyword
from crdcompat.vocabulary import Direction, Effect, Side


class Placed(Struct, frozen=True, eq=False):
    """A CRD of one side in one context."""

    context: str
    terminal: bool
    crd: Resolved


class Fact(Protocol):
    """A fact about one version of a CRD; ``version`` is "" for the CRD itself."""

    @property
    def version(self) -> str: ...


_Fact = TypeVar("_Fact", bound=Fact)
_T = TypeVar("_T")


def documents_of(crd: Resolved) -> Iterator[CrdDocument]:
    """The documents of all versions, with their copies, each once."""
    return iter(dict.fromkeys(each.document for chosen in crd.versions.values() for each in chosen.everywhere()))


def of_documents(
    crds: Iterable[Resolved], facts: Callable[[Crd], _T], known: dict[int, _T] | None = None
) -> Iterator[tuple[CrdDocument, _T]]:
    """Each document with the result of ``facts`` for its CRD. Documents that share their versions share one call.

    ``known`` are facts of earlier calls; this function adds to them.
    """
    known = {} if known is None else known
    for document in dict.fromkeys(document for crd in crds for document in documents_of(crd)):
        key = id(document.crd.versions)
        if key not in known:
            known[key] = facts(document.crd)
        yield document, known[key]


def place_of(crd: Crd, at: Pointer) -> tuple[str, SchemaPath]:
    """The version that contains a place of the CRD's document ("" for none), and the path of the field there."""
    version = next((each for each in crd.versions if at[: len(each.pointer)] == each.pointer), None)
    return ("", ()) if version is None else (version.name, _path(version, at))


def _path(version: CrdVersion, at: Pointer) -> SchemaPath:
    root = version.schema_pointer
    return path_of_keyword(at[len(root) :]) if at[: len(root)] == root else ()


def in_contexts(
    crds: Iterable[Placed], facts: Mapping[CrdDocument, Iterable[_Fact]], side: Side = Side.NEW
) -> Iterator[tuple[_Fact, tuple[Lone, ...]]]:
    """Each fact once, with the contexts and copies of the CRD of ``side`` for which it is true."""
    found: dict[tuple[str, _Fact], dict[tuple[str, bool], list[Chosen]]] = {}
    for placed in crds:
        for document in documents_of(placed.crd):
            for fact in facts.get(document, ()):
                contexts = found.setdefault((document.crd.name, fact), {})
                contexts.setdefault((placed.context, placed.terminal), []).append(_chosen(document, fact.version))
    for (_, fact), by_context in found.items():
        yield (
            fact,
            tuple(
                Lone(context, terminal, side, Chosen(first.document, first.version, tuple(copies)))
                for (context, terminal), (first, *copies) in by_context.items()
            ),
        )


def _chosen(document: CrdDocument, version: str) -> Chosen:
    return Chosen(document, document.crd.version(version) or document.crd.versions[0])


def judged_alone(
    change: Change, effect: Effect, witness: Witness, version: str, occurrences: tuple[Lone, ...], reason: str = ""
) -> Judged:
    """The judged change of a fact. Its effect occurs when its side is installed. ``reason``: see ``Judged``."""
    crd, is_old = occurrences[0].chosen.document.crd, occurrences[0].side == Side.OLD
    return Judged(
        change=change,
        direction=Direction.ROLLBACK if is_old else Direction.UPGRADE,
        effect=effect,
        witness=witness,
        labels=(),
        windows=(effect, Effect.NONE) if is_old else (Effect.NONE, effect),
        crd=crd.name,
        kind=crd.kind,
        version=version,
        occurrences=occurrences,
        reason=reason,
    )
