"""crdcompat simulate OLD NEW --objects PATH…: replay the rollback on recorded objects.

simulate --fleet DIR…: the same for many clusters.
"""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.errors import UsageError
from crdcompat.render.escape import warn

KubeVersion = Annotated[
    str | None,
    typer.Option(metavar="1.N", help="Version of the API server (default: the release's)."),
]
OpenshiftVersion = Annotated[
    str | None,
    typer.Option(metavar="4.N", help="Its version as one of OpenShift."),
]
Formats = Annotated[
    list[str] | None,
    typer.Option(
        "--format",
        metavar="FORMAT[=FILE]",
        help="As for diff, such as text and json; repeatable.",
        autocompletion=o.known_formats,
    ),
]


def simulate(
    old: o.Old,
    new: o.New,
    objects: Annotated[
        list[str] | None,
        typer.Option(
            "--objects",
            metavar="PATH",
            help="Recordings of a cluster; also -, cluster:CONTEXT.",
        ),
    ] = None,
    fleet: Annotated[
        list[str] | None,
        typer.Option(
            "--fleet",
            metavar="DIR",
            help="A folder with a recording per cluster; -: a list.",
        ),
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(metavar="REF", help="Another release to go back to; may be repeated."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes (default: one per processor)."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="A Dask scheduler: tcp://HOST:PORT, or its file."),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=0.1, metavar="SECONDS", help="The longest time for one recording."),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="A journal: a stopped run goes on from it."),
    ] = None,
    output: Annotated[
        str | None, typer.Option(metavar="DIR", help="A folder for the results, as Parquet files.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="DIR", help="Compare with the --output of an earlier run.")
    ] = None,
    log_format: Annotated[o.LogFormat, typer.Option(help="json logs each recording.")] = o.LogFormat.text,
    upgrade: Annotated[bool, typer.Option("--upgrade", help="Replay the upgrade OLD -> NEW instead.")] = False,
    kube_version: KubeVersion = None,
    openshift_version: OpenshiftVersion = None,
    context: o.ClusterContext = None,
    crd: o.Crds = None,
    any_order: o.AnyOrder = False,
    formats: Formats = None,
    fail_on: o.FailOnChoice = None,
    allow_unknown: o.AllowUnknown = False,
    installer: o.InstallerOption = None,
    include: o.Include = None,
    exclude: o.Exclude = None,
    config: o.ConfigFile = None,
    repo: o.Repo = None,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    redact: o.Redact = None,
    helm: o.Helm = False,
    helm_values: o.HelmValues = None,
    kustomize: o.Kustomize = False,
    image_path: o.ImagePath = None,
    connect_timeout: o.ConnectTimeout = 10,
    read_timeout: o.ReadTimeout = 30,
    color: o.ColourOption = o.Colour.auto,
    no_progress: o.NoProgress = False,
) -> None:
    """Replay the rollback NEW -> OLD on recorded objects."""
    from itertools import chain

    from crdcompat.cli.ending import end
    from crdcompat.cli.fleet import NOTHING_JUDGED, FleetOptions, run_fleet
    from crdcompat.cli.options import chosen_server
    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.cli.settings import check_formats, open_recordings, settled
    from crdcompat.config.applied import both_sides
    from crdcompat.features.simulate.early import NOTHING_GROWS, growing
    from crdcompat.features.simulate.workflow import simulate as run
    from crdcompat.findings.waiver_file import read_accepted
    from crdcompat.recordings.objects import read_objects
    from crdcompat.sources.options import limit_requests, render_sources

    _check(objects, fleet, many_only=(target, jobs, scheduler, timeout, resume, output, since), upgrade=upgrade)
    limit_requests(connect_timeout, read_timeout)
    server = chosen_server(kube_version, openshift_version)
    render_sources(
        helm=helm,
        helm_values=helm_values,
        kustomize=kustomize,
        image_paths=image_path,
        kubernetes=server.kubernetes if server else "",
    )
    settings = settled(
        config,
        repo,
        formats,
        fail_on,
        redact=redact,
        allow_unknown=allow_unknown,
        installer=installer,
        files=(include, exclude),
    )
    check_formats(settings.formats, "fleet" if fleet else "simulation")
    declared = read_accepted(settings.config.waiver_file).growth
    if fleet:
        from crdcompat.features.fleet.judge import Plan

        judged = (server, upgrade, context, tuple(crd or ()), () if upgrade else declared)
        code = run_fleet(
            Plan(old, new, tuple(target or ()), settings.config, repo, *judged),
            fleet,
            settings,
            FleetOptions(jobs, scheduler, timeout, resume, output, since, log_format),
            colour=color.value,
            verbosity=o.verbosity(verbose, quiet),
            shown=not (no_progress or quiet),
        )
        raise typer.Exit(code)
    objects = objects or []
    trees = open_recordings(objects, repo)
    counted = RecordedProgress()
    with progress(wanted=not (no_progress or quiet)):
        before, after = both_sides(old, new, settings.config, repo, command="simulate", any_order=any_order)
        kinds = before.kinds | after.kinds
        report = run(
            before,
            after,
            counted.each(chain.from_iterable(read_objects(tree, counted.file, kinds=kinds) for tree in trees)),
            server=server,
            upgrade=upgrade,
            context=context,
            crds=crd or (),
            growth=NOTHING_GROWS if upgrade else growing(declared, after.name, settings.config),
        )
    code = end(report, settings, color.value, o.verbosity(verbose, quiet))
    if not (report.problems or report.objects or report.lost):
        why = NOTHING_JUDGED if report.not_simulated else "no objects"
        warn(f"{why} in {', '.join(tree.name for tree in trees)}")
    raise typer.Exit(code)


def _check(objects: object, fleet: object, *, many_only: tuple[object, ...], upgrade: bool) -> None:
    """Raises UsageError for options that exclude each other."""
    if not objects and not fleet:
        raise UsageError("name what was recorded: --objects PATH of one cluster, or --fleet DIR of many")
    if objects and fleet:
        raise UsageError("--objects has the recordings of one cluster, --fleet those of many: give one of them")
    if not fleet and any(many_only):
        raise UsageError("--target, --jobs, --scheduler, --timeout, --resume, --output and --since go with --fleet")
    if upgrade and many_only[0]:
        raise UsageError("--target is another release to go back to: it does not go with --upgrade")
