"""crdcompat diff OLD NEW: findings between two CRD sets."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def diff(
    old: o.Old,
    new: o.New,
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH…", help="Only CRDs with a file below one of these.")
    ] = None,
    direction: o.DirectionOption = o.DirectionChoice.BOTH,
    owner: o.Owners = None,
    crd: o.Crds = None,
    context: o.Contexts = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    installer: o.InstallerOption = None,
    objects: o.Objects = None,
    suggest_patch: Annotated[
        bool,
        typer.Option("--suggest-patch", help="Print a patch that makes OLD accept what NEW adds."),
    ] = False,
    any_order: o.AnyOrder = False,
    formats: o.Formats = None,
    fail_on: o.FailOnChoice = None,
    allow_unknown: o.AllowUnknown = False,
    profile: o.ProfileOption = None,
    include: o.Include = None,
    exclude: o.Exclude = None,
    config: o.ConfigFile = None,
    repo: o.Repo = None,
    no_cache: o.NoCache = False,
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
    """Compare two releases: what breaks on rollback, and on upgrade?"""
    from crdcompat.cli.run import compare_and_report
    from crdcompat.cli.settings import settled
    from crdcompat.sources.options import limit_requests, render_sources
    from crdcompat.vocabulary.filters import Filters

    limit_requests(connect_timeout, read_timeout)
    render_sources(helm=helm, helm_values=helm_values, kustomize=kustomize, image_paths=image_path)
    settings = settled(
        config,
        repo,
        formats,
        fail_on,
        profile,
        redact,
        allow_unknown=allow_unknown,
        installer=installer,
        files=(include, exclude),
    )
    code = compare_and_report(
        old,
        new,
        repo=repo,
        filters=Filters(
            directions=direction.directions,
            owners=owner or (),
            crds=crd or (),
            paths=paths or (),
            contexts=context or settings.config.texts("contexts"),
            select=select or (),
            ignore=ignore or (),
        ),
        objects=objects or settings.config.recordings,
        patch=suggest_patch,
        any_order=any_order,
        settings=settings,
        colour=color.value,
        verbosity=o.verbosity(verbose, quiet),
        bars=not (no_progress or quiet),
        use_cache=not no_cache,
    )
    raise typer.Exit(code)
