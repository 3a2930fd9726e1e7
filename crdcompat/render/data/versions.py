"""The life of versions as JSON data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crdcompat.models.release import Release
from crdcompat.render.data.parts import head, picked, problem, release, words
from crdcompat.render.pages.versions import shown_steps

if TYPE_CHECKING:
    from crdcompat.models.versions import Jump, StoredKind, VersionLife, VersionsCluster, VersionsReport


def versions_data(report: VersionsReport) -> dict[str, Any]:
    """The versions, jumps and stored objects; ``old`` and ``new`` are the first and last release, or the cluster."""
    ends = report.releases
    if not ends and report.cluster is not None:
        ends = (Release(report.cluster.title, None, None),)
    return {
        **head(report.command, ends[0], ends[-1]),
        "releases": [release(item) for item in report.releases],
        "context": report.context,
        "notes": list(report.notes),
        "summary": {"verdicts": words(report.by_verdict()), "problems": [problem(item) for item in report.problems]},
        "unjudged": list(report.unjudged),
        "versions": [_life(life) for life in report.lives],
        "jumps": [_jump(jump) for jump in report.jumps],
        "cluster": _cluster(report.cluster) if report.cluster is not None else None,
    }


def _life(life: VersionLife) -> dict[str, Any]:
    return {
        **picked(life, "crd kind version present served deprecated stored"),
        "removed_in": life.removed_in or None,
        "removed_with_crd": not life.has_crd,
    }


def _jump(jump: Jump) -> dict[str, Any]:
    return {
        "from": jump.origin,
        "to": jump.target,
        "verdict": jump.verdict,
        "lost": [{**picked(lost, "crd kind version stored migrate"), "certain": lost.is_certain} for lost in jump.lost],
        "unjudged": list(jump.unjudged),
    }


def _cluster(cluster: VersionsCluster) -> dict[str, Any]:
    return {
        "source": list(cluster.source),
        "live": cluster.is_live,
        "migrator": cluster.has_migrator,
        "crds": [_kind(cluster, kind) for kind in cluster.kinds],
    }


def _kind(cluster: VersionsCluster, kind: StoredKind) -> dict[str, Any]:
    return {
        "crd": kind.crd,
        "kind": kind.kind,
        "stored_versions": list(kind.stored),
        "storage": kind.storage or None,
        "due": kind.is_due,
        "objects": kind.objects,
        "steps": [
            {"what": step.sentence, "commands": list(step.commands)}
            for step in (shown_steps(cluster, kind) if kind.is_due else ())
        ],
    }
