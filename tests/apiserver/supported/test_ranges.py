"""Ranges and lists of servers, as the command line and the configuration spell them."""

from __future__ import annotations

import pytest

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.ranges import ALL, between, family, server_name, servers_of
from crdcompat.errors import UsageError


@pytest.mark.parametrize(
    ("text", "servers"),
    [
        ("1.31", ["1.31"]),
        ("1.28-1.30", ["1.28", "1.29", "1.30"]),
        ("1.31, 1.28,1.31", ["1.28", "1.31"]),
        ("openshift-4.15,1.36,1.26-1.27", ["1.26", "1.27", "1.36", "openshift-4.15"]),
        ("openshift-4.14-4.16", ["openshift-4.14", "openshift-4.15", "openshift-4.16"]),
        ("openshift-4.22-openshift-5.0", ["openshift-4.22", "openshift-4.23", "openshift-5.0"]),
    ],
)
def test_servers(text: str, servers: list[str]) -> None:
    assert [server_name(server).id for server in servers_of(text)] == servers


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1.36-1.28", "1.36 is newer than 1.28: the older version comes first"),
        ("1.25", "the answers of Kubernetes 1.25 to CRDs are not known: the oldest known minor is 1.26"),
        ("1.99", "Kubernetes version '1.99' is not one of 1.17 to 1.36 (write it as 1.26)"),
        ("", "Kubernetes version '' is not one of 1.17 to 1.36 (write it as 1.26)"),
    ],
)
def test_what_is_no_range(text: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        servers_of(text)
    assert str(raised.value) == said


def test_a_range_has_one_product() -> None:
    with pytest.raises(UsageError, match=r"1\.28 to openshift-4\.16 mixes Kubernetes and OpenShift"):
        between("1.28", "openshift-4.16")


def test_families() -> None:
    assert family(Server(31)) == ALL
    releases = [server.openshift for server in family(Server(31, (4, 18)))]
    assert releases[0] == (4, 13)
    assert releases == sorted(set(releases), key=releases.index)
    assert (4, 12) not in releases
