"""Changes of the CRD itself as judged ones: their effect follows from the CRD, and they need no proof by an object."""

from __future__ import annotations

from collections.abc import Iterator

from crdcompat.compare.crd_facet import CrdChange
from crdcompat.compare.result import Comparison, Harmless, Judged, Occurrence
from crdcompat.compare.witness import Witness
from crdcompat.crds.pairing import CrdPair
from crdcompat.crds.resolving import Chosen
from crdcompat.vocabulary import Direction, Effect


def occurrence_of(crd_pair: CrdPair, item: CrdChange) -> Occurrence:
    """Where a change of the CRD itself occurs."""
    old, new = (representative(side.versions, item.version) for side in (crd_pair.old, crd_pair.new))
    return Occurrence(crd_pair.context, crd_pair.terminal, old, new, item.change)


def judged_of_crd(
    crd: str, item: CrdChange, places: list[Occurrence], directions: tuple[Direction, ...], found: Comparison
) -> Iterator[Judged]:
    """Judge changes of the CRD itself: their effect follows from the CRD, the server's message replaces the witness."""
    windows = (item.rollback.effect, item.upgrade.effect)
    for direction in directions:
        outcome = item.rollback if direction == Direction.ROLLBACK else item.upgrade
        if outcome.effect == Effect.NONE:
            contexts = tuple(dict.fromkeys(each.context for each in places))
            found.without_effect.append(Harmless(crd, item.version, contexts, item.change, direction, _AS_BEFORE))
            continue
        errors = (outcome.sentence,) if outcome.sentence else ()
        reason = None if outcome.object is not None else outcome.doubt or _OF_THE_CRD
        witness = Witness(outcome.object, errors, reason=reason)
        kind = places[0].old.document.crd.kind
        yield Judged(
            change=item.change,
            direction=direction,
            effect=outcome.effect,
            witness=witness,
            labels=(),
            windows=windows,
            crd=crd,
            kind=kind,
            version=item.version,
            occurrences=tuple(places),
            doubtful=bool(outcome.doubt),
        )


_AS_BEFORE = "the server takes the CRD, and answers the same requests"
_OF_THE_CRD = "a change of the CRD itself: it needs no object to show"


def representative(versions: dict[str, Chosen], version: str) -> Chosen:
    """The version of a name; for one that a side lacks, its first."""
    return versions.get(version) or next(iter(versions.values()))
