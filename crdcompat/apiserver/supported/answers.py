"""The answer of one server to a new CRD: its faults at their places in the document, and its warnings."""

from __future__ import annotations

from msgspec import Struct

from crdcompat.apiserver.crd_validation.refusal import Fault, faults
from crdcompat.apiserver.supported.ignored import Ignored, ignored_by
from crdcompat.apiserver.versions import Server
from crdcompat.crds.model import KIND, V1, Crd


class Answer(Struct, frozen=True):
    """The answer of a server to a new CRD. Without faults the server accepts the CRD."""

    server: Server
    faults: tuple[Fault, ...]
    ignored: Ignored = Ignored((), ())


def answer(crd: Crd, server: Server) -> Answer:
    """The answer of ``server``, one of ``ranges.family``. These servers do not serve v1beta1."""
    version = crd.raw.get("apiVersion")
    if version != V1:
        text = f'no matches for kind "{KIND}" in version "{version}"'
        return Answer(server, (Fault(("apiVersion",), text, text),))
    found = tuple(faults(crd.raw, server))
    return Answer(server, found, Ignored((), ()) if found else ignored_by(crd.raw, server))
