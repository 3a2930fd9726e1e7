"""The report of servers: which Kubernetes minors accept which CRDs, and why the others refuse them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar, Literal

from msgspec import Struct

from crdcompat.models.outcome import Judgement, worst_of
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from crdcompat.errors import Problem, Skipped
    from crdcompat.models.release import Release
    from crdcompat.vocabulary.server_names import ServerName


class Acceptance(StrEnum):
    """The answer of a server to a CRD in one word, the worst first."""

    REFUSED = "refused"
    WARNED = "warned"
    ACCEPTED = "accepted"


_SEVERITIES = {Acceptance.REFUSED: Severity.ERROR, Acceptance.WARNED: Severity.WARNING}


class ServerAnswer(Struct, frozen=True):
    """The answer of one server to one CRD, with its messages.

    ``dropped`` are paths that it ignores without a warning, because it does not know the field or its feature is off.
    """

    server: ServerName
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    @property
    def acceptance(self) -> Acceptance:
        """The answer in one word. Ignored fields count as a warning, also without a text of the server."""
        if self.errors:
            return Acceptance.REFUSED
        return Acceptance.WARNED if self.warnings or self.dropped else Acceptance.ACCEPTED


class Need(Struct, frozen=True):
    """A part of a CRD that some servers refuse.

    ``kind`` and ``what`` describe a cause: a part of a CEL ``expression``, its ``cost``, a ``rule`` or a
    ``keyword``; ``title`` names it in sentences. ``path`` is the field, ``rule`` the expression.
    ``refused`` and ``accepting`` are all known servers of one product, asked or not, oldest first. All servers from
    ``since`` on accept it, and all up to ``until``; None without such a server. ``message`` comes from a server
    that refuses it.
    """

    kind: str
    what: str
    title: str
    crd: str
    version: str
    path: str
    rule: str
    file: str
    line: int | None
    column: int | None
    refused: tuple[ServerName, ...]
    accepting: tuple[ServerName, ...]
    since: ServerName | None
    until: ServerName | None
    message: str


class CrdRow(Struct, frozen=True):
    """One CRD, with all files that have an equal one, and the answer of each server that was asked."""

    crd: str
    kind: str
    source: str
    files: tuple[str, ...]
    answers: tuple[ServerAnswer, ...]
    needs: tuple[Need, ...]

    @property
    def acceptance(self) -> Acceptance:
        """The worst answer."""
        return min((each.acceptance for each in self.answers), key=list(Acceptance).index)


class ServersReport(Struct, frozen=True):
    """The result of ``servers``: a row for each CRD, with an answer for each of the ``servers``, oldest first."""

    KIND: ClassVar[Literal["servers"]] = "servers"

    sources: tuple[Release, ...]
    servers: tuple[ServerName, ...]
    rows: tuple[CrdRow, ...]
    problems: tuple[Problem, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()
    command: str = "servers"

    @property
    def accepting(self) -> tuple[ServerName, ...]:
        """The servers that accept every CRD; none where no CRD could be read."""
        answers = [row.answers for row in self.rows]
        accept = [bool(answers) and not any(each[at].errors for each in answers) for at in range(len(self.servers))]
        return tuple(name for name, accepts in zip(self.servers, accept, strict=True) if accepts)

    @property
    def needs(self) -> tuple[Need, ...]:
        return tuple(need for row in self.rows for need in row.needs)

    def by_answer(self) -> dict[Acceptance, int]:
        """The number of CRDs by the worst answer to any of their variants."""
        order = list(Acceptance)
        worst: dict[str, Acceptance] = {}
        for row in self.rows:
            worst[row.crd] = min(worst.get(row.crd, row.acceptance), row.acceptance, key=order.index)
        return {each: list(worst.values()).count(each) for each in Acceptance}

    @property
    def judgement(self) -> Judgement:
        """What decides the exit code: a refused CRD is an error, one that a server takes with a warning a warning."""
        found = worst_of(_SEVERITIES.get(row.acceptance) for row in self.rows)
        return Judgement(found, is_undone=bool(self.problems) or not self.rows)
