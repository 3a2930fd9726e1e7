"""Pairs of releases of real projects, and their CRDs as a test server can take them.

``CRDCOMPAT_REFEREE_PAIRS=FILE make conformance`` takes pairs of the developer's choice instead: FILE has a line
``REPOSITORY OLD NEW`` for each, with the path of a clone.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

from helpers import RELEASES, Json

import crdcompat

_PROJECTS = {
    "cluster-api": ("v1.12.0", "v1.13.0"),
    "crossplane": ("v1.17.0", "v2.0.0"),
    "external-secrets": ("v0.18.0", "v0.19.0"),
    "gateway-api": ("v1.3.0", "v1.4.0"),
    "istio": ("1.24.0", "1.25.0"),
}
_V1 = "apiextensions.k8s.io/v1"


def changed_crds(
    openshift_api: Path, projects: Path, releases: Iterable[str] = RELEASES
) -> Iterator[tuple[str, Json, Json]]:
    """(name, OLD, NEW) of the CRDs that change between two releases: of OpenShift's ``releases``, and of others."""
    pairs = [*pairwise((f"release-{name}", str(openshift_api)) for name in releases)]
    for project, names in _PROJECTS.items():
        pairs += pairwise((f"{project}/{name}", str(projects)) for name in names)
    if chosen := os.environ.get("CRDCOMPAT_REFEREE_PAIRS"):
        lines = (line.split() for line in Path(chosen).read_text(encoding="utf-8").splitlines())
        pairs = [((old, repo), (new, repo)) for repo, old, new in lines]
    for before, after in pairs:
        old, new = (_by_name(*each) for each in (before, after))
        for name in sorted(old.keys() & new.keys()):
            is_v1 = all(side[name]["apiVersion"] == _V1 for side in (old, new))  # servers from 1.22 on have no other
            if is_v1 and old[name]["spec"] != new[name]["spec"]:
                yield f"{before[0]}: {name}", old[name], new[name]


def _by_name(source: str, repo: str) -> dict[str, Json]:
    return {document.crd.name: dict(document.crd.raw) for document in crdcompat.load(source, repo=repo).documents}


def plain(crd: Json) -> Json:
    """The CRD without a conversion webhook, which no server could reach; without a status that etcd knows better."""
    made = copy.deepcopy(crd)
    made["spec"].pop("conversion", None)
    made.pop("status", None)
    return made
