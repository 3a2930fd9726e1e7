"""crdcompat matrix REF REF…: which release can be rolled back to which, what blocks it, and since when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from crdcompat.cli import options as o
from crdcompat.vocabulary import Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crdcompat.recordings.objects import ObjectItem


def matrix(
    refs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REF…",
            autocompletion=o.known_refs,
            help="Releases, as for diff; sorted if all names have a version.",
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
    direction: o.DirectionOption = o.DirectionChoice.BOTH,
    owner: o.Owners = None,
    crd: o.Crds = None,
    context: o.Contexts = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    installer: o.InstallerOption = None,
    objects: Annotated[
        list[str] | None,
        typer.Option("--objects", metavar="PATH", help="A recording: how far back can its cluster go?"),
    ] = None,
    origin: Annotated[
        str | None,
        typer.Option("--from", metavar="REF", help="The release of that cluster (default: from its ClusterVersion)."),
    ] = None,
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
    """Show which release can go back to which, and what blocks it."""
    from itertools import chain

    from crdcompat.cli.ending import end
    from crdcompat.cli.progress import RecordedProgress, progress
    from crdcompat.cli.settings import check_formats, check_rules, open_recordings, settled
    from crdcompat.config.channels import expanded
    from crdcompat.config.releases import choose
    from crdcompat.features.matrix.workflow import MatrixOptions
    from crdcompat.features.matrix.workflow import matrix as run
    from crdcompat.findings.waiver_file import read_accepted
    from crdcompat.recordings.objects import read_objects
    from crdcompat.render.escape import warn
    from crdcompat.render.write import wants_excerpts
    from crdcompat.schema.answers import ANSWERS
    from crdcompat.sources.options import limit_requests, render_sources
    from crdcompat.vocabulary.filters import Filters

    check_rules((*(select or ()), *(ignore or ())))
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
    check_formats(settings.formats, "matrix")
    trees = open_recordings(objects or (), repo)
    names, channels = expanded(refs or ())
    chosen = choose(names, branches or (), repo, tags or ())
    counted = RecordedProgress()

    def recorded() -> Iterator[ObjectItem]:
        return counted.each(chain.from_iterable(read_objects(tree, counted.file) for tree in trees))

    matrix_options = MatrixOptions(
        filters=Filters(
            directions=direction.directions,
            owners=owner or (),
            crds=crd or (),
            contexts=context or settings.config.texts("contexts"),
            select=select or (),
            ignore=ignore or (),
        ),
        sources=[tree.name for tree in trees],
        recorded=recorded,
        origin=origin,
        repo=repo,
        channels=channels,
        excerpts=wants_excerpts(settings.formats) is Severity.INFO,  # only a page shows lines
    )
    pairs = len(chosen.names) ** 2
    with progress(wanted=not (no_progress or quiet)), ANSWERS.kept(wanted=not no_cache, comparisons=pairs):
        report = run(chosen, settings.config, read_accepted(settings.config.waiver_file), matrix_options)
    code = end(report, settings, color.value, o.verbosity(verbose, quiet))
    for message in report.idle:
        warn(message)
    raise typer.Exit(code)
