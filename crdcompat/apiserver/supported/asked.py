"""Ask several servers about one CRD, and find why some of them refuse it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from crdcompat.apiserver.supported.answers import Answer, answer
from crdcompat.apiserver.supported.causes import Cause, causes
from crdcompat.apiserver.supported.ranges import family
from crdcompat.apiserver.versions import Server
from crdcompat.crds.model import Crd


class Asked(Struct, frozen=True, eq=False):
    """The answers of the servers that were asked, and the causes of refusals."""

    answers: tuple[Answer, ...]
    causes: tuple[Cause, ...]


def ask(crd: Crd, asked: Sequence[Server]) -> Asked:
    """Ask all servers. If one refuses, ask all others of its product, too: the cause follows from their answers."""
    answers = {server: answer(crd, server) for server in asked}
    refusing = [server for server in asked if answers[server].faults]
    found: list[Cause] = []
    for product in dict.fromkeys(map(family, refusing)):
        answers |= {server: answer(crd, server) for server in product if server not in answers}
        every = causes(crd, [answers[server] for server in product])
        found += (cause for cause in every if any(server in cause.refused for server in refusing))
    return Asked(tuple(answers[server] for server in asked), tuple(found))
