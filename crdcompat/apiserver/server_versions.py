"""Server versions: the behaviours of each Kubernetes minor as data, and the parsing of versions.

Source: docs/semantics.md#versions, which lists each behaviour by the minor that introduced it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from crdcompat.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crdcompat.crds.reader import CrdSet

#: Behaviour of the API server -> the Kubernetes minor (1.N) that introduced it.
SINCE: dict[str, int] = {
    "deprecation_warnings": 19,
    "owners_deduplicated": 20,  # equal owner references of a request are merged, with a warning
    "list_index_in_paths": 24,  # before: errors inside items carry the array's path
    "typed_errors": 24,  # FieldValueTypeInvalid, Too long, Too many as types of their own
    "count_as_bad_value": 24,  # min/maxProperties name the count, before: the limit
    "field_warnings": 25,  # fieldValidation=Warn: the answer warns of the request's unknown fields
    "cel": 25,  # CustomResourceValidationExpressions on by default
    "status_list_uniqueness": 26,
    "stored_versions_value": 27,  # the list of stored versions is the bad value, before: the version
    "status_scope": 28,  # a status write validates .status only, before: the whole object
    "property_counts_go_on": 28,  # a min/maxProperties failure no longer hides the object's other errors
    "apply_interleaves": 28,  # items of an applied list keep the patch's order
    "apply_status_resets_metadata": 36,  # an apply to /status neither changes nor owns metadata
    "enum_blocks_cel": 29,
    "finalizer_warnings": 29,  # new finalizers without a domain
    "apply_checks_scalars": 29,  # lists and maps in the place of strings with a format no longer fit an apply's types
    "apply_tolerates_duplicates": 29,  # duplicates of a keyed list in the stored object no longer fail apply
    "cel_bare_objects": 29,  # rules read an object whose schema declares no members: kubernetes/kubernetes#121459
    "enum_lengths": 29,  # a rule on strings of an enum costs as much as on the longest member
    "stored_messages": 29,  # stored messageExpressions may use newer libraries; before: those of stored rules
    "suppresses_rule_cost": 29,  # in updates, the cost of a rule is not limited if the schema is unchanged
    "ratchet_main": 30,  # CRDValidationRatcheting beta, on
    "status_prefix": 31,  # `status.` is back in the paths of status writes
    "cel_in_all_of": 31,
    "additional_false_in_junctors": 31,  # additionalProperties: false inside allOf, anyOf and oneOf
    "selectable_fields": 31,  # CustomResourceFieldSelectors beta, on
    "checks_ca_bundle": 31,
    "bytes_text": 32,  # "may not be more than N bytes", before "may not be longer than N"
    "finalizer_path_warnings": 32,  # the warning asks for a path too
    "cel_keyword_fields": 32,  # rules read self.namespace, before: self.__namespace__ alone
    "ratchet_status": 33,  # kubernetes/kubernetes#129506; OpenShift carries it since 4.18
    "stored_version_text": 33,  # the refusal of a CRD without a stored version explains the order of steps
    "apply_partial_keys": 34,  # items of an applied list need only some of the keys
    "owner_text": 34,  # "must not be empty", before: "kind must not be empty"
    "json_values": 34,  # bad values as JSON, before: Go syntax; singular "1 item"
    "plain_service_texts": 34,  # the refusal of a webhook's service without a name or namespace has no detail
    "plain_rule_texts": 34,  # faults of rules no longer begin with the name of the field
    "nested_decoding_paths": 36,  # messages about values that do not decode have the path below items
    "many_selectable_kept": 35,  # updates keep more selectable fields than the limit
    "embedded_required_plain": 34,  # missing apiVersion/kind of an embedded resource: no detail
    "cel_actual_value": 35,  # CEL failures show the scalar, before: the schema type in quotes
    "k8s_name_formats": 34,
    "format_warnings": 34,  # of new CRDs with formats of strings that the server does not know
    "format_warnings_of_all_types": 35,
    "k8s_formats_known": 35,  # without a warning
    "integer_range": 36,
    "strict_url_colons": 36,  # built with Go 1.26: one colon only in the host of a web address
    "halved_tolerance": 36,  # of the fraction up to which a float is an integer
}

#: OpenShift release -> Kubernetes minor (docs/semantics.md#versions).
OPENSHIFT: dict[tuple[int, int], int] = {(4, n): n + 13 for n in range(4, 23)} | {
    (4, 23): 36,
    (5, 0): 36,
    (5, 1): 36,
    (5, 2): 36,
}

#: The first OpenShift release with a backport of status ratcheting (openshift/kubernetes#2175, #2167).
_OPENSHIFT_RATCHET_STATUS_SINCE = (4, 18)
#: CEL library that OpenShift has earlier than Kubernetes -> its first release with it, and the minor by which servers
#: decide whether new rules may use it (openshift/kubernetes#1911, #2139).
CEL_BACKPORTS = {"net": ((4, 14), 0), "format": ((4, 17), 30)}
#: The first release that has the library from its first patch on; earlier ones got it in a later patch.
_FIRST_WITH = {"net": (4, 16), "format": (4, 18)}

OLDEST, NEWEST = 17, 36
_CLUSTER_VERSION = "clusterversions.config.openshift.io"  # a CRD of every OpenShift cluster


class Server(Struct, frozen=True):
    """One kube-apiserver: its minor (26 for 1.26), and the release of an OpenShift build, else None.

    ``ratcheting`` is an explicit value of the feature gate CRDValidationRatcheting, None for the default. The gate
    cannot enable status ratcheting in a build without it. ``first_patch``: the first patch of an OpenShift release,
    without what later patches got; an upgrade may begin there.
    """

    minor: int
    openshift: tuple[int, int] | None = None
    ratcheting: bool | None = None
    first_patch: bool = False

    def does(self, behaviour: str) -> bool:
        """Whether this server has a behaviour of the table ``SINCE``."""
        if behaviour in ("ratchet_main", "ratchet_status") and self.ratcheting is False:
            return False
        if behaviour == "ratchet_main" and self.ratcheting:
            return True
        if behaviour == "ratchet_status" and self.openshift is not None:
            return self.openshift >= _OPENSHIFT_RATCHET_STATUS_SINCE
        return self.minor >= SINCE[behaviour]

    @property
    def cel_backports(self) -> frozenset[str]:
        """The CEL libraries that this server has earlier than Kubernetes."""
        if self.openshift is None:
            return frozenset()
        return _cel_backports(self.openshift, first_patch=self.first_patch)

    @property
    def kubernetes(self) -> str:
        return f"1.{self.minor}"

    def __str__(self) -> str:
        if self.openshift is None:
            return f"Kubernetes {self.kubernetes}"
        return f"OpenShift {self.openshift[0]}.{self.openshift[1]} (Kubernetes {self.kubernetes})"


#: The server of a release whose name does not name a Kubernetes version: only the text of errors depends on it.
DEFAULT_SERVER = Server(31)
#: The judge of one write, where the user names no server.
NEWEST_SERVER = Server(NEWEST)


@cache
def _cel_backports(release: tuple[int, int], *, first_patch: bool) -> frozenset[str]:
    since = _FIRST_WITH if first_patch else {name: release for name, (release, _) in CEL_BACKPORTS.items()}
    return frozenset(name for name, first in since.items() if release >= first)


def has_library(since: int, library: str, level: int, backports: frozenset[str]) -> bool:
    """Whether rules may use a CEL library of the minor ``since`` with the libraries up to the minor ``level``."""
    return since <= level or (library in backports and CEL_BACKPORTS[library][1] <= level)


def kubernetes_server(text: str) -> Server:
    """The server of a version: ``1.31``, ``v1.31.4`` or ``openshift-4.18``. Raises UsageError."""
    if text.startswith("openshift-"):
        return openshift_server(text.removeprefix("openshift-"))
    found = re.fullmatch(r"v?1\.(\d+)(?:\.\d+)?(?:[-+].*)?", text.strip())
    if not found or not OLDEST <= int(found[1]) <= NEWEST:
        raise UsageError(f"Kubernetes version {text!r} is not one of 1.{OLDEST} to 1.{NEWEST} (write it as 1.26)")
    return Server(int(found[1]))


def running_server(version: str, *, is_openshift: bool) -> Server:
    """The server of a cluster by the version that it reports (``v1.31.4``). Raises UsageError."""
    server = kubernetes_server(version)
    releases = [release for release, minor in OPENSHIFT.items() if minor == server.minor] if is_openshift else []
    return Server(server.minor, releases[0]) if releases else server


def openshift_server(text: str) -> Server:
    """The server of an OpenShift release: ``4.18``. Raises UsageError."""
    found = re.fullmatch(r"v?(\d+)\.(\d+)(?:\.\d+)?(?:[-+].*)?", text.strip())
    release = (int(found[1]), int(found[2])) if found else (0, 0)
    if release not in OPENSHIFT:
        raise UsageError(f"OpenShift version {text!r} is not known (write it as 4.13; known are 4.4 to 5.2)")
    return Server(OPENSHIFT[release], release)


def server_of_name(name: str) -> Server | None:
    """The server of an OpenShift release name: ``release-4.13``, ``origin/openshift-4.13``; None for other names.

    A name such as ``v1.2.0`` is the version of an operator, not of Kubernetes.
    """
    last = name.rsplit("/", 1)[-1]
    found = re.fullmatch(r"(?:release|openshift|enterprise|ocp)-(\d+)\.(\d+)(?:\.\d+)?(?:[-+].*)?", last)
    release = (int(found[1]), int(found[2])) if found else (0, 0)
    return Server(OPENSHIFT[release], release) if release in OPENSHIFT else None


def server_of(crds: CrdSet) -> Server:
    """The server of a release: as configured, else by its name, else ``DEFAULT_SERVER``. Raises UsageError."""
    return known_server(crds) or DEFAULT_SERVER


class Servers(Struct, frozen=True):
    """The servers that run beside OLD and NEW. ``known_old`` and ``known_new`` are None where nothing names one.

    ``others`` has the CRDs that these servers refuse, and for each the server that judges it on both sides instead.
    """

    known_old: Server | None
    known_new: Server | None
    others: Mapping[str, Server] = {}

    def about(self, crd: str) -> Servers:
        """The servers that judge a CRD."""
        other = self.others.get(crd)
        return self if other is None else Servers(other, other)

    @property
    def of_old(self) -> Server:
        """The server of OLD, which is assumed if it is not known."""
        return self.known_old or DEFAULT_SERVER

    @property
    def of_new(self) -> Server:
        """The server of NEW, which is assumed if it is not known."""
        return self.known_new or DEFAULT_SERVER


def known_server(crds: CrdSet) -> Server | None:
    """The server that the configuration or the name of a release names; None where neither does. Raises UsageError."""
    if crds.runs.startswith("v"):
        is_openshift = any(document.crd.name == _CLUSTER_VERSION for document in crds.documents)
        return running_server(crds.runs, is_openshift=is_openshift)
    if crds.runs:
        return kubernetes_server(crds.runs)
    return server_of_name(crds.name) if crds.may_be_openshift else None
