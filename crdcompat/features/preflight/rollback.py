"""The rollback of single objects: its replay, and the steps that repair a rejected one."""

from __future__ import annotations

from collections.abc import Mapping

from crdcompat.apiserver.versions import Server
from crdcompat.crds.resolving import Resolved
from crdcompat.features.preflight.repairs import Repairs
from crdcompat.features.preflight.scope import Scope
from crdcompat.replay.judges import Replayer


class Rollback:
    """Replays objects, and finds their repairs.

    ``runs`` is the cluster's server, ``judge`` the server after the rollback.
    """

    def __init__(self, scope: Scope, runs: Server | None, judge: Server | None) -> None:
        self.replayer = Replayer(scope.old, scope.installed, judge, scope.context, notes=False)
        self.repairs = Repairs(scope.news, runs, judge)
        self._crds = {**_by_kind(scope.olds), **_by_kind(scope.news)}

    def crd_of(self, data: object) -> str:
        """The CRD of an object by its apiVersion and kind; "" if neither release has it."""
        if not isinstance(data, dict):
            return ""
        api_version, kind = data.get("apiVersion"), data.get("kind")
        group = api_version.rpartition("/")[0] if isinstance(api_version, str) else ""
        return self._crds.get((group, kind), "") if isinstance(kind, str) else ""


def _by_kind(crds: Mapping[str, Resolved]) -> dict[tuple[str, str], str]:
    return {(each.crd.group, each.crd.kind): name for name, each in crds.items()}
