"""Compares a server's answers with the claim of a finding."""

from __future__ import annotations

from crdcompat.apiserver.versions import Server
from crdcompat.models.verification import Claim, Outcome
from crdcompat.schema.paths import Object, general, pointer_of, value_at
from crdcompat.sources.scratch_cluster import Answer
from crdcompat.vocabulary import Effect

Result = tuple[Outcome, str, tuple[str, ...]]
"""The outcome, its reason, and what the server said."""


def refused_by_writer(answer: Answer) -> Result:
    """The writer's server refused the witness."""
    return Outcome.REFUTED, "the CRD of the release that writes it refuses the object", _words(answer)


def of_another_version(answer: Answer, server: Server) -> Result:
    """What servers of this version are known to do with the object; the report assumes another version."""
    does, other = ("refuses", "accepts") if answer.object is None else ("accepts", "refuses")
    reason = f"{server} {does} the object; the version that the report assumes {other} it"
    return Outcome.NOT_TESTABLE, reason, _words(answer)


def not_installed(answer: Answer, side: str) -> Result:
    """A CRD could not be installed."""
    return Outcome.NOT_TESTABLE, f"the server does not take the CRD of the release that {side} it", _words(answer)


def replaced(claim: Claim, answer: Answer) -> Result:
    """The reader's CRD was put in the place of the writer's; the claim is that the server refuses it."""
    if answer.object is not None:
        return Outcome.REFUTED, "the server takes the CRD in the place of the other", ()
    return Outcome.CONFIRMED, "" if answer.message in claim.errors else _OTHER_WORDS, _words(answer)


def judged(claim: Claim, answer: Answer) -> Result:
    """The object that the writer stores was sent to the reader's CRD."""
    if claim.effect == Effect.WRITE_REJECTED:
        return _rejected(claim, answer)
    if answer.object is None:
        return Outcome.REFUTED, "the CRD of the release that reads it refuses the object", _words(answer)
    if claim.effect == Effect.VALUE_PRUNED:
        return _shown(claim, claim.pruned, [path for path in claim.pruned if _has(answer.object, path)], "is kept")
    missing = [path for path in claim.defaulted if not _has(answer.object, path)]
    return _shown(claim, claim.defaulted, missing, "gets no default")


def _rejected(claim: Claim, answer: Answer) -> Result:
    if answer.object is not None:
        return Outcome.REFUTED, "the CRD of the release that reads it takes the object", ()
    if set(claim.errors) == set(answer.causes):
        return Outcome.CONFIRMED, "", _words(answer)
    places = {error.partition(": ")[0] for error in claim.errors}
    if not places or places & {cause.partition(": ")[0] for cause in answer.causes}:
        return Outcome.CONFIRMED, _OTHER_WORDS, _words(answer)
    return Outcome.REFUTED, f"the object is refused, but not at {', '.join(sorted(places))}", _words(answer)


_OTHER_WORDS = "in other words than the report's"


def _shown(claim: Claim, paths: tuple[str, ...], wrong: list[str], what: str) -> Result:
    """The outcome for pruned or defaulted fields: only those at the finding's place can refute it."""
    here = [path for path in paths if general(path) == claim.path] or [*paths]
    if set(here) <= set(wrong):
        return Outcome.REFUTED, "; ".join(f"{path} {what}" for path in here) or "nothing changes", ()
    return Outcome.CONFIRMED, "; ".join(f"but {path} {what}" for path in wrong), ()


def _words(answer: Answer) -> tuple[str, ...]:
    return answer.causes or (answer.message,)


def _has(obj: Object, field: str) -> bool:
    pointer = pointer_of(obj, field)
    if pointer is None:
        return False
    try:
        value_at(obj, pointer)
    except LookupError:
        return False
    return True
