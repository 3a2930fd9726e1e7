"""The answer of one server to a new CRD: its faults at their places in the document, and its warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from crdcompat.apiserver.crd_validation.plain import doubtful
from crdcompat.apiserver.crd_validation.refusal import Fault, faults_of_crd
from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.eras import asked_about
from crdcompat.apiserver.supported.ignored import Ignorable, Ignored, ignorable
from crdcompat.crds.model import KIND, V1, Crd


class Answer(Struct, frozen=True):
    """The answer of a server to a new CRD. Without faults the server accepts the CRD."""

    server: Server
    faults: tuple[Fault, ...]
    ignored: Ignored = Ignored((), ())


def answers_of(crd: Crd, servers: Sequence[Server]) -> dict[Server, Answer]:
    """The answers of servers, which are in the order of ``ranges.listed``. These servers do not serve v1beta1.

    Only as many servers are asked as it takes to know the answers of all.
    """
    version = crd.raw.get("apiVersion")
    if version != V1:
        text = f'no matches for kind "{KIND}" in version "{version}"'
        return {server: Answer(server, (Fault(("apiVersion",), text, text),)) for server in servers}
    asked = asked_about(crd, servers)
    found = {server: tuple(faults_of_crd(crd, server)) for server in asked}
    if any(found.values()):
        found |= _others(crd, servers, found)
    parts = ignorable(doubtful(crd.raw))
    return {server: _answer(server, found.get(server, ()), parts) for server in servers}


def _others(
    crd: Crd, servers: Sequence[Server], known: Mapping[Server, tuple[Fault, ...]]
) -> dict[Server, tuple[Fault, ...]]:
    """The faults that the other servers find.

    A minor brings checks, or functions that older servers lack. So the servers between two of one product that find
    the same faults find these, too; only the estimates of costs go up and down (``asked_about`` asks one server of each
    era then).
    """
    found = dict(known)
    for is_openshift in (False, True):
        row = [server for server in servers if (server.openshift is not None) == is_openshift]
        for server in row[:1] + row[-1:]:
            if server not in found:
                found[server] = tuple(faults_of_crd(crd, server))
        ends = [index for index, server in enumerate(row) if server in found]
        spans = list(pairwise(ends))
        for first, last in spans:  # grows in the loop
            if found[row[first]] == found[row[last]]:
                found |= dict.fromkeys(row[first:last], found[row[first]])
            elif last - first > 1:
                middle = (first + last) // 2
                found[row[middle]] = tuple(faults_of_crd(crd, row[middle]))
                spans += (first, middle), (middle, last)
    return found


def _answer(server: Server, found: tuple[Fault, ...], parts: Ignorable) -> Answer:
    return Answer(server, found, Ignored((), ()) if found else parts.by(server))
