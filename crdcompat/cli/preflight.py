"""crdcompat preflight OLD --cluster CONTEXT: can this cluster go back to OLD now?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.cli.groups import varied
from crdcompat.cli.settings import Configured, end, open_recordings
from crdcompat.vocabulary import FailOn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crdcompat.cli.progress import RecordedProgress
    from crdcompat.config.configuration import Config
    from crdcompat.features.preflight.asked_cluster import Cluster


def preflight(
    old: o.Old,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="CONTEXT", help="A kubeconfig context; in a pod: in-cluster. Only list requests are sent."
        ),
    ] = None,
    objects: Annotated[list[str] | None, o.recordings("A recording with CRDs, instead of --cluster.")] = None,
    origin: Annotated[
        str | None, typer.Option("--from", metavar="REF", help="With --objects: take the CRDs of this release.")
    ] = None,
    read_all: Annotated[
        bool, typer.Option("--all", help="Judge objects of all kinds, not only of those with findings.")
    ] = False,
    print_rbac: Annotated[
        bool, typer.Option("--print-rbac", help="Only print the smallest ClusterRole for this command.")
    ] = False,
    resume: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep the kinds that were read in FILE, and read the others only."),
    ] = None,
    operator: Annotated[
        str | None, typer.Option(metavar="NAMESPACE/NAME", help="The operator's Deployment, for the printed commands.")
    ] = None,
    *,
    servers: o.Servers,
    context: o.ClusterContext = None,
    configured: Annotated[
        Configured,
        varied(
            "statistics",
            "profile",
            "include",
            "exclude",
            "allow_unknown",
            "fail_on",
            helps={"formats": "How to report: text, json, markdown, html; may be repeated."},
            fail_on=FailOn.ERROR,
            usual=("text",),
        ),
    ],
    no_cache: o.NoCache = False,
    output: o.Output,
    requests: o.Requests,
) -> None:
    """Answer whether a cluster can go back to OLD now.

    Exit code 0: yes, 1: no, 2: unknown.

    Reads the installed CRDs and the objects of kinds that can matter, and changes nothing. What cannot be read makes
    the answer unknown.
    """
    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.config.applied import read_source, reader_for, shipped_alone, with_labels
    from crdcompat.errors import UsageError
    from crdcompat.features.preflight.affected_kinds import CRDS_API, CRDS_RULE, access_rules, scope_of
    from crdcompat.features.preflight.crds_on_rollback import after_rollback
    from crdcompat.features.preflight.early_values import early_in, growing_in
    from crdcompat.features.preflight.preflight_workflow import PreflightOptions, unreadable
    from crdcompat.features.preflight.preflight_workflow import preflight as run
    from crdcompat.features.preflight.running_server import running
    from crdcompat.features.preflight.standing import standing_of
    from crdcompat.findings.waiver_file import read_accepted
    from crdcompat.models.preflight import Missing, StepKind
    from crdcompat.render.escape import say
    from crdcompat.render.pages.preflight import cluster_role
    from crdcompat.schema.answers import ANSWERS
    from crdcompat.sources.cluster import UnreadableClusterError
    from crdcompat.vocabulary import Side

    if (cluster is None) == (not objects):
        raise UsageError("name the cluster: --cluster CONTEXT, or --objects PATH for a recording of it")
    if origin is not None and not objects:
        raise UsageError("--from goes with --objects: a live cluster has its CRDs")
    if resume is not None and cluster is None:
        raise UsageError("--resume goes with --cluster: a recording is read as a whole")
    if operator is not None and not all(operator.partition("/")):
        raise UsageError(f"--operator {operator}: write it as NAMESPACE/NAME")
    requests.apply()
    settings, repo = configured.settings("preflight", output), configured.repo
    options = PreflightOptions(
        judge=servers.chosen(),
        context=context,
        read_all=read_all,
        operator=operator or "",
        growth=read_accepted(settings.config.waiver_file).growth,
        resume=resume or "",
        arguments=_arguments(
            old,
            ("--cluster", cluster),
            *(("--objects", path) for path in objects or ()),
            ("--from", origin),
            ("--all", read_all),
            ("--context", context),
            ("--installer", configured.installer),
            ("--kube-version", servers.kube_version),
            ("--openshift-version", servers.openshift_version),
            ("--operator", operator),
            ("--config", configured.config),
            ("--repo", repo),
        ),
    )
    with ANSWERS.kept(wanted=not no_cache):
        read = read_source(old, Side.OLD, reader_for(settings.config), settings.config, repo)
        (target,) = with_labels([shipped_alone(read, settings.config, Side.OLD)])
        counted = RecordedProgress()
        try:
            judged = _cluster(cluster, objects or (), origin, settings.config, repo, counted)
            if print_rbac:
                of_release = judged.of_release
                target = after_rollback(target, judged.installed, of_release=of_release)
                standing = standing_of(target, judged.installed, judged.facts, context, of_release=of_release)
                growth = growing_in(judged, running(judged)[0], options.growth)
                declared = {each.crd for each in early_in(judged, growth)}
                scope = scope_of(target, judged.installed, standing, read_all=read_all, declared=declared)
                say("\n".join(cluster_role(access_rules(scope))))
                return
            with progress(wanted=output.has_bars):
                # A cluster counts its objects itself, because it knows how many there are.
                report = run(target, judged, options, iter if judged.is_live else counted.each)
        except UnreadableClusterError as error:
            rule, step = (CRDS_RULE, StepKind.ALLOW) if error.is_forbidden else (None, StepKind.READ)
            gap = Missing("the cluster", str(error), rule, step, CRDS_API)
            report = unreadable(target, f"{cluster}", gap, options.arguments)
    raise typer.Exit(end(report, settings))


def _arguments(old: str, *options: tuple[str, str | bool | None]) -> tuple[str, ...]:
    """OLD and the options that were given; a switch has no value."""
    given = ((name,) if value is True else (name, f"{value}") for name, value in options if value)
    return (old, *(part for each in given for part in each))


def _cluster(
    context: str | None,
    objects: Sequence[str],
    origin: str | None,
    config: Config,
    repo: str | None,
    counted: RecordedProgress,
) -> Cluster:
    """The live cluster of the kubeconfig ``context``, or the recordings ``objects``. Raises UsageError, SourceError."""
    from crdcompat.config.applied import read_source, reader_for, shipped_alone
    from crdcompat.errors import UsageError
    from crdcompat.features.preflight.asked_cluster import LiveCluster, RecordedCluster
    from crdcompat.render.escape import warn
    from crdcompat.sources import open_cluster
    from crdcompat.vocabulary import Side

    if context is not None:
        tree = open_cluster(context)
        for note in tree.notes:
            warn(note)
        return LiveCluster(tree, reader_for(config))
    if "-" in objects:
        raise UsageError("--objects -: a recording is read twice, for its CRDs and its objects: name a file")
    reader = reader_for(config)
    read = read_source(origin, Side.NEW, reader, config, repo) if origin is not None else None
    installed = shipped_alone(read, config, Side.NEW) if read is not None else None
    found = RecordedCluster(open_recordings(objects, repo), reader, installed, counted.file)
    if not found.installed.documents and not found.installed.problems:
        raise UsageError(f"no CRD in {', '.join(objects)}: name the release that the cluster runs, --from REF")
    return found
