"""The servers that a project supports: ranges and lists of Kubernetes minors and of OpenShift releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from crdcompat.apiserver.server_versions import NEWEST, OPENSHIFT, Server, Servers, known_server, kubernetes_server
from crdcompat.errors import UsageError
from crdcompat.vocabulary.server_names import ServerName, spans

if TYPE_CHECKING:
    from crdcompat.crds.reader import CrdSet

#: The oldest minor with known answers to CRDs: no answers of older servers were recorded.
OLDEST = 26
#: Every Kubernetes minor whose answers to CRDs are known.
ALL = tuple(Server(minor) for minor in range(OLDEST, NEWEST + 1))
_OPENSHIFT = "openshift-"


def servers_of(text: str) -> tuple[Server, ...]:
    """The servers of ``1.28-1.36``, ``1.28,1.31`` or ``openshift-4.14-4.18``, oldest first. Raises UsageError."""
    return listed(text.split(","))


def listed(entries: Iterable[str]) -> tuple[Server, ...]:
    """The servers of a list of versions and ranges, each once: Kubernetes first, oldest first. Raises UsageError."""
    found = {server for entry in entries for server in _of_entry(entry.strip())}
    return tuple(sorted(found, key=lambda server: (server.openshift is not None, age(server))))


def between(oldest: str, newest: str) -> tuple[Server, ...]:
    """All servers from one version to another of the same product, both included. Raises UsageError."""
    first, last = one(oldest), one(newest)
    if (first.openshift is None) != (last.openshift is None):
        raise UsageError(f"{oldest} to {newest} mixes Kubernetes and OpenShift: name two versions of the same product")
    if age(first) > age(last):
        raise UsageError(f"{oldest} is newer than {newest}: the older version comes first")
    return tuple(server for server in family(first) if age(first) <= age(server) <= age(last))


def one(text: str) -> Server:
    """The server of ``1.28`` or ``openshift-4.15``. Raises UsageError."""
    server = kubernetes_server(text)
    if server.minor < OLDEST:
        raise UsageError(f"the answers of {server} to CRDs are not known: the oldest known minor is 1.{OLDEST}")
    return server


def ends(names: Iterable[str]) -> tuple[Server, Server]:
    """The oldest and the newest of the named servers, of any product. Raises UsageError."""
    servers = sorted(map(kubernetes_server, names), key=age)
    return servers[0], servers[-1]


def servers_beside(old: CrdSet, new: CrdSet) -> Servers:
    """The servers that run beside two releases. Raises UsageError for an unknown version.

    OpenShift rolls its server back with the CRDs. Elsewhere the server stays: both releases meet the same one, and if
    several are supported, the oldest, which spares least. If none is supported by both, OLD runs on its newest one and
    NEW on its oldest one.
    """
    mine, theirs = known_server(old), known_server(new)
    if mine is not None or theirs is not None:
        return Servers(mine or theirs, theirs or mine)
    common = supported_by_both(old, new)
    if common:
        return Servers(common[0], common[0])
    if old.supported and new.supported:
        return Servers(ends(old.supported)[1], ends(new.supported)[0])
    return Servers(None, None)


def meeting(old: CrdSet, new: CrdSet) -> tuple[Server, ...]:
    """The servers that both releases meet, each of them at another cluster: oldest first.

    All minors where nothing names a server; none if one is known, or if the releases support different ones.
    """
    if known_server(old) is not None or known_server(new) is not None:
        return ()
    return supported_by_both(old, new) if old.supported or new.supported else ALL


def judging_server(crds: CrdSet) -> Server | None:
    """The server that judges the objects of a release: its own, else the oldest that it supports, which spares least.

    None where nothing names one. Raises UsageError for an unknown version.
    """
    return known_server(crds) or next(iter(listed(crds.supported)), None)


def supported_by_both(old: CrdSet, new: CrdSet) -> tuple[Server, ...]:
    """The servers that both releases support, oldest first; where one does not say, those of the other."""
    of_old, of_new = listed(old.supported), listed(new.supported)
    if not of_old or not of_new:
        return of_old or of_new
    return tuple(server for server in of_old if server in of_new)


def family(server: Server) -> tuple[Server, ...]:
    """All servers of the same product whose answers to CRDs are known, oldest first."""
    if server.openshift is None:
        return ALL
    releases = ((release, minor) for release, minor in sorted(OPENSHIFT.items()) if minor >= OLDEST)
    return tuple(Server(minor, release, first_patch=server.first_patch) for release, minor in releases)


def server_name(server: Server) -> ServerName:
    """The server as sentences name it."""
    if server.openshift is None:
        return ServerName("Kubernetes", server.kubernetes)
    return ServerName("OpenShift", ".".join(map(str, server.openshift)))


def spans_of(servers: Iterable[Server]) -> str:
    """The servers as a sentence lists them: ``Kubernetes 1.28 to 1.31``."""
    return spans(map(server_name, servers))


def _of_entry(entry: str) -> Iterator[Server]:
    first, dash, last = entry.removeprefix(_OPENSHIFT).partition("-")
    prefix = _OPENSHIFT if entry.startswith(_OPENSHIFT) else ""
    if dash:
        yield from between(prefix + first, prefix + last.removeprefix(_OPENSHIFT))
    else:
        yield one(entry)


def age(server: Server) -> tuple[int, tuple[int, int]]:
    """The sort key of servers, oldest first."""
    return server.minor, server.openshift or (0, 0)
