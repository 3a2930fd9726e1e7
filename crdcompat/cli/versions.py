"""crdcompat versions REF…: the life of each CRD's versions, and which jumps over releases lose stored objects."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def versions(
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[REF…]",
            autocompletion=o.known_refs,
            help="Releases, as for matrix (default: the rollback targets of HEAD, and HEAD).",
        ),
    ] = None,
    branches: Annotated[
        list[str] | None,
        typer.Option("--branches", metavar="GLOB", help="Each matching branch, e.g. 'release-4.1*'; repeatable."),
    ] = None,
    tags: Annotated[
        list[str] | None,
        typer.Option("--tags", metavar="GLOB", help="Of the matching tags, the newest patch of each minor."),
    ] = None,
    crd: o.Crds = None,
    context: o.ClusterContext = None,
    objects: Annotated[
        list[str] | None,
        typer.Option("--objects", metavar="PATH", help="A recording with CRDs: what has its cluster stored?"),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="CONTEXT", help="The same of a live cluster. Only list requests are sent."),
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", metavar="FORMAT[=FILE]", help="text, json, markdown or csv; repeatable."),
    ] = None,
    fail_on: o.FailOnChoice = None,
    allow_unknown: o.AllowUnknown = False,
    config: o.ConfigFile = None,
    repo: o.Repo = None,
    verbose: o.Verbose = False,
    quiet: o.Quiet = False,
    helm: o.Helm = False,
    helm_values: o.HelmValues = None,
    kustomize: o.Kustomize = False,
    image_path: o.ImagePath = None,
    connect_timeout: o.ConnectTimeout = 10,
    read_timeout: o.ReadTimeout = 30,
    color: o.ColourOption = o.Colour.auto,
    no_progress: o.NoProgress = False,
) -> None:
    """Show the life of each version of each CRD, and which jumps lose stored objects."""
    from crdcompat.cli.ending import end
    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.cli.settings import check_formats, open_recordings, settled
    from crdcompat.config.channels import expanded
    from crdcompat.config.releases import ReleaseList, choose
    from crdcompat.errors import UsageError
    from crdcompat.features.versions.workflow import VersionsOptions, own_releases
    from crdcompat.features.versions.workflow import versions as run
    from crdcompat.render.escape import warn
    from crdcompat.sources import open_cluster
    from crdcompat.sources.options import limit_requests, render_sources

    if cluster is not None and objects:
        raise UsageError("--cluster and --objects exclude each other: name the cluster, or a recording of it")
    if "-" in (objects or ()):
        raise UsageError("--objects -: a recording is read twice, for its CRDs and its objects: name a file")
    limit_requests(connect_timeout, read_timeout)
    render_sources(helm=helm, helm_values=helm_values, kustomize=kustomize, image_paths=image_path)
    settings = settled(config, repo, formats or ("text",), fail_on, allow_unknown=allow_unknown)
    check_formats(settings.formats, "versions")
    trees = [open_cluster(cluster)] if cluster is not None else open_recordings(objects or (), repo)
    if refs or branches or tags:
        names, _ = expanded(refs or ())
        chosen = choose(names, branches or (), repo, tags or (), least=1)
    else:
        chosen = own_releases(settings.config, repo) if not trees else ReleaseList(())
    counted = RecordedProgress()
    options = VersionsOptions(crds=crd or (), context=context, repo=repo, trees=trees, on_file=counted.file)
    with progress(wanted=not (no_progress or quiet)):
        report = run(chosen, settings.config, options)
    code = end(report, settings, color.value, o.verbosity(verbose, quiet))
    if report.is_empty and not report.problems:
        warn(f"no CRD in {', '.join(item.name for item in report.releases)}")
    raise typer.Exit(code)
