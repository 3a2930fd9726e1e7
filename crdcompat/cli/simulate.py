"""crdcompat simulate OLD NEW --objects PATH…: replay the rollback on recorded objects."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o

KubeVersion = Annotated[
    str | None,
    typer.Option(metavar="1.N", help="The Kubernetes version that judges (default: by the release's name)."),
]
OpenshiftVersion = Annotated[
    str | None,
    typer.Option(metavar="4.N", help="The OpenShift version that judges, instead of --kube-version."),
]


def simulate(
    old: o.Old,
    new: o.New,
    objects: Annotated[
        list[str],
        typer.Option(
            "--objects",
            metavar="PATH",
            help="Recorded objects: a must-gather, insights archive or other recording (directory or .tar.gz), a file,"
            " - for standard input, or cluster:CONTEXT; may be repeated.",
        ),
    ],
    upgrade: Annotated[bool, typer.Option(help="Replay the upgrade OLD -> NEW instead.")] = False,
    kube_version: KubeVersion = None,
    openshift_version: OpenshiftVersion = None,
    context: Annotated[str | None, typer.Option(metavar="NAME", help="Which variants of CRDs the cluster has.")] = None,
    crd: o.Crds = None,
    formats: o.Formats = None,
    fail_on: o.FailOnChoice = None,
    config: o.ConfigFile = None,
    repo: o.Repo = None,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    color: o.ColourOption = o.Colour.auto,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="Show no progress on a terminal.")] = False,
) -> None:
    """Replay the rollback NEW -> OLD on recorded objects: which writes would the API server reject?"""
    from itertools import chain

    from crdcompat.cli.progress import Progress
    from crdcompat.cli.server import chosen_server
    from crdcompat.cli.settings import CLEAN, FOUND, NOT_DONE, check_formats, settled
    from crdcompat.jobs.configured import both_sides
    from crdcompat.jobs.simulation import simulate as run
    from crdcompat.manifests.objects import read_objects
    from crdcompat.report.write import write_reports
    from crdcompat.sources import open_objects

    settings = settled(config, repo, formats, fail_on)
    check_formats(settings.formats)
    server = chosen_server(kube_version, openshift_version)
    before, after = both_sides(old, new, settings.config, repo)
    trees = [open_objects(source, repo=repo) for source in objects]
    progress = Progress(wanted=not no_progress)
    report = run(
        before,
        after,
        progress.each(chain.from_iterable(read_objects(tree, progress.file) for tree in trees)),
        server=server,
        upgrade=upgrade,
        context=context,
        crds=crd or (),
    )
    write_reports(report, settings.formats, color.value, o.verbosity(verbose, quiet))
    if report.problems:
        raise typer.Exit(NOT_DONE)
    if not report.objects and not report.not_simulated:
        typer.echo(f"crdcompat: no objects in {', '.join(objects)}", err=True)
        raise typer.Exit(NOT_DONE)
    raise typer.Exit(FOUND if report.fails(settings.fail_on) else CLEAN)
