"""The answer of a server to one kind of write on a stored object."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from crdcompat.apiserver.admission import Verdict
from crdcompat.apiserver.field_errors import FieldError
from crdcompat.vocabulary.writes import WriteResult


class Answer(Struct, frozen=True):
    """The answer to one kind of write: verdict, errors, the message to the client, and a note on the write.

    ``already``: the writing release rejects it too, so the answer does not count. ``redacted_failure`` is the failure
    of the verdict without values. ``manager`` is the field manager that the object names for the write, "" if it names
    none; the server accepts its write if it no longer sends the values at ``accepted_without``.
    """

    verdict: WriteResult
    errors: tuple[FieldError, ...] = ()
    message: str = ""
    note: str = ""
    already: bool = False
    redacted_failure: str = ""
    manager: str = ""
    accepted_without: tuple[str, ...] = ()

    @property
    def counts(self) -> WriteResult:
        """The verdict; accepted if the writing release rejects the write as well."""
        return WriteResult.ACCEPTED if self.already else self.verdict


def answer_of(verdict: Verdict) -> Answer:
    """The answer that a verdict is."""
    if verdict.accepted is False:
        return Answer(WriteResult.REJECTED, verdict.errors, verdict.message, redacted_failure=verdict.redacted_failure)
    if verdict.unknown:
        return Answer(WriteResult.UNKNOWN, note="; ".join(_doubts(verdict)))
    return Answer(WriteResult.ACCEPTED)


def _doubts(verdict: Verdict) -> Iterator[str]:
    for item in verdict.unknown:
        yield f"{item.field}: {item.what}: {item.reason}"
