"""Admission policies, webhook configurations and CompatibilityRequirements: what else a server asks about a write."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from crdcompat.sources.cluster_client import Client, NoAnswerError, RefusedError, Resource

_GROUP, _OPENSHIFT = "admissionregistration.k8s.io", "apiextensions.openshift.io"
REQUIREMENTS = "compatibilityrequirements"
#: The lists, each with its group and its versions from the newest: which are served depends on the cluster's release.
_LISTS = {
    "validatingadmissionpolicies": (_GROUP, "v1", "v1beta1"),
    "mutatingadmissionpolicies": (_GROUP, "v1", "v1beta1"),
    "validatingwebhookconfigurations": (_GROUP, "v1"),
    "mutatingwebhookconfigurations": (_GROUP, "v1"),
    REQUIREMENTS: (_OPENSHIFT, "v1alpha1"),
}
_NOT_THERE = 404


class AdmissionLists(Struct):
    """The ``items`` as (plural, text), and the lists that were ``refused`` as (plural, reason).

    A list that the server does not have is empty.
    """

    items: list[tuple[str, bytes]] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def read_admission(client: Client) -> AdmissionLists:
    """Read all lists, with GET requests; call it in a session of the client."""
    found = AdmissionLists()
    for plural, (group, *versions) in _LISTS.items():
        for version in versions:
            try:
                found.items += ((plural, data) for data in _listed(client, Resource(group, version, plural)))
            except RefusedError as error:
                if error.status == _NOT_THERE:
                    continue
                found.refused.append((plural, str(error)))
            except NoAnswerError as error:
                found.refused.append((plural, str(error)))
            break
    return found


def _listed(client: Client, kind: Resource) -> Iterator[bytes]:
    token = ""
    while True:
        page = client.page(kind, token)
        yield from (item.data for item in page.items())
        token = page.token
        if not token:
            return
