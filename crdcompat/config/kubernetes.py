"""The key ``kubernetes``: the servers on which the CRDs have to work, in general and for each rollback target.

Its value is a list of versions, or ``min`` and ``max``; ``targets`` gives other servers to releases by name. In a
comparison both releases meet the same servers, one after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crdcompat.apiserver.server_versions import Server
from crdcompat.apiserver.supported.ranges import between, listed, server_name
from crdcompat.errors import UsageError

_TARGETS = "targets"


def supported(value: Any, release: str = "") -> tuple[str, ...]:
    """The versions for a release, oldest first: its own entry in ``targets``, else the general ones."""
    targets = value.get(_TARGETS, {}) if isinstance(value, Mapping) else {}
    return tuple(server_name(server).id for server in _servers(targets.get(release, value)))


def wrong_range(value: Any) -> tuple[tuple[str | int, ...], str] | None:
    """The place of the first invalid range below the key, and the reason; None if all are valid."""
    targets = value.get(_TARGETS, {}) if isinstance(value, Mapping) else {}
    places: dict[tuple[str | int, ...], Any] = {(): value, **{(_TARGETS, name): each for name, each in targets.items()}}
    for place, each in places.items():
        try:
            _servers(each)
        except UsageError as error:
            return place, str(error)
    return None


def _servers(value: Any) -> Sequence[Server]:
    if not isinstance(value, Mapping):
        return listed(value)
    return listed(value["versions"]) if "versions" in value else between(value["min"], value["max"])
