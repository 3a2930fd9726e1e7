"""crdcompat check: the effect of a change on rollbacks and upgrades, for hooks and pull requests."""

from __future__ import annotations

from typing import Annotated

import typer

from crdcompat.cli import options as o


def check(
    base: Annotated[
        str | None,
        typer.Option(
            metavar="REF",
            autocompletion=o.known_refs,
            help="Compare with its merge base (default: from CI or git).",
        ),
    ] = None,
    head: Annotated[
        str | None, typer.Option(metavar="REF", help="A commit, index: or worktree: (default: the index).")
    ] = None,
    target: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            metavar="REF",
            autocompletion=o.known_refs,
            help="A release to roll back to; may be repeated.",
        ),
    ] = None,
    show_all: Annotated[
        bool,
        typer.Option(
            "--all", help="Compare all CRDs. Show findings from before this change, too; they never fail the check."
        ),
    ] = False,
    targets_only: Annotated[
        bool, typer.Option("--targets-only", help="Compare with the targets only, not with the base.")
    ] = False,
    direction: o.DirectionOption = o.DirectionChoice.BOTH,
    owner: o.Owners = None,
    crd: o.Crds = None,
    context: o.Contexts = None,
    select: o.Select = None,
    ignore: o.Ignore = None,
    installer: o.InstallerOption = None,
    objects: o.Objects = None,
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
    connect_timeout: o.ConnectTimeout = 10,
    read_timeout: o.ReadTimeout = 30,
    color: o.ColourOption = o.Colour.auto,
    no_progress: o.NoProgress = False,
) -> None:
    """Check a change before you commit, push or merge it."""
    from msgspec.structs import replace

    from crdcompat.cli.ending import end
    from crdcompat.cli.progress import progress
    from crdcompat.cli.settings import check_formats, check_rules, with_options
    from crdcompat.features.check.base import CheckOptions
    from crdcompat.features.check.rules import find_rules
    from crdcompat.features.check.workflow import run_check
    from crdcompat.sources import limit_requests
    from crdcompat.vocabulary.filters import Filters

    check_rules((*(select or ()), *(ignore or ())))
    limit_requests(connect_timeout, read_timeout)
    asked = CheckOptions(base=base, head=head, repo=repo)
    rules = find_rules(config, asked)
    settings = with_options(
        rules.config,
        formats,
        fail_on,
        profile,
        redact,
        allow_unknown=allow_unknown,
        installer=installer,
        files=(include, exclude),
    )
    check_formats(settings.formats)
    options = replace(
        asked,
        change=rules.change,
        targets=target or None,
        filters=Filters(
            directions=direction.directions,
            owners=owner or (),
            crds=crd or (),
            contexts=context or (),
            select=select or (),
            ignore=ignore or (),
        ),
        recordings=objects or (),
        formats=settings.formats,
        all_targets=show_all,
        targets_only=targets_only,
        use_cache=not no_cache,
    )
    # Reports are written in any case: a check that never reports its status blocks every merge.
    with progress(wanted=not (no_progress or quiet)):
        report = rules.shown_in(run_check(settings.config, options))
    raise typer.Exit(end(report, settings, color.value, o.verbosity(verbose, quiet), existing=show_all))
