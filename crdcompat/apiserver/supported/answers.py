"""The answer of one server to a new CRD: its faults at their places in the document, and its warnings."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from crdcompat.apiserver.crd_validation.plain import doubtful
from crdcompat.apiserver.crd_validation.refusal import Fault, faults
from crdcompat.apiserver.supported.eras import asked_about
from crdcompat.apiserver.supported.ignored import Ignorable, Ignored, ignorable
from crdcompat.apiserver.versions import Server
from crdcompat.crds.model import KIND, V1, Crd


class Answer(Struct, frozen=True):
    """The answer of a server to a new CRD. Without faults the server accepts the CRD."""

    server: Server
    faults: tuple[Fault, ...]
    ignored: Ignored = Ignored((), ())


def answers_of(crd: Crd, servers: Sequence[Server]) -> dict[Server, Answer]:
    """The answers of servers, which are in the order of ``ranges.listed``. These servers do not serve v1beta1.

    Servers are asked only where one of those that show it refuses the CRD (``eras.asked_about``).
    """
    version = crd.raw.get("apiVersion")
    if version != V1:
        text = f'no matches for kind "{KIND}" in version "{version}"'
        return {server: Answer(server, (Fault(("apiVersion",), text, text),)) for server in servers}
    is_refused = any(faults(crd.raw, server) for server in asked_about(crd, servers))
    parts = ignorable(doubtful(crd.raw))
    return {server: _answer(crd, server, parts, is_refused=is_refused) for server in servers}


def _answer(crd: Crd, server: Server, parts: Ignorable, *, is_refused: bool) -> Answer:
    found = tuple(faults(crd.raw, server)) if is_refused else ()
    return Answer(server, found, Ignored((), ()) if found else parts.by(server))
