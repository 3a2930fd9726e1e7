"""The answer of one server to a new CRD: its faults at their places in the document, and its warnings."""

from __future__ import annotations

from msgspec import Struct

from crdcompat.apiserver.crd_validation.answer import faults_of
from crdcompat.apiserver.crd_validation.definition import definition_of
from crdcompat.apiserver.crd_validation.envelope import undecodable_definition
from crdcompat.apiserver.crd_validation.refusal import named
from crdcompat.apiserver.errors import INVALID
from crdcompat.apiserver.supported.ignored import Ignored, ignored_by
from crdcompat.apiserver.versions import Server
from crdcompat.crds.model import Crd
from crdcompat.schema.paths import Pointer

_V1 = "apiextensions.k8s.io/v1"


class Fault(Struct, frozen=True):
    """A reason to refuse a CRD: its place in the document, the type of the error, the server's words.

    ``detail`` are the words without the place and the value.
    """

    at: Pointer
    type: str
    text: str
    detail: str


class Answer(Struct, frozen=True):
    """What a server says to a new CRD; it accepts one without faults."""

    server: Server
    faults: tuple[Fault, ...]
    ignored: Ignored = Ignored((), ())


def answer(crd: Crd, server: Server) -> Answer:
    """The answer of ``server``, which is one of ``ranges.family``: none of them serves v1beta1."""
    version = crd.raw.get("apiVersion")
    if version != _V1:
        text = f'no matches for kind "CustomResourceDefinition" in version "{version}"'
        return Answer(server, (Fault(("apiVersion",), INVALID, text, text),))
    raw = named(crd)
    if misfits := undecodable_definition(raw, server):
        return Answer(server, tuple(Fault(at, INVALID, text, text) for at, text in misfits))
    form = definition_of(raw, server)
    errors = faults_of(form, None)
    faults = [Fault(form.document_pointer(each.pointer), each.type, each.text(), each.detail) for each in errors]
    return Answer(server, tuple(faults), Ignored((), ()) if faults else ignored_by(raw, server))
