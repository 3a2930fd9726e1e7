"""The servers that a project supports: ranges and lists of Kubernetes minors and of OpenShift releases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crdcompat.apiserver.versions import NEWEST, OPENSHIFT, Server, kubernetes_server
from crdcompat.errors import UsageError
from crdcompat.vocabulary.servers import ServerName, spans

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
