"""Changed CRDs that the API server of their release refuses: the upgrade or the rollback that brings them fails.

``apiserver.crd_validation`` decides what a server refuses, and in which words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from crdcompat.apiserver.crd_validation.refusal import Fault, metadata_refusals, refusals
from crdcompat.apiserver.server_versions import Server
from crdcompat.compare.changes import Change
from crdcompat.compare.placed import Placed, documents_of, in_contexts, judged_alone, of_documents, place_of
from crdcompat.compare.result import Judged
from crdcompat.compare.witness import Witness
from crdcompat.crds.model import Crd, CrdDocument
from crdcompat.crds.resolving import Resolved
from crdcompat.crds.templates import is_templated
from crdcompat.schema.paths import Pointer, SchemaPath, render, value_or_none
from crdcompat.schema.structural import RULES
from crdcompat.vocabulary import Effect, Side

#: The kind of change of a CRD that the server refuses.
REFUSED = "crd.refused"
NEEDS_NO_OBJECT = "the CRD itself is refused: it needs no object to show"
_NAMES = ("spec", "names")


class Refused(Struct, frozen=True, eq=False):
    """A document that the server refuses."""

    document: CrdDocument
    faults: tuple[Fault, ...]


class _Place(Struct, frozen=True):
    """The messages about one place of a CRD, or about one CEL rule, whose text is ``rule``."""

    version: str
    path: SchemaPath
    rule: str
    at: Pointer
    sentences: tuple[str, ...]
    reason: str


def refused_documents(
    crds: Iterable[Resolved],
    server: Server,
    good: dict[str, Crd],
    known: dict[int, tuple[Fault, ...]],
    *,
    assumed: bool,
) -> list[Refused]:
    """The documents that ``server`` refuses; ``assumed``: nothing says that this is their server.

    Faults of values that a template engine replaces do not count.
    ``good`` maps a name to a CRD without faults, whose parts are not validated again; this function adds to it, and to
    the faults that are ``known``.
    """
    found = []
    said = of_documents(
        crds, lambda crd: _plain(crd, refusals(crd, server, good.get(crd.name), assumed=assumed)), known
    )
    for document, faults in said:
        if faults:
            found.append(Refused(document, faults))
        else:
            good.setdefault(document.crd.name, document.crd)
    return found


def refused_metadata(crds: Iterable[Resolved], server: Server) -> Iterator[Refused]:
    """The documents whose metadata ``server`` refuses; documents that share their versions may differ in it."""
    for document in dict.fromkeys(document for crd in crds for document in documents_of(crd)):
        if faults := _plain(document.crd, metadata_refusals(document.crd, server)):
            yield Refused(document, faults)


def _plain(crd: Crd, said: Iterable[Fault]) -> tuple[Fault, ...]:
    """The faults of values that no template engine replaces. Servers make some of a CRD's names from the others."""
    placed = ((each, _NAMES if each.at[: len(_NAMES)] == _NAMES else each.at) for each in said)
    return tuple(each for each, at in placed if not is_templated(value_or_none(crd.raw, at)))


def judge_refused(crds: Iterable[Placed], refused: Iterable[Refused], side: Side = Side.NEW) -> list[Judged]:
    """The refusals as judged changes: one for each place of a CRD, with the contexts of its side that get it."""
    places = {each.document: tuple(_places(each)) for each in refused}
    found = []
    for place, occurrences in in_contexts(crds, places, side):
        value = value_or_none(occurrences[0].chosen.document.crd.raw, place.at)
        texts = (place.rule,) if place.rule else ()
        is_new = side == Side.NEW
        change = Change(
            REFUSED,
            place.path,
            None if is_new else value,
            value if is_new else None,
            added=texts if is_new else (),
            removed=() if is_new else texts,
            old_at=place.at,
            new_at=place.at,
            of_crd=True,
        )
        witness = Witness(None, place.sentences, reason=NEEDS_NO_OBJECT)
        found.append(judged_alone(change, Effect.CRD_REJECTED, witness, place.version, occurrences, place.reason))
    return found


def _places(refused: Refused) -> Iterator[_Place]:
    crd = refused.document.crd
    by_place: dict[tuple[str, SchemaPath, str], list[Fault]] = {}
    for fault in refused.faults:
        by_place.setdefault((*place_of(crd, fault.at), _rule(crd, fault.at)), []).append(fault)
    for place, faults in by_place.items():
        # The message about a rule is long, because it repeats the rule.
        reason = faults[0].detail if place[-1] else _expensive(crd, faults)
        yield _Place(*place, faults[0].at, tuple(each.text for each in faults), reason)


def _expensive(crd: Crd, faults: Iterable[Fault]) -> str:
    """Where the rules are whose total cost is too high, as far as the server names them."""
    named = dict.fromkeys(render(place_of(crd, each.rule_at)[1]) for each in faults if each.rule_at)
    return f"its rules cost too much together, most of it at {', '.join(named)}" if named else ""


def _rule(crd: Crd, at: Pointer) -> str:
    """The text of the CEL rule that a pointer is in; "" for other places."""
    if RULES not in at[:-1]:
        return ""
    text = value_or_none(crd.raw, (*at[: at.index(RULES) + 2], "rule"))
    return text if isinstance(text, str) else ""
