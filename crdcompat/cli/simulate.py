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
            help="Recorded objects: a file, a directory, or - for standard input.",
        ),
    ],
    upgrade: Annotated[bool, typer.Option(help="Replay the upgrade OLD -> NEW instead.")] = False,
    kube_version: KubeVersion = None,
    openshift_version: OpenshiftVersion = None,
    context: Annotated[str | None, typer.Option(metavar="NAME", help="Which variants of CRDs the cluster has.")] = None,
    crd: o.Crds = None,
    formats: o.Formats = None,
    fail_on: o.FailOnOption = o.FailOn.error,
    repo: o.Repo = None,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    color: o.ColourOption = o.Colour.auto,
) -> None:
    """Replay the rollback NEW -> OLD on recorded objects: which writes would the API server reject?"""
    from itertools import chain

    from crdcompat import api
    from crdcompat.cli.run import CLEAN, FOUND, NOT_DONE
    from crdcompat.cli.server import chosen_server
    from crdcompat.manifests.crdset import CrdReader
    from crdcompat.manifests.objects import read_objects
    from crdcompat.report.write import parse_format, write_reports
    from crdcompat.simulation import simulate as run
    from crdcompat.sources.files import PathTree

    for text in formats or ():
        parse_format(text)
    server = chosen_server(kube_version, openshift_version)
    reader = CrdReader()
    before = api.load(old, repo=repo, reader=reader, side="old")
    after = api.load(new, repo=repo, reader=reader, side="new")
    trees = [PathTree(path, path) for path in objects]
    report = run(
        before,
        after,
        chain.from_iterable(read_objects(tree) for tree in trees),
        server=server,
        upgrade=upgrade,
        context=context,
        crds=crd or (),
    )
    write_reports(report, formats or (), color.value, o.verbosity(verbose, quiet))
    if report.problems:
        raise typer.Exit(NOT_DONE)
    if not report.objects and not report.not_simulated:
        typer.echo(f"crdcompat: no objects in {', '.join(objects)}", err=True)
        raise typer.Exit(NOT_DONE)
    raise typer.Exit(FOUND if report.fails(fail_on.value) else CLEAN)
