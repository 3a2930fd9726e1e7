"""preflight: compares a release with a cluster's CRDs, then replays the rollback on the objects that can matter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from crdcompat.apiserver.versions import DEFAULT_SERVER, Server, known_server, running_server
from crdcompat.crds.reader import CrdSet
from crdcompat.errors import UsageError
from crdcompat.features.diff.report import release
from crdcompat.features.preflight.clusters import Cluster
from crdcompat.features.preflight.rollback import Rollback
from crdcompat.features.preflight.scope import Scope, refused_crds, scope_of
from crdcompat.features.preflight.steps import ordered_steps
from crdcompat.features.preflight.tally import MAX_LISTED, Tally
from crdcompat.models.preflight import Missing, PreflightReport, Step
from crdcompat.models.report import Release
from crdcompat.recordings.clusters import ClusterFacts
from crdcompat.recordings.objects import ObjectItem
from crdcompat.render.wording.findings import plural, some

_CLUSTER_VERSION = "clusterversions.config.openshift.io"


class PreflightOptions(Struct, frozen=True):
    """The options of a preflight.

    ``judge`` is the server after the rollback (None: OLD's, else the cluster's). ``context`` selects OLD's variants.
    ``read_all``: judge all kinds, also those without findings. ``operator`` is the running operator as
    NAMESPACE/DEPLOYMENT, "" if not named.
    """

    judge: Server | None = None
    context: str | None = None
    read_all: bool = False
    operator: str = ""


def preflight(
    old: CrdSet,
    cluster: Cluster,
    options: PreflightOptions,
    each: Callable[[Iterable[ObjectItem]], Iterable[ObjectItem]] = iter,
) -> PreflightReport:
    """Judge whether the cluster can go back to OLD. ``each`` passes objects on unchanged, and can count them.

    Raises UsageError for an unknown context of variants, or OLD without CRDs.
    """
    if not old.documents and not old.problems:
        raise UsageError(f"no CRD in {old.name}")
    scope = scope_of(old, cluster.installed, options.context, read_all=options.read_all)
    runs, unknown = running(cluster)
    judge = options.judge or known_server(old) or runs
    rollback = Rollback(scope, runs, judge)
    tally = Tally(scope, rollback, is_deduplicated=cluster.is_live)
    facts = ClusterFacts()
    if scope.needed:
        for item in each(facts.observe(cluster.objects(scope.needed))):
            tally.add(item)
    missing = [*scope.missing, *unknown, *tally.gaps.missing(), *cluster.missing(scope, tally.recorded)]
    refused = tuple(refused_crds(scope, judge or DEFAULT_SERVER))
    losses = tally.losses()
    return PreflightReport(
        old=release(old),
        new=Release(cluster.installed.name, None, runs.kubernetes if runs else None, cluster.installed.notes),
        source=cluster.source,
        is_live=cluster.is_live,
        platform=_platform(cluster, runs, facts),
        judge=str(judge) if judge is not None else "",
        installed=len(scope.both),
        kinds=tally.kinds(),
        refused=refused,
        causes=tally.causes(),
        tolerated=tally.tolerated(),
        losses=losses,
        writers=tally.writers(),
        steps=ordered_steps(scope, map(_unpatched, tally.steps) if cluster.hides else tally.steps, refused, losses),
        unlisted=tally.unlisted,
        missing=tuple(dict.fromkeys(missing)),
        windows=scope.windows,
        notes=(*rollback.replayer.notes, *_notes(scope, tally, judge, hides=cluster.hides)),
        operator=options.operator,
    )


def unreadable(old: CrdSet, name: str, missing: Missing) -> PreflightReport:
    """The report on a cluster that could not be read at all."""
    unknown = Release(name, None, None)
    return PreflightReport(release(old), unknown, (name,), True, "", "", 0, missing=(missing,))


def running(cluster: Cluster) -> tuple[Server | None, tuple[Missing, ...]]:
    """The server that the cluster runs (None: unknown), and a gap if crdcompat does not know the reported version."""
    if not cluster.server_version:
        return known_server(cluster.installed), ()
    try:
        is_openshift = _CLUSTER_VERSION in cluster.installed.named()
        return running_server(cluster.server_version, is_openshift=is_openshift), ()
    except UsageError as error:
        return None, (Missing("the server's version", str(error)),)


def _platform(cluster: Cluster, runs: Server | None, facts: ClusterFacts) -> str:
    """The cluster's versions as far as known: ``OpenShift 4.14.1, Kubernetes v1.27.6``."""
    openshift = ["OpenShift", *facts.versions] if _CLUSTER_VERSION in cluster.installed.named() else []
    version = cluster.server_version or (runs.kubernetes if runs is not None else "")
    return ", ".join(filter(None, (" ".join(openshift), version and f"Kubernetes {version}")))


def _unpatched(step: Step) -> Step:
    """The step without its patch: hidden names and values would make the patch wrong."""
    return replace(step, patch=None, redacted=None)


def _notes(scope: Scope, tally: Tally, judge: Server | None, *, hides: bool) -> Iterator[str]:
    if judge is None:
        yield "the server's version is unknown (--kube-version names it): an answer counts if all versions agree"
    if scope.extra:
        yield f"{scope.old.title} lacks {some(scope.extra)}: do not delete these CRDs, that would delete their objects"
    if hides:
        yield "the recording hides names or values: run preflight on the cluster for the commands that repair objects"
    if tally.loses_more:
        yield f"objects lose more than {MAX_LISTED} fields: the first {MAX_LISTED} are listed"
    if tally.already:
        yield f"not counted: rejections that the installed CRDs have, too ({plural(tally.already, 'object')})"
